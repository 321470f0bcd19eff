"""What is tried from inside a student's process, to prove that it is shut in.

Each attempt is a few lines that end in an OSError where they are refused and harmlessly where they
are not. Without a sandbox nearly all of them succeed: a test of this list shows it.
"""

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.process import ProcessEnded, StudentProcess

REFUSALS = frozenset(
    ("EPERM", "EACCES", "EROFS", "EXDEV", "ENOENT", "ENOSYS", "ESRCH", "EAGAIN", "ENOMEM")
    + ("EFBIG", "EMFILE", "ValueError")  # a limit that may not be raised is a ValueError
)
"""Any other answer means that somebody listened."""
GROUPS = ("files", "network", "processes", "kernel", "limits")


@dataclass(frozen=True)
class Attempt:
    group: str
    what: str
    code: str
    held_by: dict[str, str]
    """By the name of the tier."""


@dataclass(frozen=True)
class Found:
    attempt: Attempt
    held: bool
    answer: str
    """What the attempt met: the name of an error, or what it got."""


def _in(namespaces: str, landlock: str = "") -> dict[str, str]:
    return {"namespaces": namespaces, "landlock": landlock or namespaces}


NOT_THERE, CALLS = _in("not in its world", "Landlock"), _in("seccomp")
READ_ONLY, FORKS = _in("read-only mounts", "Landlock"), _in("RLIMIT_NPROC", "seccomp")

_PREAMBLE = """
import ctypes, fcntl, mmap, os, platform, resource, signal, socket
_libc = ctypes.CDLL(None, use_errno=True)
def _made(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def _call(number, *arguments):
    whole = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _made(_libc.syscall(ctypes.c_long(number), *whole))
def _number(x86_64, elsewhere):
    return x86_64 if platform.machine() == "x86_64" else elsewhere
"""

