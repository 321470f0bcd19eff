"""What is known of one submission: the grader's outcome, and what people wrote into the gradebook.

The journal has the findings, nbgrader's gradebook what counts in the end; here they meet, exercise
by exercise, under the titles of the release. All of this names people: what may not goes through
`anonymous`, what a student sees through `redact.for_student`.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
import sqlalchemy as sa

from autograder.grading.database import Database
from autograder.grading.gradebook import (
    ASSIGNMENT,
    CELL,
    COMMENT,
    GRADE,
    NO_RESPONSE,
    STUDENT,
    SUBMISSION,
    SUBMITTED,
)
from autograder.grading.outcome import Mark, Outcome
from autograder.grading.rebuild import read_json
from autograder.release.course_folder import gradebook_address
from autograder.release.outline import Outline, OutlinedExercise
from course_lib.checking import percent
from course_lib.checking.findings import Finding


@dataclass
class Row:
    """What the gradebook has under one cell of one student."""

    by_hand: float | None = None
    extra: float = 0.0
    waits: bool = False
    comment: str = ""
    """A person's own words."""


@dataclass
class Sheet:
    """One student in the gradebook."""

    student: str
    name: str = ""
    penalty: float = 0.0
    cells: dict[str, Row] = field(default_factory=dict)


@dataclass
class Result:
    """One exercise of one student."""

    exercise: OutlinedExercise
    mark: Mark | None
    """None where nothing is graded: a proof that the student marks, or nobody."""
    row: Row
    comment: str = ""
    section: str = ""
    mended: bool = False
    """A visible test is another now than in the version that the student worked with."""
    answer: str = ""
    attachments: dict[str, Any] = field(default_factory=dict)
    outputs: list[nbformat.NotebookNode] = field(default_factory=list)

    @property
    def in_words(self) -> bool:
        """A proof that a person marks."""
        return self.mark is not None and self.mark.cell == self.exercise.cells.answer

    @property
    def points(self) -> float | None:
        """What counts, a person's mark before the grader's; None where nobody has marked yet."""
        by_machine = self.mark.points if self.mark else None
        counts = self.row.by_hand if self.row.by_hand is not None else by_machine
        return None if counts is None else counts + self.row.extra

    @property
    def share(self) -> float:
        most = self.mark.most if self.mark else 0.0
        return min(1.0, (self.points or 0.0) / most) if most else 0.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.mark.findings if self.mark else ()

    @property
    def failed(self) -> list[Finding]:
        """What does not hold, the core property first."""
        return sorted((f for f in self.findings if not f.passed), key=lambda f: not f.core)

    @property
    def held(self) -> list[Finding]:
        return [finding for finding in self.findings if finding.passed]

    @property
    def core_missing(self) -> bool:
        return any(finding.core for finding in self.failed)

    @property
    def figures(self) -> list[str]:
        """The PNGs that the student's cells showed."""
        bundles = (output.get("data", {}) for output in self.outputs)
        return [data["image/png"] for data in bundles if "image/png" in data]

    @property
    def printed(self) -> str:
        texts = []
        for output in self.outputs:
            if output.output_type == "stream":
                texts.append(output.text)
            elif output.output_type == "error":
                texts.append("\n".join(output.traceback) or f"{output.ename}: {output.evalue}")
            elif "image/png" not in output.data and "text/plain" in output.data:
                texts.append(output.data["text/plain"] + "\n")
        return "".join(texts).strip()


