"""Workers on this machine. One that dies is replaced, and what it was grading is graded again."""

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

import nbformat

from autograder.grading.notes import Kind, Note
from autograder.grading.outcome import Outcome
from autograder.grading.referee import Job
from autograder.grading.worker import REFEREE_SECONDS
from autograder.paths import ROOT
from autograder.sandbox import limits
from autograder.sandbox.host import NoSandbox

DEATHS_AT_MOST = 2
"""So often may a submission take its worker down before a person must look at it."""
STARTS_AT_MOST = 3
JOB_SECONDS, WATCH_SECONDS = 5 * limits.SUBMISSION_SECONDS, 1.0
"""On the clock; a worker that needs longer hangs, whatever the reason, and is replaced."""
AHEAD = 2
"""Jobs that a worker has at once: one at work, the next at its door."""


@dataclass
class _Worker:
    process: subprocess.Popen
    pipe: Connection
    jobs: deque[Job] = field(default_factory=deque)
    """The first is at work, the others wait at the door."""
    since: float = 0.0
    """When work on the first began."""
    ready: bool = False

    def hangs(self) -> bool:
        return bool(self.jobs) and time.monotonic() > self.since + JOB_SECONDS


class _Jobs:
    """Jobs are read when their turn comes; some come back."""

    def __init__(self, jobs: Iterable[Job]):
        self._rest = iter(jobs)
        self._back: deque[Job] = deque()

    def ready(self, at_most: int = 1) -> int:
        """How many there are to take, as far as anybody wants to know."""
        while len(self._back) < at_most and (job := next(self._rest, None)):
            self._back.append(job)
        return min(len(self._back), at_most)

    def take(self) -> Job:
        return self._back.popleft()

    def give_back(self, jobs: Iterable[Job]) -> None:
        self._back.extendleft(reversed(list(jobs)))


@dataclass
class LocalPool:
    """Grades jobs on `workers` processes, each with a sandbox of its own."""

    package: Path
    """What `package.unpack` gave."""
    stem: str
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    tier: str = "namespaces"
    kernel: bool = False
    referee_seconds: float = REFEREE_SECONDS
    _team: list[_Worker] = field(default_factory=list)

    def grade(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Give every job back as an outcome, as they get ready.

        A submission that met a limit of time is graded once more, with the machine to itself.
        Raises NoSandbox where no worker can start.
        """
        slow: list[tuple[Job, Outcome]] = []
        number = 0
        for job, outcome in self._grade(_Jobs(jobs), self.workers):
            number += 1
            if outcome.too_slow:
                slow.append((job, outcome))
            else:
                yield outcome
        for job, outcome in slow:
            if number == 1:  # it had the machine to itself
                yield outcome
            else:
                yield from (again.graded_again() for _, again in self._grade(_Jobs([job]), 1))

    def _grade(self, jobs: _Jobs, workers: int) -> Iterator[tuple[Job, Outcome]]:
        deaths: Counter[str] = Counter()
        while jobs.ready() or any(worker.jobs for worker in self._team):
            at_work = sum(bool(worker.jobs) for worker in self._team)
            self._fill_up(min(workers, at_work + jobs.ready(workers)))
            self._hand_out(jobs, workers)
            for worker in filter(_Worker.hangs, self._team):
                worker.process.kill()
            ready = wait([worker.pipe for worker in self._team], WATCH_SECONDS)
            for worker in [worker for worker in self._team if worker.pipe in ready]:
                try:
                    kind, answer = worker.pipe.recv()
                except (EOFError, OSError):
                    self._dismiss(worker)
                    suspect = worker.jobs[0] if worker.jobs else None
                    if suspect and worker.process.returncode == -signal.SIGPROF:
                        slow = Note.of(Kind.GRADER_TOO_SLOW, limit=self.referee_seconds)
                        yield suspect, suspect.failed(self._released(), slow)
                        worker.jobs.popleft()
                        jobs.give_back(worker.jobs)
                        continue
                    whose = suspect.student if suspect else ""
                    deaths[whose] += 1
                    if not suspect and deaths[whose] > STARTS_AT_MOST:
                        raise NoSandbox("workers die before they have begun") from None
                    if suspect and deaths[whose] == DEATHS_AT_MOST:
                        died = Note.of(Kind.GRADER_DIED, count=deaths[whose])
                        yield suspect, suspect.failed(self._released(), died)
                        worker.jobs.popleft()
                    jobs.give_back(worker.jobs)
                    continue
                if kind == "no sandbox":
                    raise NoSandbox(answer)
                worker.ready = True
                if kind == "outcome":
                    job, worker.since = worker.jobs.popleft(), time.monotonic()
                    self._hand_out(jobs, workers)  # it works on while we record
                    yield job, answer

    def _hand_out(self, jobs: _Jobs, workers: int) -> None:
        for worker in self._team[:workers]:
            while worker.ready and len(worker.jobs) < AHEAD and jobs.ready():
                if not worker.jobs:
                    worker.since = time.monotonic()
                worker.jobs.append(jobs.take())
                worker.pipe.send(worker.jobs[-1])

    def _fill_up(self, number: int) -> None:
        while len(self._team) < number:
            ours, theirs = multiprocessing.Pipe()
            descriptor = theirs.fileno()
            how = [str(self.referee_seconds), str(self.package), self.stem, self.tier]
            how += ["kernel"] * self.kernel
            process = subprocess.Popen(
                [sys.executable, "-m", "autograder.grading.worker", str(descriptor), *how],
                env=os.environ | {"PYTHONPATH": _python_path()},
                stdin=subprocess.DEVNULL,
                pass_fds=[descriptor],
            )
            theirs.close()
            self._team.append(_Worker(process, ours))

    def _dismiss(self, worker: _Worker) -> None:
        self._team.remove(worker)
        worker.pipe.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            worker.process.wait(5)
        worker.process.kill()
        worker.process.wait()

    def _released(self) -> nbformat.NotebookNode:
        return nbformat.read(self.package / f"{self.stem}.ipynb", as_version=4)

    def __enter__(self) -> "LocalPool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._team:
            with contextlib.suppress(OSError):
                worker.pipe.close()
        for worker in list(self._team):
            self._dismiss(worker)


def _python_path() -> str:
    """So that a worker finds what this process imports, wherever it was started."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
