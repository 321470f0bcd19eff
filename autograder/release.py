"""`course release NN_topic`: build the assignment, have nbgrader release it, pack the bundle."""

import os
import secrets
import shutil
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import click
import nbformat

from autograder.bundle import write_checks, write_course_lib, write_requirements
from autograder.exercises import ROOT, Assignment, BadExercise, load_assignment
from autograder.grading.rubric import write_rubrics
from autograder.notebooks import source_notebook

COURSE = ROOT / "_build" / "course"
README = """# {title}

In this folder, once:

    python -m venv .venv
    .venv/bin/pip install -r requirements.txt        (Windows: .venv\\Scripts\\pip)

and every time:

    .venv/bin/jupyter lab {stem}.ipynb               (Windows: .venv\\Scripts\\jupyter)

Hand in {stem}.ipynb.
"""


def _course_here() -> Path:
    """The folder one stands in, if it is a course's; a verb is then short to type."""
    return Path() if Path("nbgrader_config.py").is_file() else COURSE


course_option = click.option(
    "--course",
    type=click.Path(path_type=Path, file_okay=False),
    default=_course_here,
    help="The course folder that nbgrader works in.  [default: this one, else _build/course]",
)


def parse_time(context, parameter, text: str | None) -> datetime | None:
    """A time without a zone is one of this machine's."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone()
    except ValueError:
        raise click.BadParameter(f"{text!r} is no time; write 2027-01-31 23:59") from None


@click.command()
@click.argument("chapter", metavar="NN_topic")
@course_option
@click.option("--reseed", is_flag=True, help="Draw new hidden inputs for this class.")
@click.option("--due", callback=parse_time, help="The deadline, such as 2027-01-31 23:59.")
def release(chapter: str, course: Path, reseed: bool, due: datetime | None) -> None:
    """Make the student's notebook and bundle of one chapter.

    A chapter of your own lies in the course folder, under solutions/NN_topic. Releasing again
    takes up what was mended; course grade then grades everybody anew and shows what changed.

    Example: course release 03_softmax --due "2027-01-31 23:59"
    """
    folders = chapter_folders(course)
    if chapter not in folders:
        known = ", ".join(sorted(folders))
        raise click.UsageError(f"no chapter is called {chapter!r}. There are: {known}")
    try:
        assignment = load_assignment(folders[chapter])
    except BadExercise as error:
        raise click.ClickException(str(error)) from None
    try:
        bundle = make_release(assignment, course, reseed)
    except ValueError as reason:  # its own tests refuse an exercise
        raise click.ClickException(
            f"{reason}\nNothing was released. Prove the chapter first:  course exercises {chapter}"
        ) from None
    if due:
        _set_deadline(course, chapter, due)
    notebook = course / "release" / chapter / f"{chapter}.ipynb"
    print(f"notebook   {_short(notebook)}")
    print(f"bundle     {_short(bundle)}  ({bundle.stat().st_size // 1024} kB)")
    print(f"look at it with:  {Path(sys.executable).parent / 'jupyter'} lab {_short(notebook)}")


def chapter_folders(course: Path) -> dict[str, Path]:
    """Every chapter that can be released: those of the course, and an instructor's own beside
    them, which come first where both have the name."""
    both = (ROOT / "solutions", course / "solutions")
    return {path.parent.name: path.parent for f in both for path in f.glob("*/assignment.toml")}


def _set_deadline(course: Path, stem: str, due: datetime) -> None:
    with nbgrader_api(course).gradebook as gradebook:
        gradebook.update_or_create_assignment(stem, duedate=due.astimezone(UTC))


def make_release(assignment: Assignment, course: Path, reseed: bool = False) -> Path:
    """Build source and release in the course folder and return the student's zip."""
    prepare_course(course)
    stem = assignment.stem
    source = course / "source" / stem
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    nbformat.write(source_notebook(assignment), source / f"{stem}.ipynb")
    write_checks(assignment, source, hidden=False)
    write_course_lib(assignment, source)
    write_requirements(source)
    (source / "README.md").write_text(README.format(title=assignment.title, stem=stem))
    _generate(course, stem)
    seed = secret_seed(course, stem, reseed)
    write_checks(assignment, grader_folder(course, stem), seed=seed, hidden=True)
    write_rubrics(assignment, grader_folder(course, stem))
    return _zip(course / "release" / stem, course / "bundles" / f"{stem}.zip")


def grader_folder(course: Path, stem: str) -> Path:
    """All the tests: not under source/, which nbgrader copies to students and into their marks."""
    folder = course / "grader" / stem
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    return folder


def prepare_course(course: Path) -> None:
    course.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("nbgrader_config.py"), course / "nbgrader_config.py")


def secret_seed(course: Path, stem: str, reseed: bool = False) -> int:
    """The seed of the hidden inputs: one for each assignment and class, kept for every regrade."""
    path = course / "seeds" / stem
    if reseed or not path.is_file():
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{secrets.randbits(62) + 1}\n")
        path.chmod(0o600)
    return int(path.read_text())


def nbgrader_api(course: Path):
    """nbgrader's own programming interface on this course folder."""
    tools = str(Path(sys.executable).parent)  # nbgrader calls alembic and jupyter by name
    if tools not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = tools + os.pathsep + os.environ["PATH"]
    from nbgrader.apps import NbGraderAPI

    return NbGraderAPI(config=nbgrader_configuration(course))


def nbgrader_configuration(course: Path):
    """What the course folder's nbgrader_config.py says."""
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    config.CourseDirectory.root = str(course.resolve())
    return config


def _generate(course: Path, stem: str) -> None:
    result = nbgrader_api(course).generate_assignment(stem, force=True)
    if not result["success"]:
        raise click.ClickException(
            f"nbgrader could not make the student's version:\n{result['log']}"
        )


def _zip(folder: Path, target: Path) -> Path:
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, Path(folder.name) / path.relative_to(folder))
    return target


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
