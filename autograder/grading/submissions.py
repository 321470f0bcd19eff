"""What students handed in, as nbgrader's folders hold it: submitted/<student>/<assignment>/."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

FILES_AT_MOST = 200
BYTES_AT_MOST = 128 << 20


@dataclass(frozen=True)
class Submission:
    """The files of one student, read into memory; nothing of the folder is followed."""

    student: str
    files: dict[str, bytes]
    handed_in: datetime | None

    @property
    def content(self) -> bytes:
        """One string of bytes that differs if anything does."""
        parts = (f"{name}\0{len(data)}\0".encode() + data for name, data in self.files.items())
        return b"".join(parts)


def students_with(course: Path, stem: str, only: str = "*") -> list[str]:
    """Who has handed something in, in order."""
    found = sorted((course / "submitted").glob(f"{only}/{stem}"))
    return [path.parent.name for path in found if path.is_dir() and not path.parent.is_symlink()]


def read(course: Path, stem: str, student: str) -> Submission:
    folder = course / "submitted" / student / stem
    files, room = {}, BYTES_AT_MOST
    for path in _regular_files(folder):
        size = path.stat().st_size
        if len(files) == FILES_AT_MOST or size > room:
            continue
        room -= size
        files[path.name] = path.read_bytes()
    return Submission(student, files, _handed_in(files.pop("timestamp.txt", b"")))


def _regular_files(folder: Path) -> Iterator[Path]:
    """Notebooks and the time of handing in; links, devices and folders are somebody's trick."""
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            regular = stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode)
            if regular and entry.name.lower().endswith((".ipynb", "timestamp.txt")):
                yield Path(entry.path)


def _handed_in(text: bytes) -> datetime | None:
    from nbgrader.utils import parse_utc

    try:
        return parse_utc(text.decode().strip()) if text.strip() else None
    except (ValueError, OverflowError, UnicodeDecodeError):
        return None
