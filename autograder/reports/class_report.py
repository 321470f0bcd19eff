"""`course report NN_topic`: how the class did and where it stumbled, on one page."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from autograder.grading.journal import Journal, course_lock
from autograder.grading.outcome import Outcome
from autograder.reports.figures import class_pictures
from autograder.reports.pages import page
from autograder.reports.results import Result, Sheet, Submission, read_sheets
from autograder.typeset.typesetter import Typesetter

FEW = 5
"""In a smaller class a distribution is nearly a list of names."""
ENDLESS = "it took more than"
STEPS = {
    "rebuild": "rebuilding the notebook",
    "run": "running its cells",
    "referee": "calls and verdicts",
}


@dataclass
class Exercise:
    """One exercise in the whole class."""

    number: str
    title: str
    most: float
    shares: list[float] = field(default_factory=list)
    waits: int = 0
    unattempted: int = 0

    @property
    def full(self) -> int:
        return sum(share > 0.999 for share in self.shares)

    @property
    def none(self) -> int:
        return sum(share < 0.001 for share in self.shares)

    @property
    def part(self) -> int:
        return len(self.shares) - self.full - self.none

    @property
    def mean(self) -> float | None:
        return sum(self.shares) / len(self.shares) if self.shares else None


@dataclass(frozen=True)
class Property:
    """One test in the class: how many of those who tried failed it."""

    number: str
    property: str
    hidden: bool
    failed: int
    of: int


@dataclass(frozen=True)
class Misconception:
    """One known mistake, and how many gave its very numbers."""

    number: str
    title: str
    mistake: str
    students: int
    names: tuple[str, ...]


@dataclass
class Summary:
    """All that the report says; nobody is named in it but where names were asked for."""

    title: str
    most: float
    totals: list[float]
    exercises: list[Exercise]
    hardest: list[Property]
    misconceptions: list[Misconception]
    unnamed: dict[str, int]
    """Exercise: students whose failure no single known mistake explains."""
    absent: list[str]
    seconds: dict[str, list[float]]
    repairs: list[tuple[str, int, tuple[str, ...]]]
    incidents: list[tuple[str, int, tuple[str, ...]]]
    points_of: dict[str, float]
    waiting: int
    """Answers that a person has still to look at."""
    late: int
    """Submissions that a late penalty was taken from."""

    @property
    def median(self) -> float:
        return median(self.totals)

    @property
    def each(self) -> list[float]:
        """Seconds of each submission."""
        return [sum(parts) for parts in zip(*self.seconds.values(), strict=True)]


def write_report(course: Path, stem: str, names: bool = False) -> Path | None:
    """Write the page and say where it is; None where nothing is graded."""
    with ExitStack() as stack:
        stack.enter_context(course_lock(course))
        journal = stack.enter_context(Journal(course / "grading" / "journal.db"))
        sheets = read_sheets(course, stem)
        graded = (
            Submission(o, sheets.get(o.student, Sheet(o.student)), {})
            for o in journal.recorded(stem)
        )
        summary = summarise(graded, set(sheets))
    if summary is None:
        return None
    with Typesetter() as typesetter:
        html = page(
            "class_report.html",
            typesetter,
            summary=summary,
            pictures=class_pictures(summary),
            names=names,
            few=len(summary.totals) < FEW,
            steps=STEPS,
            made=f"{datetime.now(UTC):%d %B %Y}",
        )
    path = course / "reports" / f"{stem}{'-with-names' * names}.html"
    path.parent.mkdir(exist_ok=True)
    path.write_text(html, encoding="utf-8")
    if names:
        path.chmod(0o600)
    return path


def summarise(graded: Iterable[Submission], everybody: set[str]) -> Summary | None:
    """Count; one submission after the other, so that a class need not fit into memory."""
    count = _Count()
    for submission in graded:
        count.add(submission)
    return count.summary(everybody) if count.points else None


@dataclass
class _Count:
    title: str = ""
    most: float = 0.0
    points: dict[str, float] = field(default_factory=dict)
    exercises: dict[str, Exercise] = field(default_factory=dict)
    tests: dict[tuple, list[bool]] = field(default_factory=lambda: defaultdict(list))
    slips: dict[tuple, list[str]] = field(default_factory=lambda: defaultdict(list))
    waiting: int = 0
    late: int = 0
    unnamed: Counter = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=lambda: {step: [] for step in STEPS})
    repairs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    incidents: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, submission: Submission) -> None:
        student, outcome = submission.outcome.student, submission.outcome
        self.title, self.most = submission.title, submission.most
        self.points[student] = submission.points
        self.waiting += len(submission.waits)
        self.late += bool(submission.sheet.penalty)
        for result in submission.results:
            if result.mark:
                self._add_result(outcome, result)
        for step, seconds in self.seconds.items():
            seconds.append(outcome.seconds.get(step, 0.0))
        for where, said in ((self.repairs, outcome.repairs), (self.incidents, outcome.incidents)):
            for words in sorted({without_names(words) for words in said}):
                where[words].append(student)

    def _add_result(self, outcome: Outcome, result: Result) -> None:
        new = Exercise(result.number, result.title, result.mark.most)
        exercise = self.exercises.setdefault(result.slug, new)
        if result.mark.state == "not attempted" and result.row.by_hand is None:
            exercise.unattempted += 1
        elif result.points is None:
            exercise.waits += 1
        else:
            exercise.shares.append(result.share)
        for finding in result.mark.findings:
            key = result.number, finding.property, finding.hidden
            self.tests[key].append(finding.passed)
        named = {finding.mistake for finding in result.failed if finding.mistake}
        for mistake in named:
            self.slips[result.number, result.title, mistake].append(outcome.student)
        if result.failed and not named and not _has_no_numbers(result, outcome):
            self.unnamed[result.number] += 1

    def summary(self, everybody: set[str]) -> Summary:
        hardest = [
            Property(*key, failed, len(passed))
            for key, passed in self.tests.items()
            if (failed := len(passed) - sum(passed))
        ]
        return Summary(
            title=self.title,
            most=self.most,
            totals=sorted(self.points.values()),
            exercises=list(self.exercises.values()),
            hardest=sorted(hardest, key=lambda p: -p.failed / p.of),
            misconceptions=sorted(
                (Misconception(*key, len(who), tuple(who)) for key, who in self.slips.items()),
                key=lambda m: -m.students,
            ),
            unnamed=dict(self.unnamed),
            absent=sorted(everybody - set(self.points)),
            seconds=self.seconds,
            repairs=_often(self.repairs),
            incidents=_often(self.incidents),
            points_of=dict(sorted(self.points.items())),
            waiting=self.waiting,
            late=self.late,
        )


def _has_no_numbers(result: Result, outcome: Outcome) -> bool:
    """A proof that is built, or a loop without end: no known mistake could explain it."""
    name = result.slug.replace("-", "_")
    is_built = any(finding.test == name for finding in result.failed)
    return is_built or any(words.startswith(f"{name}: {ENDLESS}") for words in outcome.incidents)


def _often(said: dict[str, list[str]]) -> list[tuple[str, int, tuple[str, ...]]]:
    by_number = sorted(said.items(), key=lambda item: -len(item[1]))
    return [(words, len(who), tuple(who)) for words, who in by_number]


def without_names(words: str) -> str:
    """A file may be called after its author, and a number of cells says nothing here."""
    words = re.sub(
        r"the notebook is called .*?; \S+ was expected", "the notebook had another name", words
    )
    words = re.sub(
        r"^(\d+) notebooks were handed in; .*", "more than one notebook was handed in", words
    )
    words = re.sub(r"^.*\.ipynb is damaged; .*", "the notebook was damaged", words)
    words = re.sub(r"^.*\.ipynb is ", "the notebook is ", words)
    words = re.sub(r"no notebook was handed in; .*", "no notebook was handed in", words)
    return re.sub(r"the cell \S+ stands \d+ times", "a cell stands several times", words)
