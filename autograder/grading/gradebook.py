"""The one writer of nbgrader's gradebook: one transaction for each submission.

nbgrader cannot write a whole submission at once; this writes its tables, giving them what its own
autograde would. Two things are better: an automatic mark never outlives the submission that earned
it, and a mark given by hand asks for a second look only where the answer has changed.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import sqlalchemy as sa
from nbgrader.api import Base, new_uuid
from nbgrader.preprocessors import AssignLatePenalties
from nbgrader.utils import parse_utc
from traitlets.config import Config

from autograder.grading.database import Database
from autograder.grading.journal import CannotRecord
from autograder.grading.outcome import Mark, Outcome
from autograder.roster.extensions import Extensions, read_extensions
from autograder.roster.students import LIST

TABLES = Base.metadata.tables
STUDENT, ASSIGNMENT, NOTEBOOK = (TABLES[name] for name in ("student", "assignment", "notebook"))
CELL, GRADE_CELL, TASK_CELL = (TABLES[name] for name in ("base_cell", "grade_cells", "task_cells"))
SUBMISSION, SUBMITTED = TABLES["submitted_assignment"], TABLES["submitted_notebook"]
GRADE, COMMENT = TABLES["grade"], TABLES["comment"]
USED = (
    *(STUDENT, ASSIGNMENT, NOTEBOOK, CELL, GRADE_CELL, TASK_CELL),
    *(SUBMISSION, SUBMITTED, GRADE, COMMENT),
)

NO_RESPONSE = "No response."
"""nbgrader's own words under an answer that was left as it came."""
CHECK = "-check"
"""What the name of a checking cell has more than the name of the answer it checks."""
ROUNDING = 1e-9


def recorder_of(course: Path, config: Config) -> "Recorder":
    """The one for this course: its gradebook, its policy, its students, its extensions."""
    url = config.CourseDirectory.get("db_url") or f"sqlite:///{course / 'gradebook.db'}"
    has_no_list = not (course / LIST).is_file()
    return Recorder(url, config, create_students=has_no_list, extensions=read_extensions(course))


class NotInGradebook(CannotRecord):
    """No such student, assignment or cell: this submission is left out, others may go on."""