ATTEMPTS = [
    Attempt("files", "read a file of whoever grades", "open(MARK).read()", NOT_THERE),
    Attempt("files", "read who has an account here", "open('/etc/passwd').read()", NOT_THERE),
    Attempt(
        "files", "read the grader's environment", "open(GRADER + '/environ').read()", NOT_THERE
    ),
    Attempt("files", "write beside that file", "open(MARK + '.new', 'w')", READ_ONLY),
    Attempt(
        "files",
        "change that file's mode",
        "os.chmod(MARK, 0o644)",
        _in("not in its world", "seccomp"),
    ),
    Attempt(
        "files",
        "change its mode by a call too young for libseccomp",
        "_call(452, -100, MARK.encode(), 0o644, 0)",
        CALLS,
    ),
    Attempt(
        "files",
        "empty that file by name",
        "os.truncate(MARK, 6)",
        _in("not in its world", "seccomp"),
    ),
    Attempt("files", "link to that file", "os.link(MARK, 'link')", NOT_THERE),
    Attempt("files", "write to the runtime", "open(RUNTIME + '/x', 'w')", READ_ONLY),
    Attempt(
        "files", "write to /proc", "open('/proc/self/oom_score_adj', 'w').write('0')", READ_ONLY
    ),
    Attempt("files", "lock a shared file", "fcntl.flock(os.open(SHARED, os.O_RDONLY), 2)", CALLS),
    Attempt(
        "files",
        "lock it by a longer number",
        "_call(_number(72, 25), os.open(SHARED, os.O_RDONLY), (1 << 32) | 37, "
        "ctypes.byref((ctypes.c_int64 * 4)()))",
        CALLS,
    ),
    Attempt("network", "a connection to the internet", "socket.socket(socket.AF_INET)", CALLS),
    Attempt("network", "one by IPv6", "socket.socket(socket.AF_INET6)", CALLS),
    Attempt("network", "the machine around this one (vsock)", "socket.socket(40, 1)", CALLS),
    Attempt("network", "the kernel (netlink)", "socket.socket(socket.AF_NETLINK, 3)", CALLS),
    Attempt("network", "programs on this machine (unix)", "socket.socket(socket.AF_UNIX)", CALLS),
    Attempt(
        "network",
        "other programs by one end of a pair",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.bind('')",
        CALLS,
    ),
    Attempt(
        "processes",
        "a signal to the grader",
        "os.kill(GRADER_PID, 0)",
        _in("own pid namespace", "seccomp"),
    ),
    Attempt(
        "processes", "a signal to everybody", "os.kill(-1, 0)", _in("own pid namespace", "seccomp")
    ),
    Attempt(
        "processes",
        "a signal to its parent",
        "them = os.getppid() or GRADER_PID; _call(_number(234, 131), them, them, 0)",
        _in("own pid namespace", "seccomp"),
    ),
    Attempt(
        "processes",
        "read another's memory",
        "_made(_libc.process_vm_readv(os.getpid(), 0, 0, 0, 0, 0))",
        CALLS,
    ),
    Attempt("processes", "be traced", "_made(_libc.ptrace(0, 0, 0, 0))", CALLS),
    Attempt("processes", "a handle for a process", "os.pidfd_open(os.getpid())", CALLS),
    Attempt(
        "processes",
        "the grader's limits",
        "resource.prlimit(GRADER_PID, resource.RLIMIT_CORE)",
        CALLS,
    ),
    Attempt("processes", "outlive its parent", "_made(_libc.prctl(1, 0, 0, 0, 0))", CALLS),
    Attempt("kernel", "a world of its own", "_made(_libc.unshare(0x1000_0000))", CALLS),
    Attempt(
        "kernel",
        "one by clone",
        "_call(_number(56, 220), 0x1000_0000 | 17, 0, 0, 0, 0) or os._exit(0)",
        CALLS,
    ),
    Attempt(
        "kernel",
        "a file system of its own",
        "_made(_libc.mount(b'x', b'.', b'tmpfs', 0, 0))",
        CALLS,
    ),
    Attempt("kernel", "memory that no limit counts", "os.memfd_create('x')", CALLS),
    Attempt(
        "kernel",
        "memory behind /dev/zero",
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096)",
        NOT_THERE,
    ),
    Attempt("kernel", "memory that outlives its process", "mmap.mmap(-1, 4096)", CALLS),
    Attempt(
        "kernel", "rings (io_uring)", "_call(425, 1, ctypes.byref((ctypes.c_uint32 * 30)()))", CALLS
    ),
    Attempt("kernel", "faults (userfaultfd)", "_call(_number(323, 282), 1)", CALLS),
    Attempt("kernel", "programs in the kernel (bpf)", "_call(_number(321, 280), 0, 0, 0)", CALLS),
    Attempt(
        "limits",
        "raise its own limits",
        "resource.setrlimit(resource.RLIMIT_AS, (-1, -1))",
        _in("rlimits"),
    ),
    Attempt(
        "limits",
        "two gigabytes of memory",
        "mmap.mmap(-1, 2 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
        _in("RLIMIT_AS"),
    ),
    Attempt(
        "limits",
        "a file of forty megabytes",
        "f = open('big', 'wb'); f.seek(40 << 20); f.write(b'x'); f.flush()",
        _in("RLIMIT_FSIZE"),
    ),
    Attempt(
        "limits",
        "more files at once",
        "[os.open('/dev/null', 0) for _ in range(200)]",
        _in("RLIMIT_NOFILE"),
    ),
    Attempt(
        "limits",
        "sixty processes",
        "for _ in range(60):\n    if not os.fork():\n        signal.pause()",
        FORKS,
    ),
]


@contextmanager
def surroundings() -> Iterator[dict[str, object]]:
    """Things outside for the attempts to reach for: a file anybody may read, and this process."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        mark = Path(folder, "marks.txt")
        mark.write_text("secret")
        mark.chmod(0o666)
        yield {
            "MARK": str(mark),
            "GRADER": f"/proc/{os.getpid()}",
            "GRADER_PID": os.getpid(),
        }


def try_all(student: StudentProcess, around: dict[str, object]) -> Iterator[Found]:
    """Run each attempt in one student's process."""
    names = "".join(f"{name} = {value!r}\n" for name, value in around.items())
    names += "import course_lib\nRUNTIME = course_lib.__path__[0]\nSHARED = course_lib.__file__\n"
    student.run_cell("preamble", _PREAMBLE + names)
    for attempt in ATTEMPTS:
        yield _try(student, attempt)


def _try(student: StudentProcess, attempt: Attempt) -> Found:
    body = attempt.code.replace("\n", "\n    ")
    cell = f"""
import errno, json
try:
    {body}
    answer = None
except (OSError, ValueError) as error:
    answer = errno.errorcode.get(getattr(error, "errno", None), type(error).__name__)
print(json.dumps(answer))
"""
    try:
        shown = student.run_cell(attempt.what, cell)
        answer = json.loads(shown["stdout"])
    except ProcessEnded as gone:
        return Found(attempt, True, str(gone))
    except ValueError:
        return Found(attempt, False, str(shown["error"] or shown["stderr"])[:80])
    return Found(attempt, answer in REFUSALS, answer or "done")
