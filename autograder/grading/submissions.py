"""What students handed in, as nbgrader's folders hold it: submitted/<student>/<assignment>/."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

FILES_AT_MOST = 200
BYTES_AT_MOST = 128 << 20
A_TIME = 100
"""Letters, at most."""
MARKUP = '<>"&\\'
"""What a page or a script could take for its own."""
NAME_AT_MOST = 200
"""Bytes of a name: files called after it are a little longer, and no disk takes more than 255."""


@dataclass(frozen=True)
class Submission:
    """The files of one student, read into memory; nothing of the folder is followed."""

    student: str
    files: dict[str, bytes]

    @property
    def content(self) -> bytes:
        """One string of bytes that differs if anything does."""
        return b"".join(
            b"%s\0%d\0%s" % (os.fsencode(name), len(data), data)
            for name, data in self.files.items()
        )


def students_with(course: Path, stem: str, only: str = "*") -> list[str]:
    """Who has handed something in, in order."""
    return [path.parent.name for path in _folders(course, stem, only) if not _fault(path)]


def left_out(course: Path, stem: str, only: str = "*") -> list[tuple[str, str]]:
    """Folders that are nobody's work, and why."""
    faults = (
        (ascii(path.parent.name)[1:-1], _fault(path)) for path in _folders(course, stem, only)
    )
    return [(name, fault) for name, fault in faults if fault] + _closed(course, only)


def _closed(course: Path, only: str) -> list[tuple[str, str]]:
    """Folders of students in which nobody can see what lies there."""
    folders = (path for path in sorted((course / "submitted").glob(only)) if path.is_dir())
    faults = ((ascii(path.name)[1:-1], _unreadable(path)) for path in folders)
    return [(name, fault) for name, fault in faults if fault]


def _folders(course: Path, stem: str, only: str) -> list[Path]:
    found = sorted((course / "submitted").glob(f"{only}/{stem}"))
    return [path for path in found if path.is_dir()]


def _fault(path: Path) -> str:
    name = path.parent.name
    if path.is_symlink() or path.parent.is_symlink():
        return f"the folder {ascii(name)} is a link to another and was not followed"
    if not name.isprintable() or any(letter in MARKUP for letter in name):
        return f"{ascii(name)} is no name for a student: rename the folder, and grade again"
    if len(os.fsencode(name)) > NAME_AT_MOST:
        return f"the name is longer than {NAME_AT_MOST} bytes: rename the folder, and grade again"
    return _unreadable(path)


def _unreadable(folder: Path) -> str:
    """Why its files cannot be read, if so."""
    try:
        for path in _regular_files(folder):
            path.open("rb").close()
    except OSError as error:
        return f"{error}: give yourself the right to read it (chmod), and grade again"
    return ""


def read(course: Path, stem: str, student: str) -> Submission:
    folder = course / "submitted" / student / stem
    files: dict[str, bytes] = {}
    room = BYTES_AT_MOST
    for path in _regular_files(folder):
        size = path.stat().st_size
        if len(files) == FILES_AT_MOST or size > room:
            continue
        room -= size
        files[path.name] = path.read_bytes()
    files.pop("timestamp.txt", None)
    return Submission(student, files)


def handed_in(course: Path, stem: str, student: str) -> datetime | None:
    """When, as nbgrader's timestamp.txt says; None where it says nothing that can be read."""
    path = course / "submitted" / student / stem / "timestamp.txt"
    try:
        return _time(path.read_bytes()) if path.is_file() and not path.is_symlink() else None
    except OSError:
        return None


def _regular_files(folder: Path) -> Iterator[Path]:
    """Notebooks, plain files, the time; links, devices and folders are somebody's trick."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            regular = stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
            if regular and entry.name.lower().endswith((".ipynb", ".py", "timestamp.txt")):
                yield Path(entry.path)


def _time(text: bytes) -> datetime | None:
    from nbgrader.utils import parse_utc

    if not text.strip() or len(text) > A_TIME:
        return None
    try:
        time: datetime | None = parse_utc(text.decode().strip())
        return time
    except (ValueError, OverflowError, UnicodeDecodeError):
        return None
