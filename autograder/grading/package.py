"""What a worker needs to grade one assignment, as one zip: it may travel to another machine."""

import hashlib
import io
import zipfile
from pathlib import Path

from course_lib import checking


class NotReleased(Exception):
    """There is nothing to grade against; says what to run."""


def pack(course: Path, stem: str) -> bytes:
    """The released notebook, all checks, and course_lib as the students have it."""
    source, released = course / "source" / stem, course / "release" / stem / f"{stem}.ipynb"
    if not released.is_file() or not (source / "checks").is_dir():
        raise NotReleased(
            f"{stem} was not released in this course folder: course release {stem} first"
        )
    files = {f"{stem}.ipynb": released}
    for folder in (source / "checks", source / "course_lib"):
        files |= {str(path.relative_to(source)): path for path in _files(folder)}
    machine = Path(checking.__file__).parent  # as it is now, whenever the release was made
    files |= {str(path.relative_to(machine.parents[1])): path for path in _files(machine)}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, path in files.items():
            archive.writestr(
                zipfile.ZipInfo(name), path.read_bytes()
            )  # no times: same in, same out
    return data.getvalue()


def _files(folder: Path) -> list[Path]:
    found = sorted(folder.rglob("*"))
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def unpack(data: bytes, folder: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
