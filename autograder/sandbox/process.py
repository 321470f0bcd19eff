"""The referee's end of one student's process: ask, watch, interrupt, kill. It believes nothing."""

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from autograder.sandbox import codec, limits, messages
from course_lib.checking.findings import Cause, FailureKind
from course_lib.checking.nested import map_leaves
from course_lib.checking.perform import CallRequest, CallResult
from course_lib.checking.returned import Callback
from course_lib.checking.terms import NO_LIMITS, Limits, Terms

POLL_SECONDS = 0.05
GRACE_SECONDS = 1.0
CALLBACKS = 10_000
"""So often may one call of the student's function call what a test lent it."""
CALLBACK_BYTES = 256 << 10
"""So much may it hand to that function at a time: it runs here, where its time has no limit."""
DEATH_SECONDS = 5.0
PATH_AT_MOST = 1000
MODULE, MODULES = re.compile(r"[A-Za-z_][\w.]{0,200}", re.ASCII), 5000
TOO_MUCH = f"it takes no arrays of more than {CALLBACK_BYTES >> 10} KiB"
ENDED = "it ended the Python process"
BROKE_OFF = "your code broke off the conversation with the grader"


class ProcessEnded(Exception):
    """The student's process ended or had to be ended; says why, in words for the student."""

    def __init__(self, message: str, kind: FailureKind = FailureKind.ENDED):
        super().__init__(message)
        self.kind = kind


class TooSlow(ProcessEnded):
    """It met a limit of time."""

    def __init__(self, message: str):
        super().__init__(message, FailureKind.TOO_SLOW)


