"""The same jobs on a Dask cluster: bytes go out, outcomes come back, no disk is shared."""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import CancelledError
from functools import cached_property
from typing import Any

from distributed import Client, Future, KilledWorker, as_completed

from autograder.grading.devices import cuda_here
from autograder.grading.fingerprint import environment_fingerprint
from autograder.grading.notes import Kind, Note
from autograder.grading.outcome import Outcome
from autograder.grading.package import released_notebook, tests_import
from autograder.grading.pool import DEATHS_AT_MOST, JOB_SECONDS
from autograder.grading.referee import Job
from autograder.grading.warm_grader import grade_here
from autograder.sandbox.host import NoSandbox

SILENCE_SECONDS = 1.5 * DEATHS_AT_MOST * JOB_SECONDS
"""A worker ends what hangs by itself, and tries it again; only then is it the worker that hangs."""
CONNECT_SECONDS = 10
POLL_SECONDS = 0.01


class WrongWorker(NoSandbox):
    """A worker would judge by other code or other versions than ours."""


class ClusterPool:
    """Grades jobs on the workers behind a scheduler, such as tcp://grader.example.edu:8786.

    Dask runs what its clients send: use it only among machines that trust each other.
    """

    def __init__(
        self, scheduler: str, data: bytes, stem: str, resources: dict[str, float] | None = None
    ):
        """`resources` is what a worker must have declared, such as {"GPU": 1}."""
        self.scheduler, self.data, self.stem = scheduler, data, stem
        self.resources = resources or {}

    @cached_property
    def _fingerprint(self) -> str:
        return environment_fingerprint(tests_import(self.data))

    def __enter__(self) -> "ClusterPool":
        try:
            self._client = Client(self.scheduler, timeout=CONNECT_SECONDS)
        except OSError as error:
            raise NoSandbox(
                f"no Dask scheduler answers at {self.scheduler} ({error}). Start one with "
                "`dask scheduler` and workers with `dask worker ADDRESS --nthreads 1`."
            ) from None
        self._refuse_other_versions()
        self._refuse_without_resources()
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def grade(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Give every job back as an outcome. Raises NoSandbox where the cluster stops answering."""
        jobs = list(jobs)
        slow: list[Job] = []
        package = self._client.scatter(self.data, broadcast=True)
        yield from self._grade(package, jobs, slow if len(jobs) > 1 else None)
        for job in slow:  # once more, with the cluster to itself
            yield from (again.graded_again() for again in self._grade(package, [job], None))

    def _grade(self, package: Any, jobs: list[Job], slow: list[Job] | None) -> Iterator[Outcome]:
        how: dict[str, Any] = {"pure": False, "resources": self.resources}
        arguments = package, self.stem, self._fingerprint
        job_of = {self._client.submit(_grade_there, job, *arguments, **how): job for job in jobs}
        for future in self._as_they_come(list(job_of)):
            job = job_of.pop(future)
            try:
                outcome = future.result()
            except KilledWorker:
                released = released_notebook(self.data, self.stem)
                outcome = job.failed(released, Note.of(Kind.WORKERS_DIED))
            except CancelledError:  # the class lay with them
                raise self._stopped("has lost its workers") from None
            if outcome.too_slow and slow is not None:
                slow.append(job)
            else:
                yield outcome

    def _as_they_come(self, futures: list[Future]) -> Iterator[Future]:
        """Dask would wait without end for a worker that hangs, or that no more has the resource."""
        coming = as_completed(futures)
        for _ in futures:
            heard = time.monotonic()
            while not coming.has_ready():
                if time.monotonic() > heard + SILENCE_SECONDS:
                    raise self._stopped(f"has given nothing back for {SILENCE_SECONDS:g} seconds")
                time.sleep(POLL_SECONDS)
            yield next(coming)

    def _stopped(self, how: str) -> NoSandbox:
        return NoSandbox(
            f"the cluster {self.scheduler} {how}. What it gave back is kept: look after its "
            "workers, type the same command again, and it goes on where it stopped"
        )

    def _refuse_without_resources(self) -> None:
        """Dask would wait for such a worker without end."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        for name, amount in self.resources.items():
            if not any(worker["resources"].get(name, 0) >= amount for worker in workers):
                raise NoSandbox(
                    f"no worker of {self.scheduler} has declared {name}. Start those that have "
                    f'one with  dask worker ADDRESS --nthreads 1 --resources "{name}={amount}"'
                )

    def _refuse_other_versions(self) -> None:
        ours = self._fingerprint
        theirs = self._client.run(_fingerprint_there, tests_import(self.data), on_error="return")
        if not theirs:
            raise NoSandbox(f"the scheduler {self.scheduler} has no workers")
        for address, fingerprint in theirs.items():
            if fingerprint != ours:
                raise WrongWorker(_differences(address, fingerprint, ours))


def _fingerprint_there(imported: tuple[str, ...]) -> str:
    return environment_fingerprint(imported)


def _grade_there(job: Job, data: bytes, stem: str, expected: str) -> Outcome:
    """Runs in a worker; one that joined later is asked for its version, too."""
    here = environment_fingerprint(tests_import(data))
    if here != expected:
        raise WrongWorker(_differences("a new worker", here, expected))
    if job.device == "cuda" and not cuda_here():
        raise NoSandbox("a worker has declared a GPU, and torch finds none there")
    return grade_here(data, stem, job)


def _differences(address: str, theirs: object, ours: str) -> str:
    if not isinstance(theirs, str):
        return f"the worker {address} has no course installed, or an older one: {theirs!r}"
    pairs = zip(theirs.split(", "), ours.split(", "), strict=False)
    different = "; ".join(f"{there}, here {here}" for there, here in pairs if there != here)
    return f"the worker {address} is of another version and would judge differently: {different}"
