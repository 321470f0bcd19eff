"""The warm parent: it has imported what students use, computed nothing, and forks on request.

It knows no submission and no test: the job reaches the child directly, over a socket that only
passes through here. A parent that had used threads would hang its children.

    python -m autograder.sandbox.warm CONTROL_FD namespaces|landlock [SCRATCH]
"""

import gc
import importlib
import os
import signal
import socket
import sys
import traceback

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

from autograder.sandbox import limits, system  # noqa: E402  (threads are limited before any import)

_USED_LATER = """
numpy.random numpy.linalg numpy.fft matplotlib.pyplot matplotlib_inline.backend_inline
IPython.core.pylabtools IPython.core.async_helpers torch.nn.functional asyncio traceback
course_lib course_lib.checking.answers course_lib.checking.perform course_lib.checking.devices
course_lib.checking.notebook course_lib.island array_api_compat.numpy array_api_compat.torch
"""
USED_LATER = _USED_LATER.split()
READY, SPAWN, SPAWNED, FAILED = b"R", b"F", b"P", b"X"


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    namespaces = sys.argv[2] == "namespaces"
    own_namespace = _own_namespace() if namespaces else None
    for name in USED_LATER:
        importlib.import_module(name)
    from autograder.sandbox import student
    from autograder.sandbox.filters import student_filter

    shell = student.warm_shell()
    rules = student_filter(namespaces)
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    if (threads := len(os.listdir("/proc/self/task"))) != 1:
        raise SystemExit(f"the warm parent has {threads} threads; its children would hang")
    control.sendall(READY)
    while True:
        message, descriptors, *_ = socket.recv_fds(control, 64, 1)
        if not message:
            os._exit(0)
        memory = int(message[1:])
        connection = socket.socket(fileno=descriptors[0])
        if namespaces:
            system.unshare("pid")
        child = os.fork()
        if child == 0:
            _become_student(connection, control, shell, rules, memory, namespaces)
        connection.close()
        handle = os.pidfd_open(child)
        socket.send_fds(control, [SPAWNED], [handle])
        os.close(handle)
        if namespaces:
            system.enter(own_namespace, "pid")


def _own_namespace() -> int:
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


def _become_student(connection, control, shell, rules, memory: int, namespaces: bool) -> None:
    from autograder.sandbox import student

    try:
        control.close()
        kept = connection.fileno()
        os.closerange(3, kept)
        os.closerange(kept + 1, 4096)
        system.die_with_parent()
        if namespaces:
            system.unshare("mnt", "net", "ipc", "uts")
            _own_mounts()
        else:
            _lock_files(sys.argv[3])
        student.capture_descriptors()
        limits.impose(memory)
        system.drop_capabilities()
        rules.load()
        student.serve(connection, shell)
    except EOFError:
        pass
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(0)


def _own_mounts() -> None:
    system.private_mounts()
    system.mount_proc()
    system.read_only("/")
    system.mount(
        "tmpfs",
        "/scratch",
        "tmpfs",
        system.NOSUID | system.NODEV,
        f"size={limits.SCRATCH},nr_inodes=2k,mode=700",
    )
    os.chdir("/scratch")


def _lock_files(scratch: str) -> None:
    from autograder.sandbox.landlock import restrict

    os.chdir(scratch)
    restrict(read=os.environ["COURSE_READ"].split(os.pathsep), write=[scratch])


if __name__ == "__main__":
    main()