class StudentProcess:
    """The grader's end of one student's process. Nothing that it says is believed.

    Whatever asks it something may raise ProcessEnded, or TooSlow; it is dead from then on.
    """

    def __init__(
        self,
        connection: socket.socket,
        pid: int,
        handle: int | None,
        scratch: Path | None = None,
        own: Limits = NO_LIMITS,
    ):
        self._connection, self._pid, self._handle, self._scratch = connection, pid, handle, scratch
        self._own = own
        connection.setblocking(False)
        self._poll = select.poll()
        self.deadline = time.monotonic() + limits.SUBMISSION_SECONDS
        self._looked = 0.0
        self._ending = threading.Lock()
        self._ended_by_watch: ProcessEnded | None = None
        self.alive = True
        self.interrupted = False
        """The last cell or call had to be stopped, and could be."""

    @property
    def cell_seconds(self) -> float:
        return self._own.cell_seconds or limits.CELL_SECONDS

    def begin(self, seed: int) -> None:
        """Nothing of the student's runs yet, so nothing of the student's time is used up."""
        started = time.monotonic()
        self._ask({"seed": seed}, limits.START_SECONDS)
        self.deadline += time.monotonic() - started

    def run_cell(self, name: str, source: str) -> dict[str, Any]:
        request = {"cell": source, "id": name}
        answer, streams = self._ask(request, self.cell_seconds, patient=True)
        if type(answer) is not dict or len(streams) != 2:
            raise self._broke_off()
        texts = [stream[: limits.CELL_OUTPUT].decode(errors="replace") for stream in streams]
        return answer | dict(zip(("stdout", "stderr"), texts, strict=True))

    def loaded(self) -> list[str]:
        """The names of the modules that it says it has imported since it began."""
        names, _ = self._ask({"loaded": None}, self.cell_seconds, patient=True)
        if type(names) is not list:
            return []
        return [name for name in names if type(name) is str and MODULE.fullmatch(name)][:MODULES]

    def take_unrun(self, cells: dict[str, str], modules: list[str], memory: int) -> None:
        """Count these cells as run, import these modules, and grow by no more than `memory`."""
        request = {"unrun": cells, "modules": modules, "memory": memory}
        self._ask(request, self.cell_seconds, patient=True)

    def prepare(self, name: str, terms: Terms, above: list[str]) -> dict[str, Any]:
        request = {"answer": name, "terms": terms.to_dict(), "above": above}
        answer, _ = self._ask(request, self.cell_seconds, patient=True)
        if type(answer) is not dict:
            raise self._broke_off()
        return answer

    def call(self, request: CallRequest) -> CallResult:
        callbacks = _Callbacks()
        args, kwargs = callbacks.lend(request.args), callbacks.lend(request.kwargs)
        header, buffers = messages.write_request(replace(request, args=args, kwargs=kwargs))
        seconds = request.terms.limits.call_seconds or limits.CALL_SECONDS
        answer = self._ask(
            header,
            seconds,
            buffers,
            patient=True,
            callbacks=callbacks,
            payload=messages.payload_of(request.terms),
        )
        try:
            result = messages.read_result(answer)
        except codec.Unacceptable as error:
            raise self._broke_off() from error
        if not self.interrupted:
            return result
        message = f"it took more than {seconds:g} seconds"
        return replace(result, failure=message, cause=Cause(FailureKind.TOO_SLOW))

    def _end(self) -> ProcessEnded:
        return self._ended_by_watch or ProcessEnded(ENDED)

    def _broke_off(self) -> ProcessEnded:
        self.kill()
        return ProcessEnded(BROKE_OFF, FailureKind.BROKE_OFF)

    def _ask(
        self,
        request: dict,
        seconds: float,
        buffers: Sequence[bytes] = (),
        patient: bool = False,
        callbacks: "_Callbacks | None" = None,
        payload: int = codec.PAYLOAD_AT_MOST,
    ) -> tuple[Any, list[bytes]]:
        """Send, and wait no longer than the limits allow; `patient` interrupts before it kills."""
        if not self.alive:
            raise self._end()
        unsent = memoryview(codec.pack(request, buffers))
        receiver, time_limits = codec.Receiver(payload), _TimeLimits(self, seconds, patient)
        self.interrupted = False
        try:
            self._expect_silence()
            while True:
                wanted = select.POLLIN | (select.POLLOUT if unsent else 0)
                events = self._wait(wanted)
                if events & select.POLLOUT and unsent:
                    unsent = unsent[self._connection.send(unsent) :]
                if events & ~select.POLLOUT:
                    data = self._connection.recv(1 << 20)
                    if not data:
                        raise time_limits.too_slow() if self.interrupted else self._end()
                    message = receiver.feed(data)
                    if message and unsent:
                        raise codec.Unacceptable("an answer before the question")
                    if message and callbacks and callbacks.is_asked(message):
                        unsent = memoryview(codec.pack(*callbacks.answer(*message)))
                        receiver = codec.Receiver(payload)
                    elif message:
                        return message
                time_limits.check()
                self._look_around()
        except codec.Unacceptable as error:
            raise self._broke_off() from error
        except OSError:
            self.kill()
            raise self._end() from None
        except ProcessEnded:
            self.kill()
            raise

    def _wait(self, wanted: int) -> int:
        self._poll.register(self._connection, wanted)
        ready = self._poll.poll(POLL_SECONDS * 1000)
        return ready[0][1] if ready else 0

    def _expect_silence(self) -> None:
        """Nothing may lie there before we ask: a late thread cannot answer in advance."""
        with contextlib.suppress(BlockingIOError):
            if not self._connection.recv(1):
                raise self._end()
            raise codec.Unacceptable("an answer that nobody asked for")

    def _look_around(self) -> None:
        """Memory and disk of all its processes, however fast it answers or trickles."""
        now = time.monotonic()
        if now < self._looked + POLL_SECONDS:
            return
        self._looked = now
        self._refuse_overuse()

    def watch(self) -> None:
        """The same while we compute and ask nothing: for another thread, which ends the process."""
        if not self.alive:
            return
        try:
            self._refuse_overuse()
        except ProcessEnded as gone:
            with self._ending:
                if self.alive:
                    self._ended_by_watch = gone
                    self.signal(signal.SIGKILL)

    def _refuse_overuse(self) -> None:
        memory = limits.total_memory(self._own.memory_mib)
        if self._resident() > memory and self._exactly() > memory:
            gigabytes = memory / 2**30
            message = f"its processes took more than {gigabytes:g} GiB of memory"
            raise ProcessEnded(message, FailureKind.TOO_MUCH_MEMORY)
        if self._scratch and self._written() > limits.SCRATCH:
            message = f"it wrote more than {limits.SCRATCH / limits.MEBIBYTE:g} MiB of files"
            raise ProcessEnded(message, FailureKind.TOO_MANY_FILES)

    def kill(self) -> None:
        with self._ending:
            if not self.alive:
                return
            self.alive = False
        crowded = self._handle is not None and self._crowded()
        self.signal(signal.SIGKILL)
        if self._handle is not None:
            if crowded:  # or the next one would be told that there are too many
                select.select([self._handle], [], [], DEATH_SECONDS)
            os.close(self._handle)
        self._connection.close()
        if self._scratch:
            remove(self._scratch)

    def signal(self, number: int) -> None:
        with contextlib.suppress(OSError):
            if self._handle is not None:
                signal.pidfd_send_signal(self._handle, number)
            elif number == signal.SIGKILL:  # with what it started; nothing else keeps them in
                os.killpg(self._pid, number)
            else:
                os.kill(self._pid, number)

    def processes(self) -> list[int]:
        """The student's process and all that it started; orphans come back to it."""
        pids: list[int] = []
        waiting = [self._pid]
        while waiting and len(pids) < 4 * limits.PROCESSES:
            pid = waiting.pop()
            pids.append(pid)
            with contextlib.suppress(OSError):
                for task in os.listdir(f"/proc/{pid}/task"):
                    children = Path(f"/proc/{pid}/task/{task}/children").read_text().split()
                    waiting += map(int, children)
        return pids

    def _crowded(self) -> bool:
        """Has it started processes or threads, which a limit counts?"""
        with contextlib.suppress(OSError):
            return len(os.listdir(f"/proc/{self._pid}/task")) > 1 or len(self.processes()) > 1
        return False

    def cpu_seconds(self) -> float:
        """Of all processes, ended and reaped ones included."""
        ticks = 0
        for pid in self.processes():
            with contextlib.suppress(OSError, IndexError):
                after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, after_name[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def _resident(self) -> int:
        """Quick and never too little: what a fork shares with its parent counts twice."""
        return sum(_kibibytes(pid, "status", "RssAnon:", "VmSwap:") for pid in self.processes())

    def _exactly(self) -> int:
        """Slow and fair: each page divided among those who share it."""
        names = "Pss_Anon:", "SwapPss:"
        fair = ((pid, _kibibytes(pid, "smaps_rollup", *names)) for pid in self.processes())
        return sum(n or _kibibytes(pid, "status", "RssAnon:", "VmSwap:") for pid, n in fair)

    def _written(self) -> int:
        """Bytes in scratch, those of files without a name and a little for each name included."""
        return sum(512 * file.st_blocks + limits.A_NAME for file in self._files())

    def _files(self) -> Iterator[os.stat_result]:
        waiting, left = [str(self._scratch)], limits.SCRATCH // limits.A_NAME
        while waiting and left > 0:
            folder = waiting.pop()
            if len(folder) > PATH_AT_MOST:  # each step down would cost more than the last
                message = "it made folders within folders without end"
                raise ProcessEnded(message, FailureKind.TOO_MANY_FILES)
            with contextlib.suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    left -= 1
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        for pid in self.processes():
            with contextlib.suppress(OSError):
                for number in os.listdir(f"/proc/{pid}/fd"):
                    file = os.stat(f"/proc/{pid}/fd/{number}")
                    if file.st_nlink == 0:
                        yield file

    def __enter__(self) -> "StudentProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


class _Callbacks:
    """Functions of a test that the student's process may have called here. Not trusted, it gets
    an error or a value, and a limited number of them."""

    def __init__(self) -> None:
        self._functions: list[Callable] = []
        self._asked = 0

    def lend(self, value: Any) -> Any:
        """The value as it crosses, with a number in the place of each function."""
        return map_leaves(self._lend, value)

    def _lend(self, value: Any) -> Any:
        if callable(value):
            self._functions.append(value)
            return Callback(len(self._functions) - 1)
        return value

    def is_asked(self, message: tuple[Any, list[bytes]]) -> bool:
        return bool(self._functions) and type(message[0]) is dict and "ask" in message[0]

    def answer(self, question: dict, buffers: list[bytes]) -> tuple[dict, list[bytes]]:
        self._asked += 1
        number = question["ask"]
        if self._asked > CALLBACKS or type(number) is not int:
            raise codec.Unacceptable("it asks too often or for what nobody lent")
        if not 0 <= number < len(self._functions):
            raise codec.Unacceptable("it asks for what nobody lent")
        if sum(map(len, buffers)) > CALLBACK_BYTES:
            return {"error": f"the function that was handed to yours: {TOO_MUCH}"}, []
        args = codec.decode(question.get("args"), buffers)
        kwargs = codec.decode(question.get("kwargs"), buffers)
        out: list[bytes] = []
        try:
            value = self._functions[number](*args, **kwargs)
            return {"value": codec.encode(value, out)}, out
        except Exception as error:  # the arguments are a stranger's
            return {"error": f"the function that was handed to yours: {type(error).__name__}"}, []


class _TimeLimits:
    """The limits of time of one question."""

    def __init__(self, student: StudentProcess, seconds: float, patient: bool):
        self.student, self.seconds, self.patient = student, seconds, patient
        self.started = time.monotonic()
        self.cpu: float | None = None
        """Seconds of the processor before the question, once they were asked for."""
        self.next_look, self.interrupted = self.started + POLL_SECONDS, 0.0

    def too_slow(self, more: str = "") -> TooSlow:
        return TooSlow(f"it took more than {self.seconds:g} seconds{more}")

    def check(self) -> None:
        now = time.monotonic()
        if now < self.next_look:
            return
        self.next_look = now + POLL_SECONDS
        if self.interrupted and now > self.interrupted + GRACE_SECONDS:
            raise self.too_slow(" and could not be interrupted")
        if now > self.student.deadline:
            total = limits.SUBMISSION_SECONDS
            raise TooSlow(f"all cells and calls together took more than {total} seconds")
        if self.cpu is None:  # nothing is read for those that answer at once
            self.cpu = self.student.cpu_seconds()
        late = now - self.started > self.seconds * limits.WALL
        if not self.interrupted and (late or self.student.cpu_seconds() - self.cpu > self.seconds):
            if not self.patient:
                raise self.too_slow()
            self.student.signal(signal.SIGINT)
            self.interrupted, self.student.interrupted = now, True


def _kibibytes(pid: int, file: str, *names: str) -> int:
    """The sum of some lines of a file in /proc, in bytes; nothing where there is none."""
    with contextlib.suppress(OSError):
        lines = map(str.split, Path(f"/proc/{pid}/{file}").read_text().splitlines())
        return 1024 * sum(int(line[1]) for line in lines if line and line[0] in names)
    return 0


def remove(folder: Path) -> None:
    """However deep, and whatever may be read in it."""
    with contextlib.suppress(OSError):
        folder.rmdir()
    if folder.exists():
        for command in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run(
                [*command, "--", str(folder)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