@dataclass
class Submission:
    """One student's submission, exercise by exercise."""

    outcome: Outcome
    sheet: Sheet
    outline: Outline
    sections: dict[str, str] = field(default_factory=dict)
    """Exercise: the section of the chapter where it is explained."""
    mended: frozenset[str] = frozenset()
    """Exercises whose visible tests have changed since the student's notebook was handed out."""

    @cached_property
    def notebook(self) -> nbformat.NotebookNode:
        return nbformat.reads(self.outcome.notebook, as_version=4)

    @property
    def title(self) -> str:
        """That of the chapter: in the notebook a student may have put something above it."""
        return self.outline.heading

    @cached_property
    def results(self) -> list[Result]:
        marks = {mark.cell: mark for mark in self.outcome.marks}
        of_task = {}
        for exercise in self.outline.exercises:
            cells = exercise.cells
            mark = marks.get(cells.check) or marks.get(cells.answer)
            of_task[cells.task] = Result(
                exercise,
                mark,
                self.sheet.cells.get(mark.cell, Row()) if mark else Row(),
                self.sheet.cells.get(cells.answer, Row()).comment,
                self.sections.get(exercise.name, ""),
                exercise.name in self.mended,
            )
        self._take_answers(of_task)
        return list(of_task.values())

    def _take_answers(self, of_task: dict[str, Result]) -> None:
        """What stands in the notebook from one task to the next."""
        result = None
        for cell in self.notebook.cells:
            result = of_task.get(cell.id, result)
            if result is None:
                continue
            if cell.id == result.exercise.cells.answer:
                result.answer, result.attachments = cell.source, cell.get("attachments", {})
            if cell.cell_type == "code" and cell.id != result.exercise.cells.check:
                result.outputs += cell.outputs

    @property
    def points(self) -> float:
        marked = (result.points or 0.0 for result in self.results if result.mark)
        return max(0.0, sum(marked) - self.sheet.penalty)

    @property
    def most(self) -> float:
        return sum(mark.most for mark in self.outcome.marks)

    @property
    def waits(self) -> list[Result]:
        """Those that a person has still to look at."""
        return [r for r in self.results if r.mark and (r.row.waits or r.points is None)]


def read_sheets(course: Path, stem: str) -> dict[str, Sheet]:
    """Every student of the course; those who handed nothing in have no cells."""
    database = Database(gradebook_address(course))
    try:
        return database.transact(lambda db: _sheets(db, stem))
    finally:
        database.close()


def _sheets(db: sa.Connection, stem: str) -> dict[str, Sheet]:
    sheets = {}
    for row in db.execute(sa.select(STUDENT.c.id, STUDENT.c.first_name, STUDENT.c.last_name)):
        name = " ".join(filter(None, (row.first_name, row.last_name)))
        sheets[row.id] = Sheet(row.id, name)
    handed_in = (
        sa.select(SUBMISSION.c.student_id, SUBMITTED.c.id, SUBMITTED.c.late_submission_penalty)
        .join_from(SUBMISSION, ASSIGNMENT, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
        .join(SUBMITTED, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
        .where(ASSIGNMENT.c.name == stem)
    )
    of_notebook = {}
    for row in db.execute(handed_in):
        of_notebook[row.id] = sheets[row.student_id]
        sheets[row.student_id].penalty = row.late_submission_penalty or 0.0
    for table in (GRADE, COMMENT):
        for row in db.execute(
            sa.select(table, CELL.c.name)
            .join_from(table, CELL, table.c.cell_id == CELL.c.id)
            .join(SUBMITTED, table.c.notebook_id == SUBMITTED.c.id)
            .join(SUBMISSION, SUBMITTED.c.assignment_id == SUBMISSION.c.id)
            .join(ASSIGNMENT, SUBMISSION.c.assignment_id == ASSIGNMENT.c.id)
            .where(ASSIGNMENT.c.name == stem)
        ):
            cell = of_notebook[row.notebook_id].cells.setdefault(row.name, Row())
            if table is GRADE:
                cell.by_hand = row.manual_score
                cell.extra, cell.waits = row.extra_credit or 0.0, bool(row.needs_manual_grade)
            elif row.manual_comment and row.manual_comment != NO_RESPONSE:
                cell.comment = row.manual_comment
    return sheets


def read_sections(course: Path, stem: str) -> dict[str, str]:
    """Where in the chapter each exercise is explained, as its release says."""
    records = sorted((course / "grader" / stem / "checks").glob("*/record.json"))
    return {path.parent.name: json.loads(path.read_text())["section"] for path in records}


def mended_since(course: Path, stem: str, files: dict[str, bytes]) -> frozenset[str]:
    """Exercises whose visible tests are others now than in what was handed in."""
    path = course / "versions" / f"{stem}.json"
    versions = json.loads(path.read_text()) if path.is_file() else {}
    theirs = next((v for v in map(_version, files.values()) if v in versions), None)
    if theirs is None:
        return frozenset()
    before, now = versions[theirs], versions[next(reversed(versions))]
    return frozenset(name for name in now if before.get(name) != now[name])


def _version(file: bytes) -> str:
    """What a stranger's file says of itself: a notebook, or a plain one."""
    try:
        version = read_json(file.decode("utf-8-sig"))["metadata"]["course"]["version"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return percent.version_in(file.decode("utf-8-sig", errors="replace"))
    return version if isinstance(version, str) else ""
