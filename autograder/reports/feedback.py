"""`course feedback NN_topic`: one page for each student, where nbgrader hands feedback out from."""

import os
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path

import click
from docutils.nodes import make_id
from rich.console import Console
from rich.progress import track

from autograder.classroom.feedback_zip import known_folders, write_feedback_zip
from autograder.classroom.folder import open_gradebook, the_assignment
from autograder.classroom.marks import settle_lateness
from autograder.classroom.students import known_students, labels
from autograder.grading import submissions
from autograder.grading.journal import CannotRecord, CourseIsBusy, Journal, course_lock
from autograder.grading.outcome import Finding, Outcome
from autograder.notebooks import nbgrader_configuration
from autograder.release import course_option, nbgrader_api, why
from autograder.reports.results import (
    Result,
    Sheet,
    Submission,
    mended_since,
    read_sections,
    read_sheets,
)
from autograder.reports.text import Typesetter, page

LOOK, NOTHING = 1, 2
LETTERS = 20_000
WITHHELD = "Its numbers stay with the grader."


@click.command()
@click.argument("chapter", metavar="NN_topic")
@click.option("--student", default="*", help="Only these; a pattern such as a* will do.")
@click.option("--exchange", is_flag=True, help="Put them into nbgrader's exchange, too.")
@course_option
def feedback(chapter: str, student: str, exchange: bool, course: Path) -> None:
    """Write one page for each student: marks, verdicts, named mistakes, hints, comments.

    Each is a single file that needs no server: mail it, put it on a learning platform, or with
    --exchange hand it back on a hub. Links into the book begin with what local_config.py says:
    c.Book.address = "https://...". Marks given by hand since are in it when you type it again.
    For a class that was collected from Moodle's zip, all go into one zip that Moodle takes back.
    Exit code 0: all written; 1: some could not be handed back; 2: nobody was graded.

    Example: course feedback 03_softmax
    """
    console = Console(soft_wrap=True, highlight=False)
    with open_gradebook(course) as gradebook:
        the_assignment(gradebook, chapter)
    try:
        settle_lateness(course, [chapter])
        written = write_feedback(course, chapter, student, _bar(console))
    except (CannotRecord, CourseIsBusy) as reason:
        click.echo(f"Error: {reason}", err=True)
        raise SystemExit(NOTHING) from None
    if not written:
        click.echo(f"nobody was graded yet; type  course grade {chapter}", err=True)
        raise SystemExit(NOTHING)
    pages = f"{len(written)} page{'s' * (len(written) != 1)}"
    console.print(f"{chapter}: {pages}  {course / 'feedback'}/*/{chapter}")
    if waiting := sum(bool(submission.waits) for submission in written):
        console.print(
            f"{waiting} of them say that a person has still to look: mark in the formgrader, "
            "then type the same again"
        )
    if known_folders(course, chapter):
        _zip_for_moodle(course, chapter, [submission.outcome.student for submission in written])
    failed = _hand_back(course, chapter, written) if exchange else 0
    if exchange:
        console.print("in the exchange, too: students find them under Assignments, Fetch Feedback")
    raise SystemExit(LOOK if failed else 0)


def _zip_for_moodle(course: Path, chapter: str, students: list[str]) -> None:
    """With the pages that were written before, since a new zip takes the place of the old."""
    there = {path.parent.parent.name for path in (course / "feedback").glob(f"*/{chapter}/*.html")}
    others = sorted((there & known_folders(course, chapter).keys()) - set(students))
    target, without = write_feedback_zip(course, chapter, [*students, *others])
    click.echo(f"for Moodle: {target}")
    click.echo("  in the assignment: Grading action, Upload multiple feedback files in a zip")
    if without:
        names = ", ".join(map(labels(known_students(course)), without))
        click.echo(f"  not in it, since they were not collected from Moodle: {names}")


def _hand_back(course: Path, chapter: str, written: list[Submission]) -> int:
    """Through nbgrader's exchange; the number of those that could not be given."""
    api, failed = nbgrader_api(course), 0
    for submission in written:
        given = api.release_feedback(chapter, submission.outcome.student)
        if not given["success"]:
            failed += 1
            click.echo(f"{submission.outcome.student}: {why(given)}", err=True)
    return failed


def _bar(console: Console) -> Callable:
    quiet = not console.is_terminal
    return lambda these: track(these, "writing", console=console, transient=True, disable=quiet)


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
