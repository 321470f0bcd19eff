"""One worker: a referee with its sandbox, fed with jobs through a pipe until the pipe closes.

python -m autograder.grading.worker PIPE_FD SECONDS PACKAGE NN_topic TIER [kernel]
"""

import contextlib
import signal
import sys
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from autograder.grading.notes import Kind, Note
from autograder.grading.referee import Grader, Job
from autograder.sandbox import limits
from autograder.sandbox.host import NoSandbox, Sandbox

REFEREE_SECONDS = 30
"""Of the processor's time, for all that a worker itself does with one submission: a longer one ends
it in the middle of whatever it computes."""
MEMORY = 3 << 29
"""What a worker may need beyond its programs: a strange answer must not fill the machine."""


def work(
    pipe: Connection, seconds: float, package: Path, stem: str, tier: str, kernel: bool
) -> None:
    """Say that we are ready, or why not; then answer each job with its outcome."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever gave us the jobs
    limits.bound_memory(MEMORY)
    try:
        sandbox = Sandbox(package / "course_lib", tier, kernel)
    except NoSandbox as reason:
        pipe.send(("no sandbox", str(reason)))
        return
    nobody_waits = contextlib.suppress(BrokenPipeError, ConnectionResetError)
    with sandbox, nobody_waits:  # a small class is done before the last worker has begun
        grader = Grader(package, stem, sandbox)
        pipe.send(("ready", ""))
        for job in _jobs(pipe):
            signal.setitimer(signal.ITIMER_PROF, seconds)  # by default it ends the process
            outcome = _grade(grader, job)
            signal.setitimer(signal.ITIMER_PROF, 0)
            pipe.send(("outcome", outcome))


def _jobs(pipe: Connection) -> Iterator[Job]:
    """Taken in as they come: two who both wait for the other to read would wait for ever."""
    waiting: SimpleQueue[Job | None] = SimpleQueue()

    def take_in() -> None:
        try:
            while True:
                waiting.put(pipe.recv())
        except (EOFError, ConnectionError):  # whoever gave us the jobs may have been killed
            pass
        finally:
            waiting.put(None)

    Thread(target=take_in, daemon=True).start()
    while job := waiting.get():
        yield job


def _grade(grader: Grader, job: Job) -> object:
    try:
        return grader.grade(job)
    except Exception as error:  # a fault of ours must not cost the class its marks
        return job.failed(grader.released, Note.of(Kind.GRADER_FAILED, repr(error)))


if __name__ == "__main__":
    number, seconds, folder, assignment, tier, *kernel = sys.argv[1:]
    work(Connection(int(number)), float(seconds), Path(folder), assignment, tier, bool(kernel))
