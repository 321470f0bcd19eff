"""What grading one submission gives: plain data, so that it can cross processes and be kept."""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from autograder.grading.notes import Kind, Note
from course_lib.checking.findings import Finding


@dataclass(frozen=True)
class Mark:
    """What goes into the gradebook for one graded cell."""

    cell: str
    """nbgrader's grade_id."""
    points: float | None
    """None where a person marks."""
    most: float
    state: str = "graded"
    """graded, not attempted, by hand, or not gradable (no verdict; a person must look)."""
    answer: str = ""
    """Digest of the student's text, so that a changed answer is noticed."""
    findings: tuple[Finding, ...] = ()
    comment: str = ""
    """Of the grader, below the answer: the exercise and the reason."""
    reason: str = ""
    """Why there are no findings; a student's process may have said it."""

    @property
    def needs_person(self) -> bool:
        return self.state in ("by hand", "not gradable")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Mark":
        """Raises ValueError, TypeError or KeyError for what `dataclasses.asdict` did not make."""
        findings = tuple(map(Finding.from_dict, data["findings"]))
        reason = data.get("reason", data["comment"].partition(": ")[2])  # an earlier version's
        return cls(**data | {"findings": findings, "reason": reason})


@dataclass(frozen=True)
class Outcome:
    """All that is known of one submission after grading."""

    student: str
    assignment: str
    key: str
    """The journal's key: hash of submission, assignment, seed and environment."""
    marks: tuple[Mark, ...]
    repairs: tuple[Note, ...] = ()
    """What was mended in the notebook before it ran."""
    incidents: tuple[Note, ...] = ()
    """What happened while it ran: time, memory, a process that died."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By step: rebuild, run, referee, record."""
    notebook: str = ""
    """The graded notebook, as JSON."""
    too_slow: bool = False
    """Some limit of time was met; it counts only if it is met again on a quiet machine."""

    @property
    def points(self) -> float:
        return sum(mark.points or 0.0 for mark in self.marks)

    def graded_again(self) -> "Outcome":
        """With the note that it is the second run that counts."""
        return replace(self, repairs=(*self.repairs, Note.of(Kind.GRADED_AGAIN)))

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Outcome":
        """Also of what an earlier version of the grader has kept.

        Raises ValueError, TypeError or KeyError for what no version of it wrote.
        """
        data = json.loads(text)
        data["marks"] = tuple(map(Mark.from_dict, data["marks"]))
        for name in ("repairs", "incidents"):
            data[name] = tuple(map(Note.from_json, data[name]))
        return cls(**data)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
