"""Options and ways to say things that several verbs share."""

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import click

from autograder.release.course_folder import COURSE, NoCourse


def say(lines: list[str], indent: str = "  ") -> None:
    for line in lines:
        click.echo(f"{indent}{line}")


def course_above() -> Path | None:
    """The course folder in which one stands, however deep, as git finds its own."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "nbgrader_config.py").is_file():
            return Path(os.path.relpath(folder, here))
    return None


def course_here() -> Path:
    """Where one is in no course folder, the one for trying out, which no student's work is in."""
    return course_above() or COURSE


def demand_course() -> Path:
    """Raises NoCourse."""
    if (course := course_above()) is None:
        raise NoCourse(Path.cwd())
    return course


def _course_option(default: Callable[[], Path], otherwise: str) -> Callable:
    return click.option(
        "--course",
        type=click.Path(path_type=Path, file_okay=False),
        default=default,
        help=f"The course folder that nbgrader works in.  [default: {otherwise}]",
    )


course_option = _course_option(demand_course, "the one you are in")
course_option_to_try_out = _course_option(course_here, "the one you are in, else _build/course")


def parse_time(
    context: click.Context, parameter: click.Parameter, text: str | None
) -> datetime | None:
    """A click callback. A time without a zone is one of this machine's."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise click.BadParameter(f"{text!r} is no time; write 2027-01-31 23:59") from None
