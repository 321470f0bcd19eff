"""What a worker needs to grade one assignment, as one zip: it may travel to another machine."""

import hashlib
import io
import zipfile
from pathlib import Path

import nbformat

from course_lib import checking


class NotReleased(Exception):
    """There is nothing to grade against; says what to run."""


def pack(course: Path, stem: str) -> bytes:
    """The released notebook, all checks, and course_lib as the students have it."""
    released, checks = course / "release" / stem, course / "grader" / stem / "checks"
    if not _is_released(course, stem):
        found = sorted(path.parent.name for path in course.glob("grader/*/checks"))
        others = ", ".join(name for name in found if _is_released(course, name))
        raise NotReleased(
            f"{stem} was not released in {course}; released there: {others or 'nothing yet'}. "
            f"If that is its name, type  course release {stem}  first."
        )
    files = {f"{stem}.ipynb": released / f"{stem}.ipynb"}
    machine = Path(checking.__file__).parent  # as it is now, whenever the release was made
    for folder in (checks, released / "course_lib", machine):
        above = folder.parents[1] if folder is machine else folder.parent
        files |= {path.relative_to(above).as_posix(): path for path in _files(folder)}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, path in files.items():
            undated = zipfile.ZipInfo(name)  # same in, same out
            archive.writestr(undated, path.read_bytes())
    return data.getvalue()


def _is_released(course: Path, stem: str) -> bool:
    notebook = course / "release" / stem / f"{stem}.ipynb"
    return notebook.is_file() and (course / "grader" / stem / "checks").is_dir()


def _files(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*"))
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def unpack(data: bytes, folder: Path) -> None:
    """Of it course_lib alone is shown to another user, where root grades."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    shown = folder / "course_lib"
    for path in (shown, *shown.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def released_notebook(data: bytes, stem: str) -> nbformat.NotebookNode:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return nbformat.reads(archive.read(f"{stem}.ipynb").decode(), as_version=4)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
