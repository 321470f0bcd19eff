"""Workers on this machine. One that dies is replaced, and what it was grading is graded again."""

import contextlib
import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

import nbformat

from autograder.grading.outcome import Outcome
from autograder.grading.referee import Job
from autograder.grading.worker import work
from autograder.sandbox.host import NoSandbox

DEATHS_AT_MOST = 2
"""So often may a submission take its worker down before a person must look at it."""
STARTS_AT_MOST = 3
CONTEXT = multiprocessing.get_context("spawn")


@dataclass
class _Worker:
    process: multiprocessing.Process
    pipe: Connection
    job: Job | None = None
    ready: bool = False


@dataclass
class LocalPool:
    """Grades jobs on `workers` processes, each with a sandbox of its own."""

    package: Path
    """What `package.unpack` gave."""
    stem: str
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)
    tier: str = "namespaces"
    _team: list[_Worker] = field(default_factory=list)

    def grade(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Give every job back as an outcome, as they get ready.

        A submission that met a limit of time is graded once more, with the machine to itself.
        """
        waiting, slow = deque(jobs), []
        alone = len(waiting) == 1
        yield from self._grade(waiting, self.workers, slow if not alone else None)
        for job in slow:
            yield from self._grade(deque([job]), 1, None)

    def _grade(
        self, waiting: deque[Job], workers: int, slow: list[Job] | None
    ) -> Iterator[Outcome]:
        deaths: dict[str, int] = {}
        while waiting or any(worker.job for worker in self._team):
            self._fill_up(min(workers, len(waiting) + sum(bool(w.job) for w in self._team)))
            for worker in self._team:
                if worker.ready and worker.job is None and waiting:
                    worker.job = waiting.popleft()
                    worker.pipe.send(worker.job)
            ready = wait([worker.pipe for worker in self._team])
            for worker in [worker for worker in self._team if worker.pipe in ready]:
                job = worker.job
                try:
                    kind, answer = worker.pipe.recv()
                except (EOFError, OSError):
                    self._dismiss(worker)
                    whose = job.student if job else ""
                    deaths[whose] = deaths.get(whose, 0) + 1
                    if job is None and deaths[whose] > STARTS_AT_MOST:
                        raise NoSandbox("workers die before they have begun") from None
                    if job and deaths[whose] < DEATHS_AT_MOST:
                        waiting.appendleft(job)
                    elif job:
                        yield job.failed(self._released(), "the grader died of it twice")
                    continue
                if kind == "no sandbox":
                    raise NoSandbox(answer)
                worker.ready = True
                if kind == "outcome":
                    worker.job = None
                    if answer.too_slow and slow is not None:
                        slow.append(job)
                    else:
                        yield answer

    def _fill_up(self, number: int) -> None:
        while len(self._team) < number:
            ours, theirs = CONTEXT.Pipe()
            arguments = (theirs, self.package, self.stem, self.tier)
            process = CONTEXT.Process(target=work, args=arguments)
            process.start()
            theirs.close()
            self._team.append(_Worker(process, ours))

    def _dismiss(self, worker: _Worker) -> None:
        self._team.remove(worker)
        worker.pipe.close()
        worker.process.join(5)
        worker.process.kill()
        worker.process.join()

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
