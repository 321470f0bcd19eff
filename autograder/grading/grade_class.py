"""Grade a class: what was handed in goes to workers, what comes back is kept, then recorded.

Each submission is judged, stored in the journal, written out, recorded in the gradebook, in this
order; a run that ends at any moment is taken up again by the next.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

from autograder.files import write_atomically
from autograder.grading import package, submissions
from autograder.grading.course_limits import course_limits
from autograder.grading.fingerprint import environment_fingerprint
from autograder.grading.gradebook import NotInGradebook, Recorder, recorder_of
from autograder.grading.journal import (
    MAKE_ROOM,
    CannotRecord,
    Journal,
    course_lock,
    journal_key,
)
from autograder.grading.notes import MAY_COST_MARKS, Kind, Note
from autograder.grading.outcome import Outcome
from autograder.grading.referee import Job
from autograder.grading.sentences import in_full
from autograder.release.course_folder import nbgrader_configuration
from autograder.release.outline import read_outline
from autograder.release.seeds import secret_seed

SECRET = "submission_secret.txt"
"""The exchange's: by it the feedback finds its way back to the student."""
KeyOf = Callable[[submissions.Submission], tuple[str, int]]
"""The journal's key of a submission, and the seed of the numbers that it is judged on."""


class Pool(Protocol):
    """Anything that turns jobs into outcomes."""

    def grade(self, jobs: Iterable[Job]) -> Iterator[Outcome]: ...


@dataclass(frozen=True)
class Change:
    """One mark, before and after."""

    student: str
    cell: str
    before: float
    after: float


@dataclass
class Report:
    """What one run did, for the summary and for machines."""

    assignment: str
    handed_in: int = 0
    unchanged: int = 0
    graded: int = 0
    problems: list[tuple[str, Note]] = field(default_factory=list)
    """Student, and what a person should know."""
    seconds: float = 0.0
    by_step: dict[str, float] = field(default_factory=dict)
    """Seconds of all submissions together."""
    needs_person: int = 0
    """Answers of this assignment, whenever they were graded."""
    changes: list[Change] = field(default_factory=list)
    """Marks that are others now though the answer is the same: a test was mended."""


@dataclass
class Listener:
    """What is told while a run goes on; the command draws a bar from it."""

    begin: Callable[[int], None] = lambda total: None
    done: Callable[[Outcome, list[Note]], None] = lambda outcome, problems: None
    left_out: Callable[[str, Note], None] = lambda name, reason: None


