"""The trusted end: start a warm parent, get a process per submission, watch it, kill it."""

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.sandbox import codec, limits, warm
from course_lib.checking.perform import Reply
from course_lib.checking.run import Run

HERE = Path(__file__).resolve().parent
NOBODY = 65534
SYSTEM_FOLDERS = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/fonts")
START_SECONDS = 60
POLL_SECONDS = 0.05
GRACE_SECONDS = 1.0


class NoSandbox(Exception):
    """This machine gives no sandbox of this kind; says why."""


class Gone(Exception):
    """The student's process ended or had to be ended; says why, in words for the student."""


class TooSlow(Gone):
    """It met a limit of time."""


@dataclass
class Sandbox:
    """A warm parent in its small world, for one assignment's course_lib."""

    course_lib: Path
    tier: str = "namespaces"
    _control: socket.socket = field(init=False)
    _process: subprocess.Popen = field(init=False)
    _folder: Path = field(init=False)

    def __post_init__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
        ours, theirs = socket.socketpair()
        os.set_inheritable(theirs.fileno(), True)
        arguments = [
            sys.executable,
            "-m",
            "autograder.sandbox.warm",
            str(theirs.fileno()),
            self.tier,
        ]
        start = self._in_namespaces if self.tier == "namespaces" else self._under_landlock
        with tempfile.TemporaryFile() as complaints:
            self._process = start(arguments, pass_fds=[theirs.fileno()], stderr=complaints)
            theirs.close()
            self._control = ours
            ours.settimeout(START_SECONDS)
            try:
                ready = ours.recv(1)
            except OSError:
                ready = b""
            if ready != warm.READY:
                self.close()
                complaints.seek(0)
                lines = complaints.read().decode(errors="replace").strip().splitlines()
                raise NoSandbox(lines[-1] if lines else "the warm parent did not start")

    def _in_namespaces(self, arguments: list[str], **how: Any) -> subprocess.Popen:
        world = {
            "read_only": [*SYSTEM_FOLDERS, *_outside_system(sys.base_prefix, sys.prefix)],
            "at": {
                str(HERE): "/runtime/autograder/sandbox",
                str(self.course_lib.resolve()): "/runtime/course_lib",
            },
            "uid": NOBODY,
            "command": arguments,
            "environment": _environment("/runtime", "/scratch"),
        }
        launcher = [sys.executable, "-m", "autograder.sandbox.enter", json.dumps(world)]
        here = os.environ | {"PYTHONPATH": str(HERE.parents[1])}
        return subprocess.Popen(
            launcher, env=here, stdin=subprocess.DEVNULL, stdout=how["stderr"], **how
        )

    def _under_landlock(self, arguments: list[str], **how: Any) -> subprocess.Popen:
        if os.geteuid() == 0:
            raise NoSandbox("root would stay root without namespaces; start it as an ordinary user")
        runtime = self._folder / "runtime"
        (runtime / "autograder").mkdir(parents=True)
        shutil.copytree(HERE, runtime / "autograder" / "sandbox")
        shutil.copytree(self.course_lib, runtime / "course_lib")
        scratch = self._folder / "scratch"
        scratch.mkdir()
        readable = [*SYSTEM_FOLDERS, sys.base_prefix, sys.prefix, str(runtime), "/dev/urandom"]
        environment = _environment(str(runtime), str(scratch))
        environment["COURSE_READ"] = os.pathsep.join([*readable, "/dev/null", "/proc/self"])
        return subprocess.Popen(
            [*arguments, str(scratch)],
            env=environment,
            cwd=runtime,
            stdin=subprocess.DEVNULL,
            stdout=how["stderr"],
            **how,
        )

    def student(self, memory: int = limits.PROCESS_MEMORY) -> "Student":
        """A fresh process for one submission."""
        if self.tier != "namespaces":
            self._empty_scratch()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(
                    self._control, [warm.SPAWN + str(memory).encode()], [theirs.fileno()]
                )
                answer, descriptors, *_ = socket.recv_fds(self._control, 1, 1)
            except OSError as error:
                raise NoSandbox(f"the warm parent does not answer: {error}") from None
        if answer != warm.SPAWNED or not descriptors:
            raise NoSandbox("the warm parent has died")
        return Student(ours, descriptors[0])

    def _empty_scratch(self) -> None:
        scratch = self._folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(exist_ok=True)

    def close(self) -> None:
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(2)
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "Sandbox":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _outside_system(*prefixes: str) -> list[str]:
    return [path for path in dict.fromkeys(prefixes) if not path.startswith("/usr")]


def _environment(runtime: str, scratch: str) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": scratch,
        "TMPDIR": scratch,
        "MPLCONFIGDIR": scratch,
        "IPYTHONDIR": scratch,
        "LANG": "C.UTF-8",
        "PYTHONPATH": runtime,
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "LD_LIBRARY_PATH": f"{sys.base_prefix}/lib",
    }


