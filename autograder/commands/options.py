"""Options and ways to say things that several verbs share."""

from datetime import datetime
from pathlib import Path

import click

from autograder.release.course_folder import COURSE


def say(lines: list[str], indent: str = "  ") -> None:
    for line in lines:
        click.echo(f"{indent}{line}")


def course_here() -> Path:
    """The folder one stands in, if it is a course's; a verb is then short to type."""
    return Path() if Path("nbgrader_config.py").is_file() else COURSE


course_option = click.option(
    "--course",
    type=click.Path(path_type=Path, file_okay=False),
    default=course_here,
    help="The course folder that nbgrader works in.  [default: this one, else _build/course]",
)


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
