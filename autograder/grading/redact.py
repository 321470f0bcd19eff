"""What a student may read of a finding. The journal and the instructor have the whole of it."""

from dataclasses import replace
from typing import TypeVar

from course_lib.checking.findings import Cause, Finding

WITHHELD = "Its numbers stay with the grader."
RAISED = "it raised an exception"
KEPT_BACK = "hidden"
"""Evidence in what an earlier version of the grader has kept: it never kept more."""
AFinding = TypeVar("AFinding", bound=Finding)


def for_student(finding: AFinding) -> AFinding:
    """The same, but of a hidden test nothing that could tell its numbers.

    What the student's function raised there could carry them out, in its text, in its name and in
    its line: that it raised is all that is told.
    """
    if finding.passed or not finding.hidden:
        return finding
    return replace(finding, evidence=_all_that_is_told(finding.cause), cause=None)


def _all_that_is_told(cause: Cause | None) -> str:
    return RAISED if cause and cause.exception else WITHHELD
