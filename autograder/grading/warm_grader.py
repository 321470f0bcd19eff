"""A grader that a long-lived process keeps warm while it is given submissions one by one."""

import atexit
import shutil
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

from autograder.grading import package
from autograder.grading.devices import TRUSTED
from autograder.grading.outcome import Outcome
from autograder.grading.referee import Grader, Job
from autograder.sandbox.host import Sandbox
from autograder.sandbox.tiers import choose

_one_at_a_time = Lock()


def grade_here(data: bytes, stem: str, job: Job) -> Outcome:
    """Grade in this process, with the package that these bytes are. Raises NoSandbox."""
    with _one_at_a_time:
        tier = TRUSTED if job.device == "cuda" else _tier()
        return _grader(data, stem, tier).grade(job)


@cache
def _tier() -> str:
    """Found out once: to try takes longer than to grade."""
    return choose()


@lru_cache(maxsize=2)
def _grader(data: bytes, stem: str, tier: str) -> Grader:
    folder = Path(tempfile.mkdtemp(prefix="grading-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    package.unpack(data, folder)
    sandbox = Sandbox(folder / "course_lib", tier)
    atexit.register(sandbox.close)
    return Grader(folder, stem, sandbox)