class Student:
    """The referee's end of one student's process. Nothing that it says is believed."""

    def __init__(self, connection: socket.socket, handle: int):
        self._connection, self._handle = connection, handle
        self._pid = _pid_of(handle)
        self._deadline = time.monotonic() + limits.SUBMISSION_SECONDS
        self.alive = True
        self.interrupted = False
        """The last cell or call had to be stopped, and could be."""

    def begin(self, seed: int) -> None:
        self._ask({"seed": seed}, limits.CELL_SECONDS)

    def run_cell(self, name: str, source: str) -> dict[str, Any]:
        answer, _ = self._ask({"cell": source, "id": name}, limits.CELL_SECONDS, patient=True)
        if type(answer) is not dict:
            self.kill()
            raise Gone("your code broke off the conversation with the grader")
        return answer

    def prepare(self, name: str, withholds: tuple[str, ...], above: list[str]) -> dict[str, Any]:
        request = {"answer": name, "withholds": list(withholds), "above": above}
        answer, _ = self._ask(request, limits.CELL_SECONDS, patient=True)
        if type(answer) is not dict:
            self.kill()
            raise Gone("your code broke off the conversation with the grader")
        return answer

    def call(
        self,
        name: str,
        run: Run,
        args: tuple,
        kwargs: dict[str, Any],
        withholds: tuple[str, ...],
        at_most: int | None,
    ) -> Reply:
        buffers: list[bytes] = []
        request = {
            "call": name,
            "run": [run.library, run.dtype, run.device],
            "args": codec.encode(args, buffers),
            "kwargs": codec.encode(kwargs, buffers),
            "withholds": list(withholds),
            "at_most": at_most,
        }
        answer, back = self._ask(request, limits.CALL_SECONDS, buffers, patient=True)
        try:
            late = f"it took more than {limits.CALL_SECONDS} seconds" if self.interrupted else ""
            return Reply(
                codec.decode(answer["value"], back),
                late or _words(answer["failure"]),
                answer["over_memory"] is True,
                tuple(_words(name, 60) for name in answer["changed"][:20]),
                min(int(answer["printed"]), 1 << 30),
            )
        except (codec.Unacceptable, KeyError, TypeError, ValueError, AttributeError) as error:
            self.kill()
            raise Gone("your code broke off the conversation with the grader") from error

    def _ask(
        self, request: dict, seconds: float, buffers: list[bytes] = (), patient: bool = False
    ) -> tuple[Any, list[bytes]]:
        """Send, and wait no longer than the limits allow; `patient` interrupts before it kills."""
        started, cpu = time.monotonic(), self._cpu_seconds()
        receiver, interrupted = codec.Receiver(), 0.0
        try:
            self._connection.settimeout(seconds)
            codec.send(self._connection, request, buffers)
            while True:
                ready, _, _ = select.select([self._connection], [], [], POLL_SECONDS)
                if ready:
                    data = self._connection.recv(1 << 20)
                    if not data:
                        if interrupted:
                            raise TooSlow(f"it took more than {seconds} seconds")
                        raise Gone(self._how_it_ended())
                    if message := receiver.feed(data):
                        self.interrupted = bool(interrupted)
                        return message
                    continue
                now = time.monotonic()
                if interrupted and now > interrupted + GRACE_SECONDS:
                    raise TooSlow(
                        f"it took more than {seconds} seconds and could not be interrupted"
                    )
                if now > self._deadline:
                    total = limits.SUBMISSION_SECONDS
                    raise TooSlow(f"all cells and calls together took more than {total} seconds")
                late = now - started > seconds * limits.WALL
                if not interrupted and (late or self._cpu_seconds() - cpu > seconds):
                    if not patient:
                        raise TooSlow(f"it took more than {seconds} seconds")
                    self._signal(signal.SIGINT)
                    interrupted = now
                if self._resident() > limits.TOTAL_MEMORY:
                    gigabytes = limits.TOTAL_MEMORY / 2**30
                    raise Gone(f"its processes took more than {gigabytes:g} GiB of memory")
        except (OSError, codec.Unacceptable) as error:
            self.kill()
            words = f"it broke off the conversation with the grader ({error})"
            raise Gone(
                words if isinstance(error, codec.Unacceptable) else self._how_it_ended()
            ) from None
        except Gone:
            self.kill()
            raise

    def _how_it_ended(self) -> str:
        return "it ended the Python process"

    def kill(self) -> None:
        if self.alive:
            self.alive = False
            self._signal(signal.SIGKILL)
            os.close(self._handle)
            self._connection.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._handle, number)

    def _processes(self) -> list[int]:
        """The student's process and all that it started; orphans come back to it."""
        found, waiting = [], [self._pid]
        while waiting and len(found) < 4 * limits.PROCESSES:
            pid = waiting.pop()
            found.append(pid)
            with contextlib.suppress(OSError):
                for task in os.listdir(f"/proc/{pid}/task"):
                    children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
                    waiting += map(int, children)
        return found

    def _cpu_seconds(self) -> float:
        """Of all processes, ended and reaped ones included."""
        ticks = 0
        for pid in self._processes():
            with contextlib.suppress(OSError, IndexError):
                after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, after_name[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def _resident(self) -> int:
        pages = 0
        for pid in self._processes():
            with contextlib.suppress(OSError, IndexError):
                resident, shared = Path(f"/proc/{pid}/statm").read_text().split()[1:3]
                pages += int(resident) - int(shared)
        return pages * os.sysconf("SC_PAGE_SIZE")

    def __enter__(self) -> "Student":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def _pid_of(handle: int) -> int:
    lines = Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pid:"))


def _words(text: Any, at_most: int = 400) -> str:
    """Plain printable words of a stranger."""
    if type(text) is not str:
        raise TypeError("not words")
    return "".join(c if c.isprintable() else " " for c in text[:at_most])
