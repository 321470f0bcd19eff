"""What a worker needs to grade one assignment, as one zip: it may travel to another machine."""

import contextlib
import io
import json
import zipfile
from dataclasses import replace
from functools import lru_cache
from pathlib import Path, PurePosixPath

import nbformat

from autograder.errors import CourseError
from autograder.files import digest_of, files_below
from autograder.grading.fingerprint import (
    NOTEBOOK,
    WORKER,
    code_of,
    modules_behind,
    modules_imported,
)
from autograder.paths import ROOT
from autograder.sandbox.bounds import where_not_its_own
from course_lib.checking.terms import NO_LIMITS, Limits, Terms

COURSE_LIB, CHECKING = "course_lib", "course_lib.checking."


class NotReleased(CourseError):
    """There is nothing to grade against; says what to run."""


def pack(course: Path, stem: str, limits: Limits = NO_LIMITS) -> bytes:
    """The released notebook, all checks, and course_lib as the students have it.

    `limits` are the course's: an exercise without its own is given them, so that they count for
    what they concern. The same in gives the same bytes. Raises NotReleased.
    """
    demand_release(course, stem)
    released, checks = course / "release" / stem, course / "grader" / stem / "checks"
    files = {f"{stem}.ipynb": released / f"{stem}.ipynb"}
    machine = ROOT / COURSE_LIB / "checking"  # as it is now, whenever the release was made
    for folder, above in (
        (checks, checks.parent),
        (released / COURSE_LIB, released),
        (machine, ROOT),
    ):
        files |= {path.relative_to(above).as_posix(): path for path in files_below(folder)}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, path in files.items():
            undated = zipfile.ZipInfo(name)
            content = path.read_bytes()
            archive.writestr(undated, _within(limits, content) if _is_record(name) else content)
    return data.getvalue()


def demand_release(course: Path, stem: str) -> None:
    """Raises NotReleased."""
    if _is_released(course, stem):
        return
    chapters = sorted(path.parent.name for path in course.glob("grader/*/checks"))
    others = ", ".join(name for name in chapters if _is_released(course, name))
    raise NotReleased(
        f"{stem} was not released in {course}; released there: {others or 'nothing yet'}. "
        f"If that is its name, type  course release {stem}  first."
    )


def _within(limits: Limits, record: bytes) -> bytes:
    """The record of an exercise in a course that has limits of its own."""
    if limits == NO_LIMITS:
        return record
    data = json.loads(record)
    own = Terms.from_dict(data)
    terms = replace(own, limits=where_not_its_own(own.limits, limits))
    return json.dumps(data | terms.to_dict()).encode()


def _is_released(course: Path, stem: str) -> bool:
    notebook = course / "release" / stem / f"{stem}.ipynb"
    return notebook.is_file() and (course / "grader" / stem / "checks").is_dir()


def unpack(data: bytes, folder: Path) -> None:
    """Of it course_lib alone is shown to another user, where root grades."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    shown = folder / COURSE_LIB
    for path in (shown, *shown.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def released_notebook(data: bytes, stem: str) -> nbformat.NotebookNode:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return nbformat.reads(archive.read(f"{stem}.ipynb").decode(), as_version=4)


def digest(data: bytes) -> str:
    """Equal exactly if nothing in the package changed on which a verdict depends.

    Notebook and checks count to the letter. Of course_lib the code counts, and of its checking
    only what the grader or a notebook loads.
    """
    loaded = modules_behind((*WORKER, NOTEBOOK))
    counted: list[str] = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in sorted(archive.namelist()):
            module = _module_of(name)
            if not module.startswith(CHECKING) or module in loaded:
                content = archive.read(name)
                counted += [name, code_of(content) if module else content.hex()]
    return digest_of((), ROOT, *counted)


@lru_cache(maxsize=2)
def tests_import(data: bytes) -> tuple[str, ...]:
    """The modules of ours from which the tests take values: a worker has them as installed."""
    imported: set[str] = set()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in filter(_is_tests, archive.namelist()):
            with contextlib.suppress(SyntaxError):  # told for each submission, by the referee
                imported |= modules_imported(archive.read(name))
    return tuple(sorted(imported))


def _is_record(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[0] == "checks" and path.name == "record.json"


def _is_tests(name: str) -> bool:
    path = PurePosixPath(name)
    return path.parts[0] == "checks" and path.name == "tests.py"


def _module_of(name: str) -> str:
    """By which Python imports this file of the package; nothing for other files."""
    path = PurePosixPath(name)
    if path.parts[0] != COURSE_LIB or path.suffix != ".py":
        return ""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")
