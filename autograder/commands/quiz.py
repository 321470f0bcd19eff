"""`course quiz NN_topic`: a closed-book sheet and its key."""

from pathlib import Path

import click

from autograder.commands.options import course_option
from autograder.exercises.assignment import load_assignment
from autograder.release.course_folder import chapter_folders
from autograder.reports.quiz import write_quiz


@click.command()
@click.argument("chapter", metavar="NN_topic")
@click.option("--seed", type=int, default=1, show_default=True, help="Another sheet for each.")
@click.option("--questions", type=click.IntRange(1, 20), default=6, show_default=True)
@click.option(
    "--to",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the two files.  [default: quizzes/ in the course folder]",
)
@course_option
def quiz(chapter: str, seed: int, questions: int, to: Path | None, course: Path) -> None:
    """Make a sheet for a closed-book quiz, and its key.

    Two files to print. The same seed gives the same sheet. Exit code 0: made; 2: there is no such
    chapter.

    Example: course quiz 03_softmax --seed 7
    """
    folders = chapter_folders(course)
    if chapter not in folders:
        chapters = ", ".join(sorted(folders))
        raise click.UsageError(f"no chapter is called {chapter!r}. There are: {chapters}")
    assignment = load_assignment(folders[chapter])
    sheet, key = write_quiz(assignment, seed, questions, to or course / "quizzes")
    click.echo(f"sheet  {sheet}\nkey    {key}  (not for students)")
