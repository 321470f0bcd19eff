"""What a student may read of a finding. The journal and the instructor have the whole of it."""

import builtins
from dataclasses import replace
from typing import TypeVar

from course_lib.checking.findings import Cause, Finding

WITHHELD = "Its numbers stay with the grader."
KEPT_BACK = "hidden"
"""Evidence in what an earlier version of the grader has kept: it never kept more."""
LINES = 100_000
"""A longer answer would be a way to tell a number by the line where it raises."""
AFinding = TypeVar("AFinding", bound=Finding)


def for_student(finding: AFinding) -> AFinding:
    """The same, but of a hidden test nothing that could tell its numbers.

    What the student's function raised there could carry them out, in its text or in its name: the
    line is told, and the name where it is one of Python's own.
    """
    if finding.passed or not finding.hidden:
        return finding
    cause = finding.cause
    message = _raised(cause) if cause and cause.exception else WITHHELD
    return replace(finding, evidence=message, cause=None)


def _raised(cause: Cause) -> str:
    is_pythons_own = isinstance(getattr(builtins, cause.exception, None), type)
    line = f", line {cause.line}" if cause.line and cause.line < LINES else ""
    return f"it raised {cause.exception if is_pythons_own else 'an exception'}{line}"
