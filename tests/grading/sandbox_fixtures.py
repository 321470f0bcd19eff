"""A sandbox for the tests of one file, and what root must do to test it as somebody else."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from autograder.sandbox.host import NoSandbox, Sandbox
from autograder.sandbox.process import StudentProcess
from tests.waiting import wait_until

COURSE_LIB = Path(__file__).resolve().parents[2] / "course_lib"
ORDINARY = Path(__file__).with_name("as_ordinary_user.py")
ROOT = os.geteuid() == 0
TIERS = ["namespaces"] if ROOT else ["namespaces", "landlock"]
"""Landlock does not hold root."""
NOT_ROOT = pytest.mark.skipif(
    ROOT, reason="not as root; an ordinary user runs it in test_sandbox_as_user.py"
)


def open_sandbox(tier: str) -> Iterator[Sandbox]:
    """In CI there must be one; elsewhere its absence is said."""
    try:
        sandbox = Sandbox(COURSE_LIB, tier)
    except NoSandbox as reason:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"sandbox tests not run ({tier}): {reason}")
    with sandbox:
        yield sandbox


@pytest.fixture(scope="module", params=TIERS)
def sandbox(request):
    yield from open_sandbox(request.param)


@pytest.fixture
def student(sandbox) -> StudentProcess:
    with sandbox.student() as student:
        student.begin(0)
        yield student


@pytest.fixture
def forking(sandbox, student) -> StudentProcess:
    """One that may start processes; under Landlock none may."""
    if sandbox.tier == "landlock":
        pytest.skip("landlock: no second process can be started")
    return student


def run_as_ordinary_user(file: str, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ORDINARY), sys.executable, "-m", "pytest", "-q", file]
    quiet = ["-p", "no:cacheprovider", "-p", "no:xdist", "--show-capture=no", *arguments]
    return subprocess.run([*command, *quiet], capture_output=True, text=True)


def run(student: StudentProcess, source: str) -> dict:
    return student.run_cell("cell", source)


def printed(student: StudentProcess, source: str) -> str:
    """What a cell prints; it must not fail."""
    answer = run(student, source)
    assert answer["error"] is None, answer
    return answer["stdout"].strip()


def gone(pids: list[int], seconds: float = 10) -> bool:
    """Have these processes ended? Waits for them a while."""
    with suppress(AssertionError):
        wait_until(lambda: not any(map(_alive, pids)), seconds)
    return not any(map(_alive, pids))


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
