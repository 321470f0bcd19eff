"""`course lab NN_topic`: do an assignment as a student does, in a folder of one's own."""

import subprocess
import sys
import zipfile
from pathlib import Path

import click

from autograder.commands.options import course_here
from autograder.commands.release import release_chapter
from autograder.paths import ROOT
from autograder.release.course_folder import chapter_folders
from course_lib.checking.work import OUTLINE, Assignment

PLACE = ROOT / "_build" / "lab"
RELEASED = PLACE / "released"
"""Of its own, so that the course folder of a class stays as it was handed out."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("chapter", metavar="[NN_topic]", required=False)
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[JUPYTERLAB OPTIONS]...")
def lab(chapter: str | None, options: tuple[str, ...]) -> None:
    """Open an assignment in JupyterLab, as a student gets it.

    It lies in _build/lab/NN_topic. What is written there stays: delete the folder to begin anew.

    Example: course lab 03_softmax
    """
    chapters = chapter_folders(course_here())
    if chapter not in chapters:
        what = f"no chapter is called {chapter!r}" if chapter else "name a chapter"
        raise click.UsageError(f"{what}. There are: {', '.join(sorted(chapters))}")
    folder = PLACE / chapter
    if not folder.is_dir():
        print(f"releasing {chapter}")
        release_chapter(chapters[chapter], RELEASED)
        unpack(chapter, PLACE, RELEASED)
    outline = folder / "checks" / OUTLINE
    if not outline.is_file():
        raise click.ClickException(f"{folder} is of an older course: keep what you need, delete it")
    print(f"{folder}  (version {Assignment.read(outline).version})")
    sys.exit(subprocess.call([sys.executable, str(folder / "course.py"), "lab", *options]))


def unpack(chapter: str, target: Path, course: Path) -> None:
    """Put the bundle of this course folder where a student would."""
    with zipfile.ZipFile(course / "bundles" / f"{chapter}.zip") as archive:
        archive.extractall(target)
