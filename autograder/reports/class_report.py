"""`course report NN_topic`: how the class did and where it stumbled, on one page.

The page, its pictures and its counts are made of anonymous submissions; what names people is
collected apart, and only where names were asked for.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from autograder.files import write_atomically
from autograder.grading.journal import Journal, course_lock
from autograder.grading.notes import Fact, Kind
from autograder.grading.sentences import anonymous, in_full
from autograder.release.outline import Outline, read_outline
from autograder.reports.anonymous import AnonymousResult, AnonymousSubmission, anonymised
from autograder.reports.class_summary import ExerciseCount, MistakeCount, PropertyCount, Summary
from autograder.reports.figures import class_pictures
from autograder.reports.pages import page
from autograder.reports.results import Result, Sheet, Submission, read_sheets
from autograder.typeset.typesetter import Typesetter
from course_lib.checking.findings import FailureKind

FEW = 5
"""In a smaller class a distribution is nearly a list of names."""
STEPS = {
    "rebuild": "rebuilding the notebook",
    "run": "running its cells",
    "referee": "calls and verdicts",
}


@dataclass
class Roll:
    """Who did what: for the page with names, and nowhere else."""

    labels: Mapping[str, str]
    points: dict[str, float] = field(default_factory=dict)
    made: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    """Number of the exercise and mistake: who made it."""
    notes: dict[str, list[str]] = field(default_factory=dict)
    """Student: repairs and incidents in full."""
    failed: dict[str, list[Result]] = field(default_factory=dict)
    """Student: the exercises in which something does not hold."""
    absent: list[str] = field(default_factory=list)

    def add(self, submission: Submission) -> None:
        student, outcome = submission.outcome.student, submission.outcome
        self.points[student] = submission.points
        for result in submission.results:
            for mistake in sorted({finding.mistake for finding in result.failed} - {""}):
                self.made[result.exercise.number, mistake].append(student)
        if notes := [*outcome.repairs, *outcome.incidents]:
            self.notes[student] = [in_full(note, self.labels) for note in notes]
        if failed := [result for result in submission.results if result.failed]:
            self.failed[student] = failed


def write_report(course: Path, stem: str, names: bool = False) -> Path | None:
    """Write the page and say where it is; None where nothing is graded.

    Raises CourseIsBusy, CannotRecord.
    """
    outline = read_outline(course, stem)
    count, roll = ClassCount(outline), Roll(outline.labels) if names else None
    with ExitStack() as stack:
        stack.enter_context(course_lock(course))
        journal = stack.enter_context(Journal(course / "grading" / "journal.db"))
        sheets = read_sheets(course, stem)
        graded = set()
        for outcome in journal.recorded(stem):  # one by one: a class need not fit into memory
            sheet = sheets.get(outcome.student, Sheet(outcome.student))
            submission = Submission(outcome, sheet, outline)
            count.add(anonymised(submission))
            graded.add(outcome.student)
            if roll:
                roll.add(submission)
    if not graded:
        return None
    absent = sorted(set(sheets) - graded)
    summary = count.summary(len(absent))
    if roll:
        roll.absent = absent
    with Typesetter() as typesetter:
        html = page(
            "class_report.html",
            typesetter,
            summary=summary,
            pictures=class_pictures(summary),
            roll=roll,
            few=len(summary.totals) < FEW,
            steps=STEPS,
            made=f"{datetime.now(UTC):%d %B %Y}",
        )
    path = course / "reports" / f"{stem}{'-with-names' * names}.html"
    write_atomically(path, html, mode=0o600 if names else None)
    return path


@dataclass
class ClassCount:
    """Counts a class, one anonymous submission after the other."""

    outline: Outline
    most: float = 0.0
    totals: list[float] = field(default_factory=list)
    exercises: dict[str, ExerciseCount] = field(default_factory=dict)
    tests: dict[tuple[str, str, bool], list[bool]] = field(
        default_factory=lambda: defaultdict(list)
    )
    mistakes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    waiting: int = 0
    late: int = 0
    unnamed: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=lambda: {step: [] for step in STEPS})
    repairs: Counter[str] = field(default_factory=Counter)
    incidents: Counter[str] = field(default_factory=Counter)

    def add(self, submission: AnonymousSubmission) -> None:
        self.most = submission.most
        self.totals.append(submission.points)
        self.waiting += submission.waiting
        self.late += submission.late
        for result in submission.results:
            self._add_result(result, submission.incidents)
        for step, seconds in self.seconds.items():
            seconds.append(submission.seconds.get(step, 0.0))
        for counter, facts in (
            (self.repairs, submission.repairs),
            (self.incidents, submission.incidents),
        ):
            counter.update(sorted({anonymous(fact, self.outline.labels) for fact in facts}))

    def _add_result(self, result: AnonymousResult, incidents: frozenset[Fact]) -> None:
        exercise = result.exercise
        new = ExerciseCount(exercise.number, exercise.title, result.most)
        counted = self.exercises.setdefault(exercise.name, new)
        if not result.attempted:
            counted.unattempted += 1
        elif result.share is None:
            counted.waits += 1
        else:
            counted.shares.append(result.share)
        for finding in result.findings:
            key = exercise.number, finding.property, finding.hidden
            self.tests[key].append(finding.passed)
        named = sorted(result.mistakes)
        self.mistakes.update((exercise.number, exercise.title, mistake) for mistake in named)
        if result.failed and not result.mistakes and not _has_no_numbers(result, incidents):
            self.unnamed[exercise.number] += 1

    def summary(self, absent: int) -> Summary:
        """Of all that were added, of whom there is one at least."""
        hardest = [
            PropertyCount(*key, failed, len(passed))
            for key, passed in self.tests.items()
            if (failed := len(passed) - sum(passed))
        ]
        return Summary(
            title=self.outline.heading,
            most=self.most,
            totals=sorted(self.totals),
            exercises=list(self.exercises.values()),
            hardest=sorted(hardest, key=lambda p: -p.failed / p.of),
            misconceptions=[MistakeCount(*key, n) for key, n in self.mistakes.most_common()],
            unnamed=dict(self.unnamed),
            absent=absent,
            seconds=self.seconds,
            repairs=self.repairs.most_common(),
            incidents=self.incidents.most_common(),
            waiting=self.waiting,
            late=self.late,
        )


def _has_no_numbers(result: AnonymousResult, incidents: frozenset[Fact]) -> bool:
    """A proof that is built, or a loop without end: no known mistake could explain it."""
    return result.exercise.kind == "proof blocks" or any(
        fact.kind is Kind.CALL_FAILED
        and fact.cause is FailureKind.TOO_SLOW
        and fact.exercise == result.exercise.name
        for fact in incidents
    )
