"""`course feedback NN_topic`: one page for each student, where nbgrader hands feedback out from."""

import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from docutils.nodes import make_id

from autograder.grading import submissions
from autograder.grading.journal import Journal, course_lock
from autograder.grading.outcome import Finding, Outcome
from autograder.release.course_folder import nbgrader_configuration
from autograder.reports.pages import page
from autograder.reports.results import (
    Result,
    Sheet,
    Submission,
    mended_since,
    read_sections,
    read_sheets,
)
from autograder.typeset.typesetter import Typesetter

LETTERS = 20_000
WITHHELD = "Its numbers stay with the grader."


def write_feedback(
    course: Path, stem: str, only: str = "*", bar: Callable = iter
) -> list[Submission]:
    """Write a page for everybody who is graded; say for whom."""
    course = course.resolve()
    with ExitStack() as stack:
        stack.enter_context(course_lock(course))
        journal = stack.enter_context(Journal(course / "grading" / "journal.db"))
        typesetter = stack.enter_context(Typesetter())
        graded = [s for s in journal.recorded(stem) if fnmatchcase(s.student, only)]
        if not graded:
            return []
        written = []
        for submission in bar(submissions_of(course, stem, graded)):
            _write(course, stem, submission, typesetter)
            written.append(submission)
        return written


def submissions_of(course: Path, stem: str, graded: list[Outcome]) -> list[Submission]:
    """What was found and what people wrote, together."""
    sheets, sections = read_sheets(course, stem), read_sections(course, stem)
    return [
        Submission(
            outcome,
            sheets.get(outcome.student, Sheet(outcome.student)),
            sections,
            mended_since(course, stem, submissions.read(course, stem, outcome.student).files),
        )
        for outcome in graded
    ]


def _write(course: Path, stem: str, submission: Submission, typesetter: Typesetter) -> None:
    student = submission.outcome.student
    folder = course / "feedback" / student / stem
    folder.mkdir(parents=True, exist_ok=True)
    html = feedback_page(course, stem, submission, typesetter)
    _whole(folder / f"{stem}.html", html)
    # nbgrader's release_feedback stops for the whole class where one of these is missing
    handed = course / "submitted" / student / stem
    for name, otherwise in (
        ("timestamp.txt", ""),
        ("submission_secret.txt", secrets.token_hex(32)),
    ):
        path = handed / name
        known = path.is_file() and not path.is_symlink()
        if known or not (folder / name).is_file():
            (folder / name).write_bytes(path.read_bytes() if known else otherwise.encode())


def feedback_page(course: Path, stem: str, submission: Submission, typesetter: Typesetter) -> str:
    handed_in = submissions.handed_in(course, stem, submission.outcome.student)
    address = nbgrader_configuration(course).Book.get("address", "")
    return page(
        "feedback.html",
        typesetter,
        stem=stem,
        submission=submission,
        who=submission.sheet.name or submission.outcome.student,
        handed_in=f"{handed_in:%d %B %Y, %H:%M} UTC" if handed_in else "",
        made=f"{datetime.now(UTC):%d %B %Y}",
        site=address.rstrip("/"),
        letters=LETTERS,
        anchor=anchor,
        evidence=evidence,
        said=said,
    )


def anchor(result: Result) -> str:
    """Where the book explains it: the section that the exercise names, else its own box."""
    return make_id(result.section) if result.section else f"ex-{result.slug}"


def evidence(finding: Finding) -> str:
    """As much of it as may be known."""
    if finding.hidden and not finding.evidence.startswith("it raised"):
        return WITHHELD
    return finding.evidence


def said(result: Result) -> str:
    """Why there are no verdicts, without the name that stands above it."""
    return result.mark.comment.removeprefix(f"{result.slug.replace('-', '_')}: ")


def _whole(path: Path, text: str) -> None:
    """Whole or not at all."""
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