class Recorder:
    """Write outcomes one after the other into the gradebook at `db_url`.

    For the command's process alone, under the course's lock. Raises CannotRecord where the database
    cannot be used, NotInGradebook where one submission has no place in it.

    `config` is the course's nbgrader configuration; of it the late penalty is used.
    """

    def __init__(
        self,
        db_url: str,
        config: Config | None = None,
        create_students: bool = True,
        extensions: Extensions | None = None,
    ):
        self._database = Database(db_url)
        self._create_students = create_students
        self._extensions = extensions or Extensions([])
        self._late = AssignLatePenalties(config=config or Config())
        self._late.init_plugin()

    def __enter__(self) -> "Recorder":
        try:
            self._database.transact(self._check_tables)
        except BaseException:
            self._database.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def record(
        self,
        outcome: Outcome,
        previous: Outcome | None = None,
        handed_in: datetime | None = None,
    ) -> None:
        """Put the outcome into the gradebook, whole or not at all; doing so twice changes nothing.

        `previous` is what was recorded before: from it follows which answers a person has not seen.
        Without it every mark given by hand asks for a second look. Without `handed_in`, the time
        that the gradebook has stays.
        """
        if previous and _whose(previous) != _whose(outcome):
            raise ValueError(f"{_whose(previous)} came before {_whose(outcome)}?")
        before = {mark.cell: mark for mark in previous.marks} if previous else {}
        self._database.transact(lambda db: self._write(db, outcome, before, parse_utc(handed_in)))

    def settle_lateness(self, assignment: str) -> None:
        """Extensions and penalties, where marks were given by hand or more time after grading."""
        self._database.transact(lambda db: self._settle_lateness(db, assignment))

    def correct_times(self, assignment: str, handed_in: Mapping[str, datetime]) -> list[str]:
        """Whose work was handed in at another time than the gradebook has: by student, in UTC.

        Their lateness counts from here on, though nothing of theirs is judged again.
        """
        return self._database.transact(lambda db: self._correct_times(db, assignment, handed_in))

    def waiting(self, assignment: str) -> int:
        """Answers that a person has still to look at."""
        count = (
            sa.select(sa.func.count(GRADE.c.id))
            .join(SUBMITTED, GRADE.c.notebook_id == SUBMITTED.c.id)
            .join(SUBMISSION, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
            .join(ASSIGNMENT, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
            .where(ASSIGNMENT.c.name == assignment, GRADE.c.needs_manual_grade)
        )
        return self._database.transact(lambda db: db.scalar(count) or 0)

    def _correct_times(
        self, db: sa.Connection, name: str, handed_in: Mapping[str, datetime]
    ) -> list[str]:
        recorded = db.execute(
            sa.select(SUBMISSION.c.student_id, SUBMISSION.c.timestamp)
            .join(ASSIGNMENT, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
            .where(ASSIGNMENT.c.name == name)
        )
        others = {
            student: handed_in[student]
            for student, timestamp in recorded
            if handed_in.get(student, timestamp) != timestamp
        }
        if others:
            self._settle_lateness(db, name, others)
        return sorted(others)

    def _settle_lateness(
        self, db: sa.Connection, name: str, handed_in: Mapping[str, datetime] | None = None
    ) -> None:
        counts = sa.func.coalesce(GRADE.c.manual_score, GRADE.c.auto_score)
        score = sa.func.sum(counts + sa.func.coalesce(GRADE.c.extra_credit, 0.0))
        columns = (SUBMITTED.c.id, SUBMISSION.c.student_id, ASSIGNMENT.c.id.label("assignment"))
        submitted = db.execute(
            sa.select(*columns, ASSIGNMENT.c.duedate, score.label("score"))
            .join_from(SUBMITTED, SUBMISSION, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
            .join(ASSIGNMENT, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
            .outerjoin(GRADE, GRADE.c.notebook_id == SUBMITTED.c.id)
            .where(ASSIGNMENT.c.name == name)
            .group_by(*columns, ASSIGNMENT.c.duedate)
        ).all()
        for row in submitted:
            more_time = self._extensions.of(row.student_id, name)
            time = (handed_in or {}).get(row.student_id)
            submission = _submission(db, row.assignment, row.student_id, time, more_time)
            late = _seconds_late(row, submission)
            penalty = self._penalty(row.student_id, row.score or 0.0, late)
            this = SUBMITTED.c.id == row.id
            db.execute(SUBMITTED.update().where(this).values(late_submission_penalty=penalty))

    def _write(
        self,
        db: sa.Connection,
        outcome: Outcome,
        before: dict[str, Mark],
        handed_in: datetime | None,
    ) -> None:
        assignment = _assignment(db, outcome)
        cells = _cells(db, assignment.notebook_id)
        _check_same_assignment(outcome, cells)
        self._admit(db, outcome.student)
        more_time = self._extensions.of(outcome.student, outcome.assignment)
        submission = _submission(db, assignment.id, outcome.student, handed_in, more_time)
        notebook = _submitted_notebook(db, assignment.notebook_id, submission.id)
        graded = [cell for cell in cells if cell.max_score is not None]
        answered = [cell for cell in cells if cell.type != "GradeCell"]
        _write_comments(db, notebook, answered, outcome.marks)
        score = _write_grades(db, notebook, graded, outcome.marks, before)
        penalty = self._penalty(outcome.student, score, _seconds_late(assignment, submission))
        this = SUBMITTED.c.id == notebook
        db.execute(SUBMITTED.update().where(this).values(late_submission_penalty=penalty))

    def _admit(self, db: sa.Connection, student: str) -> None:
        if len(student) > STUDENT.c.id.type.length or student != _storable(student):
            raise NotInGradebook(f"{student!r} cannot be a student's name in the gradebook.")
        if db.execute(sa.select(STUDENT.c.id).where(STUDENT.c.id == student)).first():
            return
        if not self._create_students:
            raise NotInGradebook(
                f"{student} is not in the list of students. If that is one of yours, type  "
                f"nbgrader db student add {student}  and grade again."
            )
        db.execute(STUDENT.insert().values(id=student))

    def _penalty(self, student: str, score: float, seconds_late: float) -> float | None:
        """As nbgrader's AssignLatePenalties: the plugin is asked about late ones only."""
        if not seconds_late:
            return None
        penalty = self._late.plugin_inst.late_submission_penalty(student, score, seconds_late)
        return None if penalty is None else min(max(penalty, 0), score)

    def _check_tables(self, db: sa.Connection) -> None:
        inspector = sa.inspect(db)
        names = set(inspector.get_table_names())
        for table in USED:
            if table.name not in names:
                raise CannotRecord(
                    f"{self._database.url} has no table {table.name}, so it is no gradebook of "
                    "nbgrader. `course release` makes one."
                )
            there = {column["name"] for column in inspector.get_columns(table.name)}
            if missing := set(table.columns.keys()) - there:
                raise CannotRecord(
                    f"The gradebook {self._database.url} is of an older nbgrader: its table "
                    f"{table.name} has no {' and no '.join(sorted(missing))}. Type  nbgrader db "
                    "upgrade  in the course folder, then the same command again."
                )


def _whose(outcome: Outcome) -> str:
    return f"{outcome.assignment} of {outcome.student}"


def _assignment(db: sa.Connection, outcome: Outcome) -> sa.Row:
    notebooks = db.execute(
        sa.select(ASSIGNMENT.c.id, ASSIGNMENT.c.duedate, NOTEBOOK.c.id.label("notebook_id"))
        .join_from(ASSIGNMENT, NOTEBOOK)
        .where(ASSIGNMENT.c.name == outcome.assignment)
    ).all()
    if not notebooks:
        raise NotInGradebook(
            f"The gradebook has no assignment {outcome.assignment}. Type  course release "
            f"{outcome.assignment}  and grade again."
        )
    if len(notebooks) > 1:
        raise NotInGradebook(
            f"In the gradebook {outcome.assignment} has {len(notebooks)} notebooks; the course "
            "grades one in each assignment. Take the others out of its source folder and release "
            "again."
        )
    return notebooks[0]


def _cells(db: sa.Connection, notebook_id: str) -> Sequence[sa.Row]:
    """All that can carry a grade (those with a max_score) or a comment (all but GradeCell)."""
    max_score = sa.func.coalesce(GRADE_CELL.c.max_score, TASK_CELL.c.max_score)
    return db.execute(
        sa.select(CELL.c.id, CELL.c.name, CELL.c.type, max_score.label("max_score"))
        .outerjoin_from(CELL, GRADE_CELL, GRADE_CELL.c.id == CELL.c.id)
        .outerjoin(TASK_CELL, TASK_CELL.c.id == CELL.c.id)
        .where(CELL.c.notebook_id == notebook_id)
    ).all()


def _check_same_assignment(outcome: Outcome, cells: Sequence[sa.Row]) -> None:
    worth = {cell.name: cell.max_score for cell in cells if cell.max_score is not None}
    for mark in outcome.marks:
        if worth.get(mark.cell) != mark.most:
            there = f"gives {worth[mark.cell]}" if mark.cell in worth else "does not have it"
            raise NotInGradebook(
                f"{_whose(outcome)} was graded for another release: {mark.cell} is worth "
                f"{mark.most} points, and the gradebook {there}. Type  course release "
                f"{outcome.assignment}  and grade again."
            )


def _submission(
    db: sa.Connection,
    assignment_id: str,
    student: str,
    handed_in: datetime | None,
    more_time: timedelta | None,
) -> sa.Row:
    this = (SUBMISSION.c.assignment_id == assignment_id) & (SUBMISSION.c.student_id == student)
    find = sa.select(SUBMISSION.c.id, SUBMISSION.c.timestamp, SUBMISSION.c.extension).where(this)
    if not db.execute(find).first():
        db.execute(SUBMISSION.insert().values(assignment_id=assignment_id, student_id=student))
    if handed_in:
        db.execute(SUBMISSION.update().where(this).values(timestamp=handed_in))
    if more_time is not None:
        db.execute(SUBMISSION.update().where(this).values(extension=more_time or None))
    return db.execute(find).one()


def _submitted_notebook(db: sa.Connection, notebook_id: str, submission_id: str) -> str:
    ids = {"notebook_id": notebook_id, "assignment_id": submission_id}
    existing: str | None = db.scalar(sa.select(SUBMITTED.c.id).filter_by(**ids))
    if existing:
        return existing
    new: str = new_uuid()
    db.execute(SUBMITTED.insert().values(ids | {"id": new}))
    return new


def _seconds_late(assignment: sa.Row, submission: sa.Row) -> float:
    if assignment.duedate is None or submission.timestamp is None:
        return 0.0
    due = assignment.duedate + (submission.extension or timedelta())
    late: timedelta = submission.timestamp - due
    return max(0.0, late.total_seconds())


def _write_grades(
    db: sa.Connection,
    notebook: str,
    cells: Sequence[sa.Row],
    marks: tuple[Mark, ...],
    before: dict[str, Mark],
) -> float:
    """Write the automatic marks of one notebook, and return its score as nbgrader adds it up."""
    mark_of = {mark.cell: mark for mark in marks}
    rows = _rows(db, GRADE, notebook, cells)
    updates, score = [], 0.0
    for cell in cells:
        row, mark = rows[cell.id], mark_of.get(cell.name)
        points, needs_person = _verdict(mark, cell.max_score)
        counts = points
        if row.manual_score is not None:
            counts = row.manual_score
            needs_person = row.needs_manual_grade or _differ(mark, before.get(cell.name))
        if counts is not None:
            score += counts + (row.extra_credit or 0.0)
        updates.append({"row": row.id, "auto_score": points, "needs_manual_grade": needs_person})
    _update(db, GRADE, updates)
    return score


def _verdict(mark: Mark | None, most: float) -> tuple[float | None, bool]:
    """The automatic score, and whether a person must look. No valid verdict is worth nothing."""
    if mark is None:
        return 0.0, True
    if mark.points is None:
        return (None if mark.state == "by hand" else 0.0), True
    if not 0 <= mark.points <= most + ROUNDING:  # which NaN is not, either
        return 0.0, True
    return float(mark.points), mark.needs_person


def _differ(mark: Mark | None, before: Mark | None) -> bool:
    """Whether there is something that was not there when a person gave this mark."""
    if mark is None or before is None:
        return True
    return (mark.answer, mark.points) != (before.answer, before.points)


def _write_comments(
    db: sa.Connection, notebook: str, cells: Sequence[sa.Row], marks: tuple[Mark, ...]
) -> None:
    """A comment stands under the answer, the mark of a function in the cell that checks it."""
    mark_of = {mark.cell.removesuffix(CHECK): mark for mark in marks}
    rows = _rows(db, COMMENT, notebook, cells)
    comments = {cell.id: _comment(mark_of.get(cell.name)) for cell in cells}
    updates = [{"row": rows[cell].id, "auto_comment": text} for cell, text in comments.items()]
    _update(db, COMMENT, updates)


def _comment(mark: Mark | None) -> str | None:
    if mark is None:
        return None
    if mark.comment:
        return _storable(mark.comment)
    return NO_RESPONSE if mark.state == "not attempted" else None


def _storable(text: str) -> str:
    """Without what a database refuses to keep."""
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _rows(
    db: sa.Connection, table: sa.Table, notebook: str, cells: Sequence[sa.Row]
) -> dict[str, sa.Row]:
    """One row for each cell, made where it is missing, held until the transaction ends.

    Both columns are named, since nbgrader's only index on these big tables begins with the cell.
    """
    wanted = [cell.id for cell in cells]
    find = (
        sa.select(table)
        .where(table.c.cell_id.in_(wanted), table.c.notebook_id == notebook)
        .with_for_update()
    )
    rows = {row.cell_id: row for row in db.execute(find)}
    if missing := [cell for cell in wanted if cell not in rows]:
        new = [{"cell_id": cell, "notebook_id": notebook} for cell in missing]
        db.execute(table.insert(), new)
        rows = {row.cell_id: row for row in db.execute(find)}
    return rows


def _update(db: sa.Connection, table: sa.Table, updates: list[dict]) -> None:
    if updates:
        db.execute(table.update().where(table.c.id == sa.bindparam("row")), updates)
