"""`course island STUDENT`: an island of one's own, questions on it, and the key."""

from pathlib import Path

import click

from autograder.commands.options import course_option
from autograder.files import write_atomically
from autograder.release.seeds import secret_seed
from autograder.reports.island_sheet import Island, questions
from autograder.reports.pages import page
from autograder.reports.quiz import MINUTES
from autograder.roster.students import known_students
from autograder.typeset.typesetter import Typesetter


@click.command()
@click.argument("students", nargs=-1, required=True, metavar="STUDENT...")
@course_option
def island(students: tuple[str, ...], course: Path) -> None:
    """Make a sheet of questions on a student's own island, and its key.

    Both are to be printed. The same student gets the same island; nobody can work it out without
    your course folder.

    Example: course island ada grace
    """
    folder = course / "quizzes"
    secret = secret_seed(course, "island")
    names = {student.id: student.name for student in known_students(course)}
    with Typesetter() as typesetter:
        for student in students:
            if student != Path(student).name:
                raise click.UsageError(f"{student!r} is no name for a student")
            if names and student not in names:
                click.echo(
                    f"{student} is not in the list of students; the sheet is made all the same"
                )
            asked = questions(Island.of(student, secret))
            for of, is_key in (("", False), ("-key", True)):
                path = folder / f"island-{student}{of}.html"
                html = page(
                    "quiz.html",
                    typesetter,
                    title="An island of your own",
                    questions=asked,
                    is_key=is_key,
                    minutes=MINUTES * len(asked),
                    which=f"For {names.get(student, student)}",
                )
                write_atomically(path, html, mode=0o600 if is_key else 0o644)
                click.echo(f"{'key  ' if is_key else 'sheet'}  {path}")
