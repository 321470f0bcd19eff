"""`course release NN_topic`: build the assignment, have nbgrader release it, pack the bundle."""

import hashlib
import json
import re
import shutil
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import click
import nbformat
from rich.progress import track

from autograder.bundle import (
    CONTENTS,
    formulas_called,
    version_of,
    visible_tests,
    write_checks,
    write_course_lib,
    write_handout,
    write_outline,
    write_plain_file,
    write_requirements,
)
from autograder.exercises import ROOT, Assignment, BadExercise, load_assignment
from autograder.fixed import refuse_other_exercises
from autograder.grading.rubric import write_rubrics
from autograder.new_exercise import demand_filled
from autograder.notebooks import find_tools, nbgrader_configuration, source_notebook
from autograder.seeds import draw_seed, keep_seed, secret_seed
from autograder.wheel import make_wheel

COURSE = ROOT / "_build" / "course"
WHOLE = "mathematics_of_attention"


def course_here() -> Path:
    """The folder one stands in, if it is a course's; a verb is then short to type."""
    return Path() if Path("nbgrader_config.py").is_file() else COURSE


course_option = click.option(
    "--course",
    type=click.Path(path_type=Path, file_okay=False),
    default=course_here,
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
@click.argument("chapter", metavar="[NN_topic]", required=False)
@course_option
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
    known = chapter_folders(course)
    names = ", ".join(sorted(known))
    if bool(chapter) == everything:
        raise click.UsageError(f"name one chapter, or type --all. There are: {names}")
    if chapter and chapter not in known:
        raise click.UsageError(f"no chapter is called {chapter!r}. There are: {names}")
    made = []
    for stem in track(sorted(known) if everything else [chapter], "releasing"):
        made += _release_one(known[stem], course, reseed)
        if due:
            _set_deadline(course, stem, due)
        if exchange:
            _put_into_exchange(course, stem)
    if everything:
        made.append(bundle_of_all(course, sorted(known)))
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
    """Load and release; what is wrong with the chapter is said in a line."""
    try:
        assignment = load_assignment(folder)
    except BadExercise as error:
        raise click.ClickException(str(error)) from None
    try:
        demand_filled(assignment)
        return assignment, make_release(assignment, course, reseed)
    except ValueError as reason:  # or its own tests refuse an exercise
        where = "" if folder.is_relative_to(ROOT) else f" --course {course}"
        raise click.ClickException(
            f"{reason}\n"
            f"Not released. Prove the chapter first:  course exercises {folder.name}{where}"
        ) from None


def bundle_of_all(course: Path, stems: list[str]) -> Path:
    """One zip with a folder for each chapter; they share what is set up."""
    versions = [f"{stem} {released_version(course, stem)}" for stem in stems]
    digest = hashlib.sha256("\n".join(versions).encode()).hexdigest()[:8]
    version = f"{released_version(course, stems[0]).partition('+')[0]}+{digest}"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / WHOLE
        write_handout(
            folder,
            stem="NN_topic",
            title="The Mathematics of Attention: all exercises",
            version=version,
            example="NAME",
            contents=CONTENTS.format(stem=stems[0]),
        )
        write_requirements(folder)
        for stem in stems:
            shutil.copytree(course / "release" / stem, folder / stem)
        return _zip(folder, course / "bundles" / f"{WHOLE}.zip")


def chapter_folders(course: Path) -> dict[str, Path]:
    """Every chapter that can be released: those of the course, and an instructor's own beside
    them, which come first where both have the name."""
    both = (ROOT / "solutions", course / "solutions")
    return {path.parent.name: path.parent for f in both for path in f.glob("*/assignment.toml")}


def _set_deadline(course: Path, stem: str, due: datetime) -> None:
    with nbgrader_api(course).gradebook as gradebook:
        gradebook.update_or_create_assignment(stem, duedate=due.astimezone(UTC))


def _put_into_exchange(course: Path, stem: str) -> None:
    api = nbgrader_api(course)
    api.config.ExchangeReleaseAssignment.force = True  # what was mended takes the old one's place
    result = api.release_assignment(stem)
    if not result["success"]:
        raise click.ClickException(
            f"nbgrader's exchange did not take it: {why(result)}\n"
            "Its folder is c.Exchange.root in local_config.py; all must be able to write to it."
        )


def make_release(assignment: Assignment, course: Path, reseed: bool = False) -> Path:
    """Build source and release in the course folder and return the student's zip.

    All is made in a place beside and put in at the end: whatever is refused leaves the last
    release as it was, so that it can still be graded.
    """
    prepare_course(course)
    stem, notebook = assignment.stem, source_notebook(assignment)
    with nbgrader_api(course).gradebook as gradebook:
        refuse_other_exercises(gradebook, stem, notebook)
    seed = draw_seed() if reseed else secret_seed(course, stem)
    with tempfile.TemporaryDirectory(prefix=".release-", dir=course) as place:
        source, grader = Path(place) / "source" / stem, Path(place) / "grader" / stem
        source.mkdir(parents=True)
        grader.mkdir(mode=0o700, parents=True)  # not under source/, which goes to students
        nbformat.write(notebook, source / f"{stem}.ipynb")
        write_checks(assignment, source, hidden=False)
        write_course_lib(assignment, source)
        write_requirements(source)
        write_checks(assignment, grader, seed=seed, hidden=True)
        write_rubrics(assignment, grader)
        released = _generate(course, stem, Path(place))
        version = _complete(assignment, released)
        for new in (source, released, grader):
            _put(new, course / new.parent.name / stem)
    keep_seed(course, stem, seed)
    folder = course / "release" / stem
    _remember_version(course, stem, version, visible_tests(folder))
    return _zip(folder, course / "bundles" / f"{stem}.zip")


def _put(new: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(exist_ok=True)
    new.rename(target)


def _complete(assignment: Assignment, folder: Path) -> str:
    """Give what nbgrader released its version and all that a student needs besides."""
    stem = assignment.stem
    path = folder / f"{stem}.ipynb"
    released = nbformat.read(path, as_version=4)
    version = version_of(folder, released)
    released.metadata["course"] = {"assignment": stem, "version": version}
    nbformat.write(released, path)
    write_outline(assignment, folder, released, version)
    write_plain_file(assignment, folder, released, version)
    write_handout(
        folder,
        stem=stem,
        title=f"Chapter {assignment.number}: {assignment.title}",
        version=version,
        example=assignment.example,
    )
    return version


def _remember_version(course: Path, stem: str, version: str, tests: dict[str, str]) -> None:
    """Which visible tests each version had, so that feedback can say which were mended since."""
    path = course / "versions" / f"{stem}.json"
    path.parent.mkdir(exist_ok=True)
    known = json.loads(path.read_text()) if path.is_file() else {}
    known.pop(version, None)  # the newest stands last
    path.write_text(json.dumps(known | {version: tests}, indent=1) + "\n")


def released_version(course: Path, stem: str) -> str:
    notebook = nbformat.read(course / "release" / stem / f"{stem}.ipynb", as_version=4)
    return notebook.metadata.course.version


def prepare_course(course: Path) -> None:
    course.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("nbgrader_config.py"), course / "nbgrader_config.py")


def nbgrader_api(course: Path):
    """nbgrader's own programming interface on this course folder."""
    find_tools()
    from nbgrader.apps import NbGraderAPI

    return NbGraderAPI(config=nbgrader_configuration(course))


def why(result: dict) -> str:
    """What nbgrader says of a failure, without its log and its traceback."""
    said = f"{result.get('log', '')}\n{result.get('error', '')}".strip().splitlines()
    raised = [line for line in said if re.match(r"\s*[\w.]+(Error|Exception): ", line)]
    reasons = [line for line in raised if "for details on the specific" not in line] or said
    return re.sub(r"^\s*[\w.]+: ", "", reasons[-1])


def _generate(course: Path, stem: str, place: Path) -> Path:
    """Have nbgrader make the student's version from `place`/source, and return its folder."""
    api = nbgrader_api(course)
    api.coursedir.source_directory = f"{place.name}/source"
    api.coursedir.release_directory = f"{place.name}/release"
    result = api.generate_assignment(stem, force=True)
    if not result["success"]:
        raise click.ClickException(
            f"nbgrader could not make the student's version: {why(result)}\n"
            "Not released; what you had released stays."
        )
    return place / "release" / stem


def _zip(folder: Path, target: Path) -> Path:
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                archive.write(path, Path(folder.name) / path.relative_to(folder))
    return target


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
