"""`course feedback NN_topic`: one page for each student, where nbgrader hands feedback out from."""

from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track

from autograder.classroom.exchange import Exchange
from autograder.classroom.feedback_zip import known_folders, write_feedback_zip
from autograder.classroom.marks import settle_lateness
from autograder.commands.options import course_option
from autograder.release.course_folder import nbgrader_api, open_gradebook, the_assignment, why
from autograder.reports.feedback import write_feedback
from autograder.reports.results import Submission
from autograder.roster.students import known_students, labels

LOOK, NOTHING = 1, 2


@click.command()
@click.argument("chapter", metavar="NN_topic")
@click.option("--student", default="*", help="Only these; a pattern such as a* will do.")
@click.option("--exchange", is_flag=True, help="Put them into nbgrader's exchange, too.")
@course_option
def feedback(chapter: str, student: str, exchange: bool, course: Path) -> None:
    """Write a page for each student: marks, verdicts, hints, comments.

    Each is a single file that needs no server: mail it, put it on a learning platform, or with
    --exchange hand it back on a hub. Links into the book begin with what local_config.py says:
    c.Book.address = "https://...". Marks given by hand since are in it when you type it again.
    For a class that was collected from Moodle's zip, all go into one zip that Moodle takes back.
    Exit code 0: all written; 1: some could not be handed back, or are plain text because they could
    not be set; 2: nobody was graded.

    Example: course feedback 03_softmax
    """
    console = Console(soft_wrap=True, highlight=False)
    with open_gradebook(course) as gradebook:
        the_assignment(gradebook, chapter)
    settle_lateness(course, [chapter])
    plain: list[str] = []

    def note(whose: str, reason: str) -> None:
        plain.append(whose)
        words = "the page could not be set and shows text alone"
        click.echo(f"{whose}: {words} ({ascii(reason)})", err=True)

    written = write_feedback(course, chapter, student, _bar(console), note)
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
    raise SystemExit(LOOK if failed or plain else 0)


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
    Exchange.of(course).make()
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
