"""What grading one submission gives: plain data, so that it can cross processes and be kept."""

import hashlib
import json
from dataclasses import asdict, dataclass, field

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

    @property
    def needs_person(self) -> bool:
        return self.state in ("by hand", "not gradable")


@dataclass(frozen=True)
class Outcome:
    """All that is known of one submission after grading."""

    student: str
    assignment: str
    key: str
    """The journal's key: hash of submission, assignment, seed and environment."""
    marks: tuple[Mark, ...]
    repairs: tuple[str, ...] = ()
    """What was mended in the notebook before it ran."""
    incidents: tuple[str, ...] = ()
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

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Outcome":
        data = json.loads(text)
        data["marks"] = tuple(_mark(mark) for mark in data["marks"])
        for name in ("repairs", "incidents"):
            data[name] = tuple(data[name])
        return cls(**data)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _mark(data: dict) -> Mark:
    return Mark(**data | {"findings": tuple(map(Finding.from_dict, data["findings"]))})
