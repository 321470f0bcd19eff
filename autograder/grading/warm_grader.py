"""A worker that a long-lived process keeps warm while it is given submissions one by one."""

import atexit
import shutil
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

from autograder.grading import package
from autograder.grading.devices import TRUSTED
from autograder.grading.outcome import Outcome
from autograder.grading.pool import LocalPool
from autograder.grading.referee import Job
from autograder.sandbox.tiers import choose

_one_at_a_time = Lock()


def grade_here(data: bytes, stem: str, job: Job) -> Outcome:
    """Grade on this machine, with the package that these bytes are. Raises NoSandbox.

    In a process of its own, which is ended where it hangs or takes too much: this one goes on.
    """
    with _one_at_a_time:
        tier = TRUSTED if job.device == "cuda" else _tier()
        (outcome,) = _pool(data, stem, tier).grade([job])
        return outcome


@cache
def _tier() -> str:
    """Found out once: to try takes longer than to grade."""
    return choose()


@lru_cache(maxsize=2)
def _pool(data: bytes, stem: str, tier: str) -> LocalPool:
    folder = Path(tempfile.mkdtemp(prefix="grading-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package.unpack(data, folder)
    pool = LocalPool(folder, stem, 1, tier)
    atexit.register(pool.__exit__)
    return pool
