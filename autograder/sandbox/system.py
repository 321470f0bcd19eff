"""System calls that Python has no name for (Linux)."""

import contextlib
import ctypes
import os
import platform
import sys
from typing import Any

LINUX = sys.platform == "linux"
_libc: Any = ctypes.CDLL(None, use_errno=True) if LINUX else None

# The flags of unshare and clone.
NEW = {
    "mnt": 0x0002_0000,
    "uts": 0x0400_0000,
    "ipc": 0x0800_0000,
    "user": 0x1000_0000,
    "pid": 0x2000_0000,
    "net": 0x4000_0000,
}
# Those of mount,
NOSUID, NODEV, NOEXEC, BIND, REC, PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x4_0000
DETACH = 2
# of its attributes,
READ_ONLY, WITHOUT_SUID = 1, 2
RECURSIVE, HERE = 0x8000, -100
# and the requests of prctl.
PDEATHSIG, SECCOMP, DROP_BOUND, NO_NEW_PRIVILEGES = 1, 22, 24, 38
FILTER = 2

_NUMBERS = {  # the same on every architecture since Linux 5.1, except these two
    "pivot_root": {"x86_64": 155, "aarch64": 41}.get(platform.machine(), -1),
    "mount_setattr": 442,
    "landlock_create_ruleset": 444,
    "landlock_add_rule": 445,
    "landlock_restrict_self": 446,
}


def _checked(result: int, what: str) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{what}: {os.strerror(error)}")
    return result


def call(name: str, *arguments: object) -> int:
    return _checked(_libc.syscall(_NUMBERS[name], *arguments), name)


def unshare(*names: str) -> None:
    _checked(_libc.unshare(sum(NEW[name] for name in names)), "unshare " + " ".join(names))


def enter(descriptor: int, name: str) -> None:
    _checked(_libc.setns(descriptor, NEW[name]), f"setns {name}")


def map_ids(uid: int, gid: int) -> None:
    """In a new user namespace be who one was, and nobody else."""
    for file, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with open(f"/proc/self/{file}", "w") as handle:
            handle.write(line)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    arguments = (source.encode(), target.encode(), kind.encode() or None, flags, data.encode())
    _checked(_libc.mount(*arguments), f"mount {target}")


def private_mounts() -> None:
    mount("none", "/", "", REC | PRIVATE)


def mount_proc(target: str = "/proc") -> None:
    mount("proc", target, "proc", NOSUID | NODEV | NOEXEC)


def read_only(path: str, recursive: bool = True) -> None:
    attributes = (ctypes.c_uint64 * 4)(READ_ONLY | WITHOUT_SUID, 0, 0, 0)
    call("mount_setattr", HERE, path.encode(), RECURSIVE if recursive else 0, attributes, 32)


def change_root(new: str) -> None:
    os.mkdir(f"{new}/old")
    os.chdir(new)
    call("pivot_root", b".", b"old")
    os.chdir("/")
    _checked(_libc.umount2(b"/old", DETACH), "umount")
    os.rmdir("/old")


def die_with_parent() -> None:
    _checked(_libc.prctl(PDEATHSIG, 9, 0, 0, 0), "prctl")


def no_new_privileges() -> None:
    _checked(_libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0), "prctl")


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def filter_calls(program: bytes) -> None:
    """Refuse system calls from now on, besides those that are refused already."""
    instructions = len(program) // 8
    _checked(_libc.prctl(SECCOMP, FILTER, ctypes.byref(_Program(instructions, program))), "seccomp")


def drop_capabilities() -> None:
    for capability in range(64):
        with contextlib.suppress(OSError):  # there are fewer of them on older systems
            _checked(_libc.prctl(DROP_BOUND, capability, 0, 0, 0), "prctl")
    header, none = (ctypes.c_uint32 * 2)(0x2008_0522, 0), (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(header, none), "capset")
    no_new_privileges()
