"""What students handed in, as nbgrader's folders hold it: submitted/<student>/<assignment>/."""

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from autograder.untrusted import Fault, Refused, TooLarge, entries_below, open_beneath, read_beneath

FILES_AT_MOST = 200
BYTES_AT_MOST = 128 << 20
A_TIME, A_LINE = 100, 1_000
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
    closed = PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    try:
        for name in _names(folder):
            try:
                with open_beneath(folder, name):
                    pass
            except Refused as refused:
                if refused.fault == Fault.CLOSED:
                    closed.filename = str(folder / name)
                    raise
    except Refused as refused:
        if refused.fault == Fault.CLOSED:
            return f"{closed}: give yourself the right to read it (chmod), and grade again"
    return ""


def read(course: Path, stem: str, student: str) -> Submission:
    """What the grader reads of a hand-in; no files where its folder is gone."""
    files: dict[str, bytes] = {}
    room = BYTES_AT_MOST
    try:
        for name in _names(course / "submitted", student, stem):
            with suppress(Refused, TooLarge):
                if len(files) < FILES_AT_MOST:
                    place = (student, stem, name)
                    files[name] = read_beneath(course / "submitted", *place, at_most=room)
                    room -= len(files[name])
    except Refused:
        pass
    files.pop("timestamp.txt", None)
    return Submission(student, files)


def read_line(course: Path, stem: str, student: str, name: str) -> bytes | None:
    """A short file that nbgrader keeps beside the notebook; None where there is none."""
    try:
        return read_beneath(course / "submitted", student, stem, name, at_most=A_LINE)
    except (Refused, TooLarge):
        return None


def handed_in(course: Path, stem: str, student: str) -> datetime | None:
    """When, as nbgrader's timestamp.txt says; None where it says nothing that can be read."""
    return time_of(read_line(course, stem, student, "timestamp.txt") or b"")


def _names(root: Path, *names: str) -> Iterator[str]:
    """Notebooks, plain files, the time; links, devices and folders are somebody's trick."""
    for entry in entries_below(root, *names, deep=0):
        if isinstance(entry, Refused):
            continue
        if entry[0].lower().endswith((".ipynb", ".py", "timestamp.txt")):
            yield entry[0]


def time_of(text: bytes) -> datetime | None:
    """In UTC, as nbgrader writes it; None for what says none."""
    from nbgrader.utils import parse_utc

    if not text.strip() or len(text) > A_TIME:
        return None
    try:
        time: datetime | None = parse_utc(text.decode().strip())
        return time
    except (ValueError, OverflowError, UnicodeDecodeError):
        return None
