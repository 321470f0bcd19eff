"""A submission without whose it is: what a page that names nobody is made of.

Nothing in these types was written by a student: no name, no id, no answer, no evidence, no text of
an exception. Titles, properties and mistakes are the exercises' own.
"""

from dataclasses import dataclass

from autograder.grading.notes import Fact
from autograder.release.outline import OutlinedExercise
from autograder.reports.results import Result, Submission


@dataclass(frozen=True)
class AnonymousFinding:
    """The verdict on one property."""

    property: str
    hidden: bool
    passed: bool
    mistake: str


@dataclass(frozen=True)
class AnonymousResult:
    """One exercise that is graded."""

    exercise: OutlinedExercise
    most: float
    share: float | None
    """Of the points; None where a person has still to mark."""
    attempted: bool
    findings: tuple[AnonymousFinding, ...]

    @property
    def mistakes(self) -> set[str]:
        """Known mistakes that were recognised."""
        return {finding.mistake for finding in self.findings if finding.mistake}

    @property
    def failed(self) -> bool:
        return not all(finding.passed for finding in self.findings)


@dataclass(frozen=True)
class AnonymousSubmission:
    """One submission of a class."""

    points: float
    most: float
    waiting: int
    late: bool
    results: tuple[AnonymousResult, ...]
    repairs: frozenset[Fact]
    incidents: frozenset[Fact]
    seconds: dict[str, float]


def anonymised(submission: Submission) -> AnonymousSubmission:
    """What may be counted of it."""
    outcome = submission.outcome
    return AnonymousSubmission(
        points=submission.points,
        most=submission.most,
        waiting=len(submission.waits),
        late=bool(submission.sheet.penalty),
        results=tuple(_anonymised(result) for result in submission.results if result.mark),
        repairs=frozenset(note.fact for note in outcome.repairs),
        incidents=frozenset(note.fact for note in outcome.incidents),
        seconds=outcome.seconds,
    )


def _anonymised(result: Result) -> AnonymousResult:
    state = result.mark.state if result.mark else ""
    return AnonymousResult(
        result.exercise,
        most=result.mark.most if result.mark else 0.0,
        share=None if result.points is None else result.share,
        attempted=state != "not attempted" or result.row.by_hand is not None,
        findings=tuple(
            AnonymousFinding(each.property, each.hidden, each.passed, each.mistake)
            for each in result.findings
        ),
    )
