"""Which system calls a student's process is refused, whatever namespaces already hide."""

import errno

import pyseccomp as seccomp

from autograder.sandbox.system import NEW

_REFUSED = """
ptrace process_vm_readv process_vm_writev kcmp unshare setns mount umount2 pivot_root chroot
fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr name_to_handle_at
open_by_handle_at swapon swapoff quotactl quotactl_fd memfd_create memfd_secret userfaultfd
io_uring_setup io_uring_enter io_uring_register bpf perf_event_open keyctl add_key request_key
kexec_load kexec_file_load init_module finit_module delete_module reboot acct syslog
settimeofday clock_settime clock_adjtime adjtimex personality vhangup pidfd_open pidfd_getfd
pidfd_send_signal socket shmget shmat shmctl msgget semget mq_open fanotify_init inotify_init
inotify_init1 flock
"""
REFUSED = _REFUSED.split()

FORBIDDEN_CONTROLS = (6, 7, 37, 38, 1024, 1026)
"""fcntl: locks of every kind, leases and notices: they would reach through to shared files."""
TERMINAL_INPUT = 0x5412
UNIX = 1

_WITHOUT_NAMESPACES = """
fork vfork setsid setpgid chmod fchmod fchmodat fchmodat2 chown fchown fchownat lchown utime
utimes utimensat futimesat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr
kill tkill rt_sigqueueinfo rt_tgsigqueueinfo
"""
WITHOUT_NAMESPACES = _WITHOUT_NAMESPACES.split()
"""Refused besides, where no namespace keeps processes and files apart."""
NEW_THREAD = 0x0001_0000


def student_filter(namespaces: bool) -> seccomp.SyscallFilter:
    """Everything is allowed that is not refused; refusals look like a lack of permission."""
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    refuse = seccomp.ERRNO(errno.EPERM)
    for name in REFUSED + ([] if namespaces else WITHOUT_NAMESPACES):
        _add(rules, refuse, name)
    _add(rules, refuse, "socketpair", seccomp.Arg(0, seccomp.NE, UNIX))
    for control in FORBIDDEN_CONTROLS:
        _add(rules, refuse, "fcntl", seccomp.Arg(1, seccomp.EQ, control))
    _add(rules, refuse, "ioctl", seccomp.Arg(1, seccomp.EQ, TERMINAL_INPUT))
    for flag in NEW.values():
        _add(rules, refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    if not namespaces:
        _add(rules, refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, NEW_THREAD, 0))
    _add(
        rules, seccomp.ERRNO(errno.ENOSYS), "clone3"
    )  # its flags lie in memory; clone is tried next
    return rules


def _add(rules: seccomp.SyscallFilter, action: int, name: str, *arguments: object) -> None:
    try:
        rules.add_rule(action, name, *arguments)
    except (OSError, RuntimeError, ValueError) as error:
        if not _unknown(name):
            raise RuntimeError(f"the rule for {name} was not accepted") from error


def _unknown(name: str) -> bool:
    """This architecture or library knows no such call, so nobody can make it by that name."""
    try:
        return seccomp.resolve_syscall(seccomp.Arch.NATIVE, name) < 0
    except (OSError, RuntimeError, ValueError):
        return True
