"""`course extend NN_topic STUDENT... --days 2`: more time for some, for one chapter or for all."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from autograder.classroom.class_list import everybody
from autograder.classroom.identify import Owners
from autograder.classroom.marks import settle_lateness
from autograder.commands.options import course_option
from autograder.release.course_folder import open_gradebook
from autograder.roster.extensions import (
    ALL,
    Extension,
    Extensions,
    read_extensions,
    read_list,
    write_extensions,
)
from autograder.roster.students import labels

LOOK = 1


@click.command()
@click.argument("chapter", metavar="[NN_topic|all]", required=False)
@click.argument("students", nargs=-1, metavar="[STUDENT]...")
@click.option("--days", type=float, default=0.0)
@click.option("--hours", type=float, default=0.0)
@click.option("--until", metavar="TIME", help="Instead: the new deadline, as 2027-01-31 23:59.")
@click.option("--remove", is_flag=True, help="Take the extension back.")
@click.option(
    "--list",
    "from_list",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A CSV file with the columns student, assignment (or all), and days or hours.",
)
@course_option
def extend(
    chapter: str | None,
    students: tuple[str, ...],
    days: float,
    hours: float,
    until: str | None,
    remove: bool,
    from_list: Path | None,
    course: Path,
) -> None:
    """Give students more time; late penalties follow.

    Also of what is already graded.

    `all` in the place of a chapter is an accommodation for the whole course. Saying it again
    replaces what was said before; without a student, what has been granted is listed. It is kept in
    extensions.csv of the course folder, which you may also edit.

    Example: course extend 03_softmax ada --days 2
    """
    released = _due_dates(course)
    extensions = read_extensions(course)
    asked = read_list(from_list) if from_list else []
    if not from_list and not students:
        _show(course, released, extensions, chapter)
        return
    if students:
        if chapter != ALL and chapter not in released:
            raise click.UsageError(
                f"{chapter} was not released here; released: {', '.join(released) or 'none yet'}"
            )
        time = timedelta() if remove else _time(days, hours, until, released.get(chapter), chapter)
        asked += [Extension(student, chapter, time) for student in students]
    if any(entry.time < timedelta() for entry in asked):
        raise click.UsageError("less time than the others cannot be given; nothing was changed")
    class_list = everybody(course)
    owners, label, unknown = Owners(class_list), labels(class_list), []
    for entry in asked:
        student = owners.named(entry.student)
        if student is None or entry.assignment not in (ALL, *released):
            what = "student" if student is None else "released chapter"
            name = entry.student if student is None else entry.assignment
            unknown.append(f"{name}: no {what} is called so; left out")
            continue
        extensions.put(replace(entry, student=student))
        click.echo(f"{label(student)}: {_said(entry, released.get(entry.assignment), until)}")
    write_extensions(course, extensions)
    settle_lateness(course, sorted(released))
    for line in unknown:
        click.echo(line)
    raise SystemExit(LOOK if unknown else 0)


def _due_dates(course: Path) -> dict[str, datetime | None]:
    with open_gradebook(course) as gradebook:
        return {assignment.name: assignment.duedate for assignment in gradebook.assignments}


def _time(
    days: float, hours: float, until: str | None, due: datetime | None, chapter: str
) -> timedelta:
    if not until:
        if not days and not hours:
            raise click.UsageError("how much more time? Say --days 2, --hours 12 or --until TIME")
        return timedelta(days=days, hours=hours)
    if due is None:
        raise click.UsageError(
            f"{chapter} has no deadline to move; set one with  course release {chapter} --due"
        )
    from nbgrader.utils import parse_utc

    try:
        deadline: datetime = parse_utc(datetime.fromisoformat(until).astimezone())
    except ValueError:
        raise click.UsageError(f"{until!r} is no time; write 2027-01-31 23:59") from None
    return deadline - due


def _show(
    course: Path, released: dict[str, datetime | None], extensions: Extensions, chapter: str | None
) -> None:
    entries = [e for e in extensions.entries() if chapter in (None, e.assignment)]
    label = labels(everybody(course))
    for entry in entries:
        time = _words(entry.time, released.get(entry.assignment))
        click.echo(f"{label(entry.student)}  {entry.assignment}  {time}")
    if not entries:
        click.echo("nobody has more time; give some with  course extend 03_softmax ada --days 2")


def _said(entry: Extension, due: datetime | None, until: str | None) -> str:
    if not entry.time:
        return f"the extension for {entry.assignment} is taken away"
    words = _deadline(due + entry.time) if until and due else _words(entry.time, due)
    return f"{words} for {entry.assignment}"


def _deadline(time: datetime) -> str:
    """The gradebook's times are UTC; people read their own."""
    return f"until {time.replace(tzinfo=UTC).astimezone():%Y-%m-%d %H:%M}"


def _words(time: timedelta, due: datetime | None) -> str:
    hours = time / timedelta(hours=1)
    if not hours:
        return "no more time"
    if due and hours % 1:
        return _deadline(due + time)
    number, unit = (hours / 24, "day") if hours % 24 == 0 else (hours, "hour")
    return f"{number:g} more {unit}{'s' * (number != 1)}"
