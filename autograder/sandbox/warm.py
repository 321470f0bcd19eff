"""The warm parent: it has imported what students use, computed nothing, and forks on request.

It knows no submission and no test: the job reaches the child directly, over a socket that only
passes through here. A parent that had used threads would hang its children.

    python -m autograder.sandbox.warm CONTROL_FD namespaces|landlock|trusted [kernel]
"""

import gc
import importlib
import json
import os
import signal
import socket
import sys
import tempfile
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.child import Shell

os.environ |= {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}

from autograder.sandbox import limits, system  # noqa: E402  (threads are limited before any import)

_USED_LATER = """
numpy.random numpy.linalg numpy.fft matplotlib.pyplot matplotlib_inline.backend_inline
IPython.core.pylabtools IPython.core.async_helpers torch.nn.functional asyncio traceback
torch.fx.experimental.symbolic_shapes
course_lib course_lib.checking.answers course_lib.checking.perform course_lib.checking.devices
course_lib.checking.notebook course_lib.island array_api_compat.numpy array_api_compat.torch
"""
USED_LATER = _USED_LATER.split()
READY, SPAWNED = b"R", b"P"


def main() -> None:
    control, tier = socket.socket(fileno=int(sys.argv[1])), sys.argv[2]
    kernel = sys.argv[3:] == ["kernel"]
    home = own_namespace() if tier == "namespaces" else None
    for name in USED_LATER + (["autograder.sandbox.bridge"] if kernel else []):
        importlib.import_module(name)
    from autograder.sandbox import child

    shell = child.warm_shell()
    rules = None
    if tier != "trusted":
        from autograder.sandbox.filters import student_filter

        rules = student_filter(tier == "namespaces", kernel)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if system.LINUX and (threads := len(os.listdir("/proc/self/task"))) != 1:
        raise SystemExit(f"the warm parent has {threads} threads; its children would hang")
    control.sendall(READY)
    while True:
        message, descriptors, *_ = socket.recv_fds(control, 4096, 1)
        if not message:
            os._exit(0)
        if not descriptors:  # somebody asks whether we live
            control.sendall(READY)
            continue
        request = json.loads(message)
        connection = socket.socket(fileno=descriptors[0])
        if tier == "namespaces":
            system.unshare("pid")
        pid = os.fork()
        if pid == 0:
            _become_student(connection, control, None if kernel else shell, rules, tier, request)
        connection.close()
        _tell(control, pid, tier)
        if home is not None:
            system.enter(home, "pid")


def _tell(control: socket.socket, pid: int, tier: str) -> None:
    if tier == "trusted":
        control.sendall(SPAWNED + str(pid).encode())
        return
    handle = os.pidfd_open(pid)
    socket.send_fds(control, [SPAWNED], [handle])
    os.close(handle)


def own_namespace() -> int:
    """Own the namespaces that we come back to after each fork."""
    uid, gid = os.getuid(), os.getgid()
    system.unshare("user", "pid", "mnt")
    system.map_ids(uid, gid)
    if child := os.fork():
        os.waitpid(child, 0)
        os._exit(0)
    system.die_with_parent()
    system.private_mounts()
    system.mount_proc()
    return os.open("/proc/self/ns/pid", os.O_RDONLY)


def _become_student(
    connection: socket.socket,
    control: socket.socket,
    shell: "Shell | None",
    rules: bytes | None,
    tier: str,
    request: dict[str, Any],
) -> None:
    from autograder.sandbox import child

    try:
        control.close()
        kept = connection.fileno()
        os.closerange(3, kept)
        os.closerange(kept + 1, 4096)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # or nobody would count its children's time
        os.setsid()  # or a signal to its own group would reach whoever grades
        if tier == "namespaces":
            system.die_with_parent()
            separate()
        elif tier == "landlock":
            system.die_with_parent()
            _live_in(request["scratch"])
            _lock_files(request["scratch"])
        else:
            _live_in(request["scratch"])
        child.capture_descriptors()
        if rules is None:  # submissions are trusted
            limits.impose_what_there_is()
        else:
            shared = 0 if tier == "namespaces" else request["processes"]
            if shell is None:
                limits.impose(limits.KERNEL_START, limits.PROCESSES + limits.OF_A_KERNEL)
            else:
                limits.impose(request["memory"], shared + limits.PROCESSES)
            confine(rules, tier)
        if shell is None:
            from autograder.sandbox import bridge

            bridge.serve(connection, request["memory"])
        else:
            child.serve(connection, shell)
    except EOFError:
        pass
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(0)


def separate() -> None:
    """Own mounts, no network, nobody else's messages; all that can be seen can only be read."""
    system.unshare("mnt", "net", "ipc", "uts")
    system.private_mounts()
    system.mount_proc()
    system.read_only("/")
    size = f"size={limits.SCRATCH},nr_inodes=2k,mode=700"
    system.mount("tmpfs", "/scratch", "tmpfs", system.NOSUID | system.NODEV, size)
    os.chdir("/scratch")


def confine(rules: bytes, tier: str) -> None:
    """Give up every privilege and most system calls, for ever."""
    system.drop_capabilities()
    if tier == "landlock":
        from autograder.sandbox.filters import signals_to_itself_only

        system.filter_calls(signals_to_itself_only())
    system.filter_calls(rules)


def _live_in(scratch: str) -> None:
    os.chdir(scratch)
    os.environ |= {"HOME": scratch, "TMPDIR": scratch}
    tempfile.tempdir = None


def _lock_files(scratch: str) -> None:
    from autograder.sandbox.landlock import restrict

    readable = os.environ["COURSE_READ"].split(os.pathsep)
    restrict(read=readable, write=[scratch, os.devnull])


if __name__ == "__main__":
    main()