def grade_class(
    course: Path,
    stem: str,
    make_pool: Callable[[Path, bytes], AbstractContextManager[Pool]],
    *,
    only: str = "*",
    again: bool = False,
    device: str = "cpu",
    listener: Listener | None = None,
) -> Report:
    """Grade all that is new or changed; `again` grades everything.

    Raises CourseIsBusy, NotReleased, CannotRecord, and what the pool raises.
    """
    course, listener = course.resolve(), listener or Listener()
    started, report = time.perf_counter(), Report(stem)
    with _clear_words(), ExitStack() as stack:
        stack.enter_context(course_lock(course))
        package.demand_release(course, stem)
        config = nbgrader_configuration(course)
        data = package.pack(course, stem, course_limits(course, config))
        folder = Path(tempfile.mkdtemp(prefix="grading-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        package.unpack(data, folder)
        journal = stack.enter_context(Journal(course / "grading" / "journal.db"))
        recorder = stack.enter_context(recorder_of(course, config))
        labels = read_outline(course, stem).labels
        desk = _Desk(course, stem, journal, recorder, report, labels)
        desk.finish_what_was_begun()
        key_of = _keys(data, secret_seed(course, stem), device)
        students = submissions.students_with(course, stem, only)
        report.handed_in = len(students)
        todo = students if again else desk.changed(students, key_of)
        listener.begin(len(todo))
        for name, reason in submissions.left_out(course, stem, only):
            note = Note.of(Kind.NOT_READ, reason)
            report.problems.append((name, note))
            listener.left_out(name, note)
        if todo:
            pool = stack.enter_context(make_pool(folder, data))
            for outcome in pool.grade(desk.jobs(todo, key_of, device)):
                listener.done(outcome, desk.take(outcome))
        report.needs_person = recorder.waiting(stem)
    report.seconds = time.perf_counter() - started
    return report


@contextmanager
def _clear_words() -> Iterator[None]:
    """A disk that is full, a folder that may not be read or written to."""
    try:
        yield
    except BrokenPipeError:  # nobody reads any more what is told
        raise
    except OSError as error:
        raise CannotRecord(f"{error}. {MAKE_ROOM}") from error


def _keys(data: bytes, seed: int, device: str) -> KeyOf:
    checks, tests_import = package.digest(data), package.tests_import(data)
    environment = environment_fingerprint(tests_import) + f", on {device}" * (device != "cpu")
    return lambda handed: (journal_key(handed.content, checks, seed, environment), seed)


@dataclass
class _Desk:
    """Where outcomes arrive: journal, files, gradebook, log."""

    course: Path
    stem: str
    journal: Journal
    recorder: Recorder
    report: Report
    labels: dict[str, str]
    """What exercises are called in the logs."""

    def finish_what_was_begun(self) -> None:
        """An earlier run was stopped between judging and recording."""
        for outcome in self.journal.unrecorded(self.stem):
            self._settle(outcome)

    def changed(self, students: list[str], key_of: KeyOf) -> list[str]:
        """Those whose submission is not in the journal as it now stands.

        Of the others a changed time of handing in goes into the gradebook.
        """
        to_grade, handed_in = [], {}
        for student in students:
            key, _ = key_of(submissions.read(self.course, self.stem, student))
            if not self.journal.find(student, self.stem, key):
                to_grade.append(student)
                continue
            if time := submissions.handed_in(self.course, self.stem, student):
                handed_in[student] = time
            if not self._notebook_of(student).is_file() and (
                recorded := self.journal.last_recorded(student, self.stem)
            ):  # a run of nbgrader's own command that stopped has removed it
                self._write_out(recorded)
        for student in self.recorder.correct_times(self.stem, handed_in):
            self._copy_times(student)
        self.report.unchanged = len(students) - len(to_grade)
        return to_grade

    def jobs(self, students: list[str], key_of: KeyOf, device: str) -> Iterator[Job]:
        """Read one by one as workers ask for them: a class need not fit into memory."""
        for student in students:
            handed = submissions.read(self.course, self.stem, student)
            yield Job(student, self.stem, *key_of(handed), handed.files, device)

    def take(self, outcome: Outcome) -> list[Note]:
        """Keep and record what a worker gave back; what a person should know of it."""
        started = time.perf_counter()
        self.journal.store(outcome)
        problems = self._settle(outcome)
        recording = outcome.seconds.get("record", 0.0)
        outcome.seconds["keep files"] = time.perf_counter() - started - recording
        self.report.graded += 1
        for step, seconds in outcome.seconds.items():
            self.report.by_step[step] = self.report.by_step.get(step, 0.0) + seconds
        return problems

    def _settle(self, outcome: Outcome) -> list[Note]:
        problems = [*outcome.incidents]
        problems += [repair for repair in outcome.repairs if repair.kind in MAY_COST_MARKS]
        if any(mark.state == "not gradable" for mark in outcome.marks):
            problems.append(Note.of(Kind.NO_MARKS))
        previous = self.journal.last_recorded(outcome.student, self.stem)
        handed_in = submissions.handed_in(self.course, self.stem, outcome.student)
        started = time.perf_counter()
        try:
            self.recorder.record(outcome, previous, handed_in)
            outcome.seconds["record"] = time.perf_counter() - started
            self._write_out(outcome)
            self.journal.mark_recorded(outcome)
            self.report.changes += _changes(previous, outcome)
        except NotInGradebook as reason:
            problems.append(Note.of(Kind.NOT_RECORDED, str(reason)))
        self._log(outcome, problems)
        self.report.problems += [(outcome.student, problem) for problem in problems]
        return problems

    def _notebook_of(self, student: str) -> Path:
        return self.course / "autograded" / student / self.stem / f"{self.stem}.ipynb"

    def _write_out(self, outcome: Outcome) -> None:
        """What nbgrader's formgrader and feedback read."""
        notebook = self._notebook_of(outcome.student)
        write_atomically(notebook, outcome.notebook)
        self._copy_times(outcome.student)

    def _copy_times(self, student: str) -> None:
        folder = self._notebook_of(student).parent
        folder.mkdir(parents=True, exist_ok=True)
        handed_in = submissions.handed_in(self.course, self.stem, student)
        for name in ["timestamp.txt"] * bool(handed_in) + [SECRET]:
            line = submissions.read_line(self.course, self.stem, student, name)
            if line is not None:
                write_atomically(folder / name, line)

    def _log(self, outcome: Outcome, problems: list[Note]) -> None:
        """All of it but the notebook, for the instructor: notes as sentences."""
        log = asdict(outcome)
        del log["notebook"]
        notes = {"repairs": outcome.repairs, "incidents": outcome.incidents, "problems": problems}
        log |= {name: [in_full(note, self.labels) for note in notes[name]] for name in notes}
        path = log_of(self.course, self.stem, outcome.student)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(log, indent=1) + "\n")


def log_of(course: Path, stem: str, student: str) -> Path:
    """What the instructor may read of one student's grading; no process holds it."""
    return course / "grading" / stem / f"{student}.json"


def _changes(previous: Outcome | None, outcome: Outcome) -> Iterator[Change]:
    before = {mark.cell: mark for mark in previous.marks} if previous else {}
    for mark in outcome.marks:
        old = before.get(mark.cell)
        if old and old.answer == mark.answer and (old.points or 0.0) != (mark.points or 0.0):
            yield Change(outcome.student, mark.cell, old.points or 0.0, mark.points or 0.0)
