"""The small released course, what its students can get, and how a gradebook is looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa
from nbgrader.api import Base, Grade, Gradebook

from autograder.grading.outcome import Mark, Outcome, digest

SMALL_COURSE = Path(__file__).parents[1] / "exercises" / "good_solutions"
STEM = "01_rows"
CODE, BLOCKS, PROOF = "row-means-check", "what-a-mean-forgets-check", "mean-of-a-shift"
MOST = {CODE: 3.0, BLOCKS: 4.0, PROOF: 2.0}
COURSE_ID = "mathematics_of_attention"


def outcome(
    student: str = "ada",
    code: float | None = 3.0,
    blocks: float | None = 4.0,
    proof: str = "by induction",
    key: str = "key",
) -> Outcome:
    """All right but what is said; the proof waits for a person."""
    marks = (
        Mark(CODE, code, 3.0, answer=digest(f"code for {code}")),
        Mark(BLOCKS, blocks, 4.0, answer=digest(f"blocks for {blocks}")),
        Mark(PROOF, None, 2.0, state="by hand", answer=digest(proof)),
    )
    return Outcome(student, STEM, key, marks)


def with_mark(of: Outcome, cell: str, **changes: object) -> Outcome:
    marks = [replace(mark, **changes) if mark.cell == cell else mark for mark in of.marks]
    return replace(of, marks=tuple(marks))


def without_mark(of: Outcome, cell: str) -> Outcome:
    return replace(of, marks=tuple(mark for mark in of.marks if mark.cell != cell))


@contextmanager
def opened(url: str) -> Iterator[Gradebook]:
    with Gradebook(url, COURSE_ID) as gradebook:
        yield gradebook


def grade(url: str, cell: str, student: str = "ada") -> dict:
    with opened(url) as gradebook:
        return gradebook.find_grade(cell, STEM, STEM, student).to_dict()


def submission(url: str, student: str = "ada") -> dict:
    with opened(url) as gradebook:
        found = gradebook.find_submission(STEM, student)
        return found.to_dict() | {"late_submission_penalty": found.late_submission_penalty}


def mark_by_hand(url: str, cell: str, student: str = "ada", **values: float) -> None:
    """As the formgrader does when a person types a number."""
    with opened(url) as gradebook:
        by_hand(gradebook.find_grade(cell, STEM, STEM, student), **values)
        gradebook.db.commit()


def by_hand(grade: Grade, **values: float) -> None:
    for name, value in values.items():
        setattr(grade, name, value)
    grade.needs_manual_grade = grade.manual_score is None and grade.auto_score is None


def contents(url: str) -> dict[str, list]:
    """Every row of every table."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        tables = Base.metadata.tables.values()
        rows = {
            table.name: sorted(map(repr, connection.execute(table.select()))) for table in tables
        }
    engine.dispose()
    return rows
