"""`course forget STUDENT`: everything that the course folder keeps of one person, gone for good."""

from pathlib import Path

import click

from autograder.classroom.forget import (
    count_submissions,
    files_of,
    lists_with,
    paths_named_after,
    remove_all,
    suggest_students,
    tables_with,
)
from autograder.commands.options import course_option
from autograder.errors import CourseError
from autograder.grading.journal import course_lock

ELSEWHERE = """\
Not in this folder, so not removed: what the platform and the hub keep (nbgrader's exchange,
home folders), and your backups."""


@click.command()
@click.argument("student")
@course_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def forget(student: str, course: Path, yes: bool) -> None:
    """Remove all that the course folder keeps of one student.

    Work, marks, comments, logs: there is no way back. STUDENT is the name in the gradebook, which
    is that of the folder under submitted/.
    Exit code 0: gone; 1: you said no; 2: nobody of this name is known.

    Example: course forget ada
    """
    course = course.resolve()
    with course_lock(course):
        marks = count_submissions(course, student)
        paths = list(files_of(course, student))
        tables = set(tables_with(course, student))
        on_lists = list(lists_with(course, student))
        if marks is None and not on_lists and set(paths) <= tables:
            raise CourseError(
                f"{course} keeps nothing of a student whose id is {student!r}."
                + suggest_students(course, student)
            )
        for path in paths:
            whole = ", the whole file: the next command writes it anew" * (path in tables)
            click.echo(f"  {path.relative_to(course)}{whole}")
        for path in on_lists:
            click.echo(f"  {path.relative_to(course)}, what it has of {student}")
        click.echo(f"  marks and comments of {marks or 0} submissions in the gradebook")
        if not yes and not click.confirm(f"Remove all of this of {student} for good?"):
            raise SystemExit(1)
        remove_all(course, student, paths, marks is not None)
    click.echo(f"{student} is forgotten here.")
    for path in paths_named_after(course, student):
        click.echo(f"  look at this yourself, its name holds {student!r}: {path}")
    click.echo(ELSEWHERE)
