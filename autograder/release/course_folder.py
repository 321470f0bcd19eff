"""The course folder that nbgrader works in: its settings, its gradebook, its chapters."""

import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import nbformat
from nbgrader.api import Gradebook, MissingEntry
from sqlalchemy.exc import DBAPIError

from autograder.errors import CourseError
from autograder.files import write_atomically
from autograder.paths import ROOT

COURSE = ROOT / "_build" / "course"


def chapter_folders(course: Path) -> dict[str, Path]:
    """Every chapter that can be released: those of the course, and an instructor's own beside
    them, which come first where both have the name."""
    both = (ROOT / "solutions", course / "solutions")
    return {path.parent.name: path.parent for f in both for path in f.glob("*/assignment.toml")}


def released_version(course: Path, stem: str) -> str:
    notebook = nbformat.read(course / "release" / stem / f"{stem}.ipynb", as_version=4)
    return str(notebook.metadata.course.version)


def prepare_course(course: Path) -> None:
    course.mkdir(parents=True, exist_ok=True)
    settings = Path(__file__).with_name("nbgrader_config.py").read_bytes()
    write_atomically(course / "nbgrader_config.py", settings)


def nbgrader_api(course: Path) -> Any:
    """nbgrader's own programming interface on this course folder."""
    find_tools()
    from nbgrader.apps import NbGraderAPI

    return NbGraderAPI(config=nbgrader_configuration(course))


def why(result: dict) -> str:
    """What nbgrader says of a failure, without its log and its traceback."""
    lines = f"{result.get('log', '')}\n{result.get('error', '')}".strip().splitlines()
    raised = [line for line in lines if re.match(r"\s*[\w.]+(Error|Exception): ", line)]
    reasons = [line for line in raised if "for details on the specific" not in line] or lines
    return re.sub(r"^\s*[\w.]+: ", "", reasons[-1])


SETTINGS = "local_config.py"


class BadSettings(CourseError):
    """The course's settings cannot be used: where, what, and what to write."""

    def __init__(self, path: Path, line: int | None, problem: str, remedy: str):
        self.path, self.line = path, line
        super().__init__(f"{path}{f':{line}' if line else ''}: {problem}\n  {remedy}")


def nbgrader_configuration(course: Path) -> Any:
    """What the folder's nbgrader_config.py and local_config.py say. Raises BadSettings."""
    from traitlets.config import ConfigFileNotFound, PyFileConfigLoader

    try:
        config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    except ConfigFileNotFound:
        raise
    except Exception as error:  # both files are Python, and somebody writes in them
        path, line = _place_of(error, course)
        problem = f"{type(error).__name__}: {error}"
        raise BadSettings(path, line, problem, "mend that line; the rest may stay") from None
    config.CourseDirectory.root = str(course.resolve())
    return config


def _place_of(error: Exception, course: Path) -> tuple[Path, int | None]:
    """The line of the settings in which it arose."""
    if isinstance(error, SyntaxError) and error.filename:
        return Path(error.filename), error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    settings = [frame for frame in frames if Path(frame.filename).is_relative_to(course)]
    if not settings:
        return course / SETTINGS, None
    return Path(settings[-1].filename), settings[-1].lineno


def find_tools() -> None:
    """nbgrader calls alembic and jupyter by name, also where .venv/bin is not on the path."""
    tools = str(Path(sys.executable).parent)
    if tools not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = tools + os.pathsep + os.environ["PATH"]


def gradebook_address(course: Path) -> str:
    """Where this course keeps its marks: in its folder, unless its settings say otherwise."""
    url = nbgrader_configuration(course).CourseDirectory.get("db_url")
    return url or f"sqlite:///{course.resolve() / 'gradebook.db'}"


class NoCourse(CourseError):
    """There is no course folder here."""

    def __init__(self, course: Path):
        super().__init__(
            f"{course} is no course folder. Make one with  course init {course}  "
            "or name yours with --course."
        )


class NoGradebook(CourseError):
    """The database of the gradebook cannot be opened, read or written."""


@contextmanager
def open_gradebook(course: Path) -> Iterator[Gradebook]:
    """nbgrader's gradebook, wherever this course keeps it.

    Raises NoCourse, and NoGradebook where the database or its disk refuses.
    """
    if not (course / "nbgrader_config.py").is_file():
        raise NoCourse(course)
    find_tools()
    course_id = nbgrader_configuration(course).CourseDirectory.course_id
    try:
        with Gradebook(gradebook_address(course), course_id) as gradebook:
            yield gradebook
    except DBAPIError as error:
        raise NoGradebook(f"the gradebook of {course} refuses: {error.orig}") from error


def the_assignment(gradebook: Gradebook, stem: str) -> Any:
    """nbgrader's row of it. Raises UsageError where it was not released."""
    try:
        return gradebook.find_assignment(stem)
    except MissingEntry:
        released = ", ".join(sorted(a.name for a in gradebook.assignments)) or "none yet"
        raise click.UsageError(
            f"{stem} was not released here; released: {released}. "
            f"If that is its name, type  course release {stem}"
        ) from None
