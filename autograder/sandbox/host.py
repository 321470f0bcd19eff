"""The trusted end: start a warm parent in its small world and get a process per submission."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.errors import CourseError
from autograder.sandbox import limits, system, warm
from autograder.sandbox.process import ProcessEnded, StudentProcess, TooSlow, remove
from autograder.sandbox.readable_paths import packages_elsewhere, readable
from course_lib.checking.terms import NO_LIMITS, Limits

__all__ = ["ProcessEnded", "NoSandbox", "Sandbox", "StudentProcess", "TooSlow"]

HERE = Path(__file__).resolve().parent
NOBODY = 65534
START_SECONDS = 180
"""A second where nobody else computes; a busy machine with a slow disk has needed a minute."""
NO_KERNEL = (
    "a real kernel is run only where it has namespaces to itself (course sandbox says what is "
    "missing here); without --kernel the same cells and tests run in a fork"
)
TOO_BUSY = (
    f"the warm parent was not ready within {START_SECONDS} seconds. Is this machine busy with "
    "something else? Wait until it is not, or give fewer --workers"
)


class NoSandbox(CourseError):
    """This machine gives no sandbox of this kind; says why."""


@dataclass
class Sandbox:
    """A warm parent in its small world, for one assignment's course_lib.

    `tier` is "namespaces", "landlock" or, where submissions are trusted, "trusted": see tiers.py.
    """

    course_lib: Path
    tier: str = "namespaces"
    kernel: bool = False
    """Each process is a real Jupyter kernel, started for it, instead of a fork."""
    _control: socket.socket = field(init=False)
    _process: subprocess.Popen = field(init=False)
    _folder: Path = field(init=False)

    def __post_init__(self) -> None:
        if self.kernel and self.tier != "namespaces":
            raise NoSandbox(NO_KERNEL)
        self._folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
        with tempfile.TemporaryFile() as complaints:
            try:
                self._start(complaints)
            except OSError as error:
                raise NoSandbox(str(error)) from None
            try:
                if self._wait_until_ready():
                    return
            except TimeoutError:
                self.close()
                raise NoSandbox(TOO_BUSY) from None
            self.close()
            complaints.seek(0)
            lines = complaints.read().decode(errors="replace").strip().splitlines()
            raise NoSandbox(lines[-1] if lines else "the warm parent did not start")

    def _start(self, complaints: Any) -> None:
        self._control, theirs = socket.socketpair()
        with theirs:
            os.set_inheritable(theirs.fileno(), True)
            module = "autograder.sandbox.warm"
            arguments = [sys.executable, "-m", module, str(theirs.fileno()), self.tier]
            arguments += ["kernel"] if self.kernel else []
            start = in_namespaces if self.tier == "namespaces" else self._beside
            course_lib = {str(self.course_lib.resolve()): "/runtime/course_lib"}
            self._process = start(
                arguments,
                course_lib,
                stdin=subprocess.DEVNULL,
                stdout=complaints,
                stderr=complaints,
                pass_fds=[theirs.fileno()],
            )

    def _wait_until_ready(self) -> bool:
        self._control.settimeout(START_SECONDS)
        with contextlib.suppress(ConnectionError):
            return self._control.recv(1) == warm.READY
        return False

    def _beside(self, arguments: list[str], _: Any, **how: Any) -> subprocess.Popen:
        """No world of its own: copies of what it may read, and a folder that it may fill."""
        if self.tier == "landlock" and os.geteuid() == 0:
            raise NoSandbox("root would stay root without namespaces: use an ordinary user")
        runtime, scratch = self._folder / "runtime", self._folder / "warm"
        (runtime / "autograder").mkdir(parents=True)
        shutil.copytree(HERE, runtime / "autograder" / "sandbox")
        shutil.copytree(self.course_lib, runtime / "course_lib")
        scratch.mkdir()
        environment = environment_of(str(runtime), str(scratch))
        may_read = [*readable(), str(runtime), "/dev/urandom", "/dev/null", "/proc/self"]
        environment["COURSE_READ"] = os.pathsep.join(may_read)
        return subprocess.Popen(arguments, env=environment, cwd=runtime, **how)

    def student(self, memory: int | None = None, own: Limits = NO_LIMITS) -> StudentProcess:
        """A fresh process for one submission, with its own limits where it has some.

        `memory` is what it gets in bytes if that is less. Raises NoSandbox.
        """
        of_all = limits.MEBIBYTE * own.memory_mib if own.memory_mib else limits.PROCESS_MEMORY
        request: dict[str, Any] = {"memory": of_all if memory is None else min(memory, of_all)}
        scratch = None
        if self.tier != "namespaces":
            scratch = Path(tempfile.mkdtemp(prefix="student-", dir=self._folder))
            request["scratch"] = str(scratch)
        if self.tier == "landlock":
            request["processes"] = limits.processes_of_this_user()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                message = json.dumps(request).encode()
                socket.send_fds(self._control, [message], [theirs.fileno()])
            answer, descriptors, *_ = socket.recv_fds(self._control, 16, 1)
        except OSError as error:
            ours.close()
            raise NoSandbox(f"the warm parent does not answer: {error}") from None
        if answer[:1] != warm.SPAWNED or not (descriptors or answer[1:]):
            ours.close()
            raise NoSandbox("the warm parent has died")
        handle = descriptors[0] if descriptors else None
        pid = int(answer[1:]) if handle is None else _pid_of(handle)
        return StudentProcess(ours, pid, handle, scratch, own)

    def check_alive(self) -> None:
        """Raise NoSandbox where the warm parent has died: its children died with it."""
        with contextlib.suppress(OSError):
            self._control.sendall(b"alive?")
            if self._control.recv(1) == warm.READY:
                return
        raise NoSandbox("the warm parent has died")

    def start_again(self) -> None:
        """With another warm parent."""
        self.close()
        self.__post_init__()

    def close(self) -> None:
        self._control.close()
        if process := getattr(self, "_process", None):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2)
            process.kill()
            process.wait()
        remove(self._folder)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def in_namespaces(arguments: list[str], at: dict[str, str], **how: Any) -> subprocess.Popen:
    """Start a program in a small read-only world that has `at` in it, and the interpreter."""
    if not system.LINUX:
        raise NoSandbox("namespaces are Linux's")
    world = {
        "read_only": readable(),
        "at": {str(HERE): "/runtime/autograder/sandbox"} | at,
        "uid": NOBODY,
        "command": arguments,
        "environment": environment_of("/runtime", "/scratch"),
    }
    launcher = [sys.executable, "-m", "autograder.sandbox.launcher", json.dumps(world)]
    here = os.environ | {"PYTHONPATH": str(HERE.parents[1])}
    return subprocess.Popen(launcher, env=here, **how)


def environment_of(runtime: str, scratch: str) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": scratch,
        "TMPDIR": scratch,
        "MPLCONFIGDIR": scratch,
        "IPYTHONDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join([runtime, *packages_elsewhere()]),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "MALLOC_ARENA_MAX": "1",  # a second one keeps 64 MiB in reserve, past every limit
        "LD_LIBRARY_PATH": f"{sys.base_prefix}/lib",
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",
    }


def _pid_of(handle: int) -> int:
    lines = Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))
