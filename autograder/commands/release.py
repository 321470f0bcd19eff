"""`course release NN_topic`: build the assignment, have nbgrader release it, pack the bundle."""

from datetime import UTC, datetime
from pathlib import Path

import click
from rich.progress import track

from autograder.classroom.exchange import Exchange
from autograder.commands.options import course_option_to_try_out, parse_time
from autograder.exercises.assignment import Assignment, load_assignment
from autograder.exercises.new import demand_filled
from autograder.paths import ROOT
from autograder.release.build import bundle_of_all, make_release
from autograder.release.bundle import formulas_called
from autograder.release.course_folder import (
    COURSE,
    chapter_folders,
    nbgrader_api,
    open_gradebook,
    why,
)
from autograder.release.wheel import make_wheel


@click.command()
@click.argument("chapter", metavar="[NN_topic]", required=False)
@course_option_to_try_out
@click.option("--all", "everything", is_flag=True, help="All chapters, and one zip of them all.")
@click.option("--reseed", is_flag=True, help="Draw new hidden inputs for this class.")
@click.option("--due", callback=parse_time, help="The deadline, such as 2027-01-31 23:59.")
@click.option("--exchange", is_flag=True, help="On a hub: put it where students fetch it.")
def release(
    chapter: str | None,
    course: Path,
    everything: bool,
    reseed: bool,
    due: datetime | None,
    exchange: bool,
) -> None:
    """Make the student's notebook and bundle of one chapter, or of all.

    The bundle is a zip that runs anywhere; the wheel is for a hosted notebook service.

    A chapter of your own lies in the course folder, under solutions/NN_topic. Releasing again
    takes up what was mended; course grade then grades everybody anew and shows what changed.

    Example: course release 03_softmax --due "2027-01-31 23:59"
    """
    chapters = chapter_folders(course)
    names = ", ".join(sorted(chapters))
    if bool(chapter) == everything:
        raise click.UsageError(f"name one chapter, or type --all. There are: {names}")
    if chapter and chapter not in chapters:
        raise click.UsageError(f"no chapter is called {chapter!r}. There are: {names}")
    stems = [chapter] if chapter else sorted(chapters)
    made = []
    for stem in track(stems, "releasing"):
        made += _release_one(chapters[stem], course, reseed)
        if due:
            _set_deadline(course, stem, due)
        if exchange:
            _put_into_exchange(course, stem)
    if everything:
        made.append(bundle_of_all(course, stems))
    for path in made:
        kind = "wheel " if path.suffix == ".whl" else "bundle"
        print(f"{kind}     {_short(path)}  ({path.stat().st_size // 1024} kB)")
    if chapter:
        print(f"notebook   {_short(course / 'release' / chapter / f'{chapter}.ipynb')}")
    if due:
        past = ", and that is past" * (due < datetime.now(UTC))
        print(f"due        {due:%Y-%m-%d %H:%M}{past}")
    if course == COURSE:
        print(
            f"this is {_short(course)}, for trying out; for a class type  course init FOLDER  first"
        )
    if chapter:
        print(f"do it as a student would:  course lab {chapter}")


def _release_one(folder: Path, course: Path, reseed: bool) -> list[Path]:
    assignment, bundle = release_chapter(folder, course, reseed)
    if called := formulas_called(assignment):
        print(
            f"{folder.name}: its tests call {', '.join(sorted(called))} of course_lib, which other "
            "chapters ask for; the bundle holds them"
        )
    wheel = make_wheel(course / "release" / folder.name, course / "bundles", assignment.title)
    return [bundle, wheel]


def release_chapter(folder: Path, course: Path, reseed: bool = False) -> tuple[Assignment, Path]:
    """Load and release.

    Raises BadExercise where its folder cannot be read, ClickException where it is not filled in
    or its own tests refuse it, and whatever make_release raises.
    """
    assignment = load_assignment(folder)
    try:
        demand_filled(assignment)
        return assignment, make_release(assignment, course, reseed)
    except ValueError as reason:  # or its own tests refuse an exercise
        where = "" if folder.is_relative_to(ROOT) else f" --course {course}"
        raise click.ClickException(
            f"{reason}\n"
            f"Not released. Prove the chapter first:  course exercises {folder.name}{where}"
        ) from None


def _set_deadline(course: Path, stem: str, due: datetime) -> None:
    with open_gradebook(course) as gradebook:
        gradebook.update_or_create_assignment(stem, duedate=due.astimezone(UTC))


def _put_into_exchange(course: Path, stem: str) -> None:
    for path in Exchange.of(course).make():
        click.echo(f"{path}: its mode is set, so that students cannot change what is not theirs")
    api = nbgrader_api(course)
    api.config.ExchangeReleaseAssignment.force = True  # what was mended takes the old one's place
    result = api.release_assignment(stem)
    if not result["success"]:
        raise click.ClickException(
            f"nbgrader's exchange did not take it: {why(result)}\n"
            "Its folder is c.Exchange.root in local_config.py."
        )


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
