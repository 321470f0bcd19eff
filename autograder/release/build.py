"""`course release NN_topic`: build the assignment, have nbgrader release it, pack the bundle."""

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import click
import nbformat

from autograder.exercises.assignment import Assignment
from autograder.files import write_atomically, zip_folder
from autograder.release.bundle import (
    CONTENTS,
    version_of,
    visible_tests,
    write_checks,
    write_course_lib,
    write_handout,
    write_outline,
    write_plain_file,
    write_requirements,
)
from autograder.release.course_folder import (
    nbgrader_api,
    open_gradebook,
    prepare_course,
    released_version,
    why,
)
from autograder.release.frozen_release import refuse_other_exercises
from autograder.release.notebooks import source_notebook
from autograder.release.rubric import write_rubrics
from autograder.release.seeds import draw_seed, keep_seed, secret_seed

WHOLE = "mathematics_of_attention"


def bundle_of_all(course: Path, stems: list[str]) -> Path:
    """One zip with a folder for each chapter; they share what is set up."""
    versions = [f"{stem} {released_version(course, stem)}" for stem in stems]
    digest = hashlib.sha256("\n".join(versions).encode()).hexdigest()[:8]
    version = f"{released_version(course, stems[0]).partition('+')[0]}+{digest}"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / WHOLE
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
        return zip_folder(folder, course / "bundles" / f"{WHOLE}.zip")


def make_release(assignment: Assignment, course: Path, reseed: bool = False) -> Path:
    """Build source and release in the course folder and return the student's zip.

    All is made in a place beside and put in at the end: whatever is refused leaves the last
    release as it was, so that it can still be graded.
    """
    prepare_course(course)
    stem, notebook = assignment.stem, source_notebook(assignment)
    with open_gradebook(course) as gradebook:
        refuse_other_exercises(gradebook, assignment, notebook, course)
    seed = draw_seed() if reseed else secret_seed(course, stem)
    with tempfile.TemporaryDirectory(prefix=".release-", dir=course) as temporary:
        made, replaced = Path(temporary) / "made", Path(temporary) / "replaced"
        source, grader = made / "source" / stem, made / "grader" / stem
        source.mkdir(parents=True)
        grader.mkdir(mode=0o700, parents=True)  # not under source/, which goes to students
        nbformat.write(notebook, source / f"{stem}.ipynb")
        write_checks(assignment, source, hidden=False)
        write_course_lib(assignment, source)
        write_requirements(source)
        write_checks(assignment, grader, seed=seed, hidden=True)
        write_rubrics(assignment, grader)
        released = _generate(course, stem, made)
        version = _complete(assignment, released)
        for new in (source, released, grader):
            _put(new, course / new.parent.name / stem, replaced / new.parent.name)
    keep_seed(course, stem, seed)
    folder = course / "release" / stem
    _remember_version(course, stem, version, visible_tests(folder))
    return zip_folder(folder, course / "bundles" / f"{stem}.zip")


def _put(new: Path, target: Path, replaced: Path) -> None:
    """By renaming: whoever looks meets the old folder or the new one, whole."""
    target.parent.mkdir(exist_ok=True)
    if target.exists():
        replaced.parent.mkdir(exist_ok=True)
        target.rename(replaced)
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
    earlier = json.loads(path.read_text()) if path.is_file() else {}
    earlier.pop(version, None)  # the newest stands last
    write_atomically(path, json.dumps(earlier | {version: tests}, indent=1) + "\n")


def _generate(course: Path, stem: str, place: Path) -> Path:
    """Have nbgrader make the student's version from `place`/source, and return its folder."""
    api = nbgrader_api(course)
    below_the_course = f"{place.parent.name}/{place.name}"
    api.coursedir.source_directory = f"{below_the_course}/source"
    api.coursedir.release_directory = f"{below_the_course}/release"
    result = api.generate_assignment(stem, force=True)
    if not result["success"]:
        raise click.ClickException(
            f"nbgrader could not make the student's version: {why(result)}\n"
            "Not released; what you had released stays."
        )
    return place / "release" / stem
