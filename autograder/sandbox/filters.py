"""Which system calls a student's process is refused, whatever namespaces already hide."""

import errno
import os

import pyseccomp as seccomp

from autograder.sandbox.system import NEW

_REFUSED = """
ptrace process_vm_readv process_vm_writev kcmp unshare setns mount umount2 pivot_root chroot
fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr name_to_handle_at
open_by_handle_at swapon swapoff quotactl memfd_create userfaultfd
io_uring_setup io_uring_enter io_uring_register bpf perf_event_open keyctl add_key request_key
kexec_load kexec_file_load init_module finit_module delete_module reboot acct syslog
settimeofday clock_settime clock_adjtime adjtimex personality vhangup pidfd_open pidfd_getfd
pidfd_send_signal socket connect bind listen accept accept4
shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semtimedop semctl mq_open mq_unlink
fanotify_init inotify_init inotify_init1 flock migrate_pages move_pages process_madvise
"""
REFUSED = _REFUSED.split()

YOUNGEST_KNOWN, FAR_FUTURE = 443, 600
HARMLESS_SINCE = (449, 453, 454, 455, 456, 462)
"""Waiting for several locks, shadow stacks, sealing memory. The numbers between are refused as
such: a library older than the kernel knows no name for them, a student's code needs none."""

UPPER_HALF_IGNORED = 0xFFFF_FFFF
"""The kernel reads these arguments as 32 bits; a rule that compared 64 could be got round."""
FORBIDDEN_CONTROLS = (6, 7, 37, 38, 1024, 1026)
"""fcntl: locks of every kind, leases and notices: they would reach through to shared files."""
TERMINAL_INPUT = 0x5412
SURVIVE_PARENT, HIDE_FROM_PARENT = 1, 4
UNIX = 1
OF_A_KERNEL = ("socket", "connect", "bind", "listen", "accept", "accept4")
"""A real kernel is spoken to through sockets with names in scratch."""
NO_STREAM = (0, 2, 3, 4, 5, 6, 10)
"""Types of sockets that could still be sent elsewhere; a pair of streams stays a pair."""
SHARED_AND_ANONYMOUS = 0x21
"""Memory that outlives its mapping and is counted for nobody."""

_WITHOUT_NAMESPACES = """
fork vfork setsid setpgid chmod fchmod fchmodat chown fchown fchownat lchown utime
utimes utimensat futimesat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
truncate tkill rt_sigqueueinfo rt_tgsigqueueinfo setpriority ioprio_set sched_setscheduler
sched_setparam sched_setattr
"""
WITHOUT_NAMESPACES = _WITHOUT_NAMESPACES.split()
"""Refused besides, where no namespace keeps processes and files apart."""
NEW_THREAD = 0x0001_0000


def student_filter(namespaces: bool, kernel: bool = False) -> bytes:
    """Everything is allowed that is not refused; refusals look like a lack of permission.

    As the program for the kernel: to make it takes milliseconds, to load it none.
    """
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse, unheard_of = seccomp.ERRNO(errno.EPERM), seccomp.ERRNO(errno.ENOSYS)
    for name in REFUSED + ([] if namespaces else WITHOUT_NAMESPACES):
        if not (kernel and name in OF_A_KERNEL):
            _add(rules, refuse, name)
    if kernel:
        none_here = seccomp.ERRNO(errno.EOPNOTSUPP)  # ZeroMQ would end the process over EPERM
        _add(rules, none_here, "socket", seccomp.Arg(0, seccomp.NE, UNIX))
    for number in range(YOUNGEST_KNOWN, FAR_FUTURE):
        if number not in HARMLESS_SINCE:
            rules.add_rule(unheard_of, number)
    _add(rules, refuse, "socketpair", seccomp.Arg(0, seccomp.NE, UNIX))
    for kind in NO_STREAM:
        _add(rules, refuse, "socketpair", seccomp.Arg(1, seccomp.MASKED_EQ, 0xF, kind))
    for control in FORBIDDEN_CONTROLS:
        _add(rules, refuse, "fcntl", _is(1, control))
    _add(rules, refuse, "ioctl", _is(1, TERMINAL_INPUT))
    for option in (SURVIVE_PARENT, HIDE_FROM_PARENT):
        _add(rules, refuse, "prctl", _is(0, option))
    both = SHARED_AND_ANONYMOUS
    _add(rules, refuse, "mmap", seccomp.Arg(3, seccomp.MASKED_EQ, both, both))
    _add(rules, refuse, "prlimit64", seccomp.Arg(0, seccomp.NE, 0))
    for flag in NEW.values():
        _add(rules, refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    if not namespaces:
        _add(rules, refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, NEW_THREAD, 0))
        _add(rules, refuse, "sched_setaffinity", seccomp.Arg(0, seccomp.NE, 0))
    _add(rules, unheard_of, "clone3")  # its flags lie in memory; clone is tried next
    return _program(rules)


def signals_to_itself_only() -> bytes:
    """Where other processes can be seen: to be called in the process that the rules are for."""
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in ("kill", "tgkill"):
        other = seccomp.Arg(0, seccomp.NE, os.getpid())
        _add(rules, seccomp.ERRNO(errno.EPERM), name, other)
    return _program(rules)


def _program(rules: seccomp.SyscallFilter) -> bytes:
    with open(os.memfd_create("rules"), "rb") as file:  # there may be no folder to write in
        rules.export_bpf(file)
        file.seek(0)
        return file.read()


def _is(argument: int, number: int) -> seccomp.Arg:
    return seccomp.Arg(argument, seccomp.MASKED_EQ, UPPER_HALF_IGNORED, number)


def _add(rules: seccomp.SyscallFilter, action: int, name: str, *arguments: object) -> None:
    try:
        rules.add_rule(action, name, *arguments)
    except (OSError, RuntimeError, ValueError) as error:
        if not _unknown(name):
            raise RuntimeError(f"the rule for {name} was not accepted") from error


def _unknown(name: str) -> bool:
    """This architecture knows no such call, or it is so young that its number is refused."""
    try:
        return bool(seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) < 0)
    except (OSError, RuntimeError, ValueError):
        return True
