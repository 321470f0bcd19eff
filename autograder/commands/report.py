"""`course report NN_topic`: how the class did and where it stumbled, on one page."""

from pathlib import Path

import click

from autograder.classroom.marks import settle_lateness
from autograder.commands.options import course_option
from autograder.release.course_folder import open_gradebook, the_assignment
from autograder.reports.class_report import write_report

NOTHING = 2


@click.command()
@click.argument("chapter", metavar="NN_topic")
@course_option
@click.option("--names", is_flag=True, help="Say who; without it the page names nobody.")
def report(chapter: str, course: Path, names: bool) -> None:
    """Write one page on the class: points, properties, misconceptions.

    And repairs and times. It is a single file that names nobody, unless --names is given: open it,
    print it, show it.
    Exit code 0: written; 2: nothing is graded yet.

    Example: course report 03_softmax
    """
    with open_gradebook(course) as gradebook:
        the_assignment(gradebook, chapter)
    settle_lateness(course, [chapter])
    path = write_report(course, chapter, names)
    if path is None:
        click.echo(f"nobody was graded yet; type  course grade {chapter}", err=True)
        raise SystemExit(NOTHING)
    click.echo(f"class report  {path}" + ("  (with names: not for the class)" if names else ""))
