"""`course feedback NN_topic`: one page for each student, where nbgrader hands feedback out from."""

import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from html import escape
from pathlib import Path

from docutils.nodes import make_id

from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.grading import submissions
from autograder.grading.journal import Journal, course_lock
from autograder.grading.notes import FOR_THE_STUDENT, Note
from autograder.grading.outcome import Mark, Outcome
from autograder.grading.redact import for_student
from autograder.grading.sentences import in_full
from autograder.release.course_folder import nbgrader_configuration
from autograder.release.outline import read_outline
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


def write_feedback(
    course: Path,
    stem: str,
    only: str = "*",
    bar: Callable = iter,
    plain: Callable[[str, str], None] = lambda student, reason: None,
) -> list[Submission]:
    """Write a page for everybody who is graded; say for whom.

    No student's content stops another's page: one that cannot be made is written as plain text,
    and `plain` is told whose it is and why.
    """
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
            _write(course, stem, submission, typesetter, plain)
            written.append(submission)
        return written


def submissions_of(course: Path, stem: str, graded: list[Outcome]) -> list[Submission]:
    """What was found and what people wrote, together."""
    sheets, sections = read_sheets(course, stem), read_sections(course, stem)
    outline = read_outline(course, stem)
    return [
        Submission(
            outcome,
            sheets.get(outcome.student, Sheet(outcome.student)),
            outline,
            sections,
            mended_since(course, stem, submissions.read(course, stem, outcome.student).files),
        )
        for outcome in graded
    ]


def _write(
    course: Path,
    stem: str,
    submission: Submission,
    typesetter: Typesetter,
    plain: Callable[[str, str], None],
) -> None:
    student = submission.outcome.student
    folder = course / "feedback" / student / stem
    folder.mkdir(parents=True, exist_ok=True)
    try:
        html = feedback_page(course, stem, submission, typesetter)
    except CourseError:
        raise
    except Exception as error:  # what a stranger wrote may meet any fault of ours
        plain(student, f"{type(error).__name__}: {error}"[:200])
        html = plain_page(stem, submission.outcome)
    write_atomically(folder / f"{stem}.html", html)
    # nbgrader's release_feedback stops for the whole class where one of these is missing
    for name, otherwise in (
        ("timestamp.txt", ""),
        ("submission_secret.txt", secrets.token_hex(32)),
    ):
        line = submissions.read_line(course, stem, student, name)
        if line is not None or not (folder / name).is_file():
            write_atomically(folder / name, otherwise.encode() if line is None else line)


def feedback_page(course: Path, stem: str, submission: Submission, typesetter: Typesetter) -> str:
    """The page for one student, made of what this student may read."""
    submission = replace(submission, outcome=_redacted(submission.outcome))
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
        repairs=[in_full(note, submission.outline.labels) for note in submission.outcome.repairs],
        incidents=[in_full(note, submission.outline.labels) for note in _told(submission.outcome)],
    )


def plain_page(stem: str, outcome: Outcome) -> str:
    """The marks and verdicts as text alone, in which nothing can go wrong."""
    lines = [f"{stem}: feedback for {outcome.student}", ""]
    lines += ["Your page could not be set, so this one shows text alone.", ""]
    for mark in _redacted(outcome).marks:
        got = "not marked yet" if mark.points is None else f"{mark.points:g}"
        lines += ["", f"{mark.cell}: {got} of {mark.most:g} points", *filter(None, [mark.reason])]
        for finding in mark.findings:
            lines.append(f"  {'holds' if finding.passed else 'does not hold'}: {finding.property}")
            lines += [f"    {finding.evidence}"] * (not finding.passed)
    text = "\n".join(lines).encode(errors="replace").decode()
    head = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(stem)}</title>'
    return f"{head}<pre>{escape(text)}</pre></html>\n"


def _redacted(outcome: Outcome) -> Outcome:
    def mark_of(mark: Mark) -> Mark:
        return replace(mark, findings=tuple(map(for_student, mark.findings)))

    return replace(outcome, marks=tuple(map(mark_of, outcome.marks)))


def _told(outcome: Outcome) -> list[Note]:
    """What the student's own code did, unless a hidden test could be told by it."""
    return [
        note for note in outcome.incidents if note.kind in FOR_THE_STUDENT and not note.fact.hidden
    ]


def anchor(result: Result) -> str:
    """Where the book explains it: the section that the exercise names, else its own box."""
    return make_id(result.section) if result.section else f"ex-{result.exercise.slug}"
