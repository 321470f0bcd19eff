"""The course folder as an instructor's verbs need it: its gradebook, and one way to say things."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from nbgrader.api import Gradebook, MissingEntry

from autograder.notebooks import find_tools, gradebook_address, nbgrader_configuration


class NoCourse(click.ClickException):
    """There is no course folder here."""

    exit_code = 2

    def __init__(self, course: Path):
        super().__init__(
            f"{course} is no course folder. Make one with  course init {course}  "
            "or name yours with --course."
        )


@contextmanager
def open_gradebook(course: Path) -> Iterator[Gradebook]:
    """nbgrader's gradebook, wherever this course keeps it."""
    if not (course / "nbgrader_config.py").is_file():
        raise NoCourse(course)
    find_tools()
    course_id = nbgrader_configuration(course).CourseDirectory.course_id
    with Gradebook(gradebook_address(course), course_id) as gradebook:
        yield gradebook


def the_assignment(gradebook: Gradebook, stem: str):
    try:
        return gradebook.find_assignment(stem)
    except MissingEntry:
        known = ", ".join(sorted(a.name for a in gradebook.assignments)) or "none yet"
        raise click.UsageError(
            f"{stem} was not released here; released: {known}. "
            f"If that is its name, type  course release {stem}"
        ) from None


def say(lines: list[str], indent: str = "  ") -> None:
    for line in lines:
        click.echo(f"{indent}{line}")
