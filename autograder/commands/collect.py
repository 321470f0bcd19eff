"""`course collect NN_topic [SOURCE]...`: take in what was handed in, and report on it."""

from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

import click
from nbgrader.utils import parse_utc
from rich.console import Console
from rich.progress import track

from autograder.classroom.class_list import everybody
from autograder.classroom.collect import Collected, collect_from
from autograder.classroom.exchange import collect_from_exchange
from autograder.commands.options import course_option, parse_time
from autograder.files import write_atomically
from autograder.release.course_folder import open_gradebook, the_assignment
from autograder.roster.students import labels
from autograder.untrusted import printable

LOOK, NOTHING = 1, 2


@click.command("collect")
@click.argument("chapter", metavar="NN_topic")
@click.argument(
    "sources", nargs=-1, type=click.Path(path_type=Path, exists=True), metavar="[SOURCE]..."
)
@click.option(
    "--time",
    "when",
    callback=parse_time,
    help="When these were handed in; without it nothing of them counts as late.",
)
@click.option(
    "--replace",
    "older_too",
    is_flag=True,
    help="Take an older hand-in, too, where a newer one is there, and what was set aside.",
)
@course_option
def collect(
    chapter: str,
    sources: tuple[Path, ...],
    when: datetime | None,
    older_too: bool,
    course: Path,
) -> None:
    """Take in what was handed in: folders, files, zips, the exchange.

    Without a SOURCE, nbgrader's exchange is meant. Names of files are put right, and each thing
    that a person should know is a line. Zips of Moodle and Canvas are taken as they come, zips in
    zips, too. Nothing is lost by doing it again: what was there before and differs is kept, and an
    older hand-in takes the place of a newer one with --replace only. Two that are said to be one
    student's are both set aside, for you to decide.

    Exit code 0: all taken; 1: a person should look at some; 2: nothing was found.

    Example: course collect 03_softmax ~/Downloads/submissions.zip
    """
    with open_gradebook(course) as gradebook:
        the_assignment(gradebook, chapter)
    console = Console()
    if sources:
        report = collect_from(course, chapter, sources, when, _bar(console), older_too)
    else:
        with console.status("looking into the exchange") if console.is_terminal else nullcontext():
            report = collect_from_exchange(course, chapter)
    lines = _lines(chapter, report, labels(everybody(course)))
    _keep(course / "collected" / chapter / "report.txt", lines)
    click.echo("\n".join(lines))
    if not report.taken and not report.unchanged:
        where = ", ".join(map(str, sources)) or "nbgrader's exchange"
        click.echo(f"nothing of {chapter} was found in {where}")
        raise SystemExit(NOTHING)
    click.echo(f"next:  course grade {chapter}")
    raise SystemExit(LOOK if report.problems else 0)


def _bar(console: Console) -> Callable:
    quiet = not console.is_terminal
    return lambda items, total: track(
        items, "reading", total, console=console, transient=True, disable=quiet
    )


def _lines(stem: str, report: Collected, label: Callable[[str], str]) -> list[str]:
    def called(who: str) -> str:
        return printable(label(who), 120)

    lines = [f"{called(who)}: {note}" for who, note in report.notes]
    if report.problems:
        lines += ["", "for a person to look at:"]
        lines += [f"  {called(who)}: {problem}" for who, problem in report.problems]
    if report.kept:
        names = ", ".join(map(called, report.kept[:10]))
        more = f" and {len(report.kept) - 10} more" if len(report.kept) > 10 else ""
        number = len(report.kept)
        lines += ["", f"a newer hand-in than this one stays for {number}: {names}{more}"]
    if report.missing:
        names = ", ".join(map(called, report.missing[:10]))
        more = f" and {len(report.missing) - 10} more" if len(report.missing) > 10 else ""
        lines += ["", f"nothing from {len(report.missing)}: {names}{more}"]
    counts = f"{len(report.taken)} taken, {len(report.unchanged)} unchanged"
    return [*lines, "", f"{stem}: {counts}, {len(report.problems)} to look at"]


def _keep(path: Path, lines: list[str]) -> None:
    """With the reports of earlier runs above it."""
    before = path.read_bytes() if path.is_file() else b""
    stamp = f"--- {parse_utc(datetime.now().astimezone()):%Y-%m-%d %H:%M} UTC"
    write_atomically(path, before + "\n".join([stamp, *lines, "", ""]).encode())
