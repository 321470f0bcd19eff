"""`course feedback NN_topic`: a page for each student, and the way back to them."""

from fnmatch import fnmatch
from pathlib import Path

import click
from rich.progress import track

from autograder.classroom.folder import open_gradebook, the_assignment
from autograder.classroom.marks import settle_lateness
from autograder.release import course_option, nbgrader_api

LOOK, NOTHING = 1, 2


@click.command()
@click.argument("chapter", metavar="NN_topic")
@click.option("--student", default="*", help="Only these; a pattern such as a* will do.")
@click.option("--exchange", is_flag=True, help="Put them into nbgrader's exchange, too.")
@course_option
def feedback(chapter: str, student: str, exchange: bool, course: Path) -> None:
    """Make the feedback page of everybody who was graded; with --exchange, hand it back on a hub.

    Marks and comments given by hand are in it, and late penalties follow them. Again makes the
    pages anew. Exit code 0: all made; 1: some could not be made; 2: nobody was graded.

    Example: course feedback 03_softmax
    """
    with open_gradebook(course) as gradebook:
        the_assignment(gradebook, chapter)
    graded = sorted(
        path.parent.name
        for path in (course / "autograded").glob(f"*/{chapter}")
        if fnmatch(path.parent.name, student)
    )
    if not graded:
        click.echo(f"nobody was graded yet; type  course grade {chapter}", err=True)
        raise SystemExit(NOTHING)
    settle_lateness(course, [chapter])
    api, failed = nbgrader_api(course), 0
    for name in track(graded, "feedback", transient=True):
        made = api.generate_feedback(chapter, name, force=True)
        if not made["success"]:
            failed += 1
            click.echo(f"{name}: {made.get('error') or made['log']}", err=True)
    click.echo(f"{chapter}: {len(graded) - failed} pages  {course / 'feedback'}/*/{chapter}")
    if exchange:
        for name in graded:
            given = api.release_feedback(chapter, name)
            if not given["success"]:
                failed += 1
                click.echo(f"{name}: {given.get('error') or given['log']}", err=True)
        click.echo("in the exchange, too: students find them under Assignments, Fetch Feedback")
    raise SystemExit(LOOK if failed else 0)
