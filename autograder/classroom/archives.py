"""Whatever instructors download: folders, files, zips, zips of zips; read, never unpacked."""

import io
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

READ_AT_MOST = 512 << 20
"""Bytes of one file. A zip that pretends to be small is cut there."""
DEEP = 4
"""Zips in zips."""
FILES_AT_MOST = 50_000
IGNORED = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "__pycache__")


class TooLarge(Exception):
    """It will not be read."""


@dataclass(frozen=True)
class Item:
    """One file, wherever it lies."""

    path: tuple[str, ...]
    """Folders, zips and the file's own name, from the outside in."""
    size: int
    changed: datetime
    read: Callable[[], bytes]

    @property
    def name(self) -> str:
        return self.path[-1]

    def __str__(self) -> str:
        return "/".join(self.path).encode("ascii", "backslashreplace").decode()[-120:]


@dataclass(frozen=True)
class Damaged:
    """A zip that cannot be opened, and why."""

    path: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        return "/".join(self.path)


def items_in(source: Path) -> Iterator[Item | Damaged]:
    """Every file of the source; links lead nowhere."""
    if source.is_file():
        yield from _file(source, (source.name,))
        return
    for number, path in enumerate(sorted(source.rglob("*"))):
        if number >= FILES_AT_MOST:
            yield Damaged((source.name,), f"of its files only {FILES_AT_MOST} were looked at")
            return
        parts = path.relative_to(source).parts
        if stat.S_ISREG(path.lstat().st_mode) and not _ignored(parts):
            yield from _file(path, parts)


def how_many(source: Path) -> int:
    """Its files, a zip in it counted as one: how long it will take, without looking twice."""
    if source.is_dir():
        return sum(path.is_file() for path in source.rglob("*"))
    try:
        with zipfile.ZipFile(source) as archive:
            return len(archive.infolist())
    except UNREADABLE:
        return 1


def _file(path: Path, parts: tuple[str, ...]) -> Iterator[Item | Damaged]:
    if path.suffix.lower() == ".zip":
        yield from _zipped(path, parts, DEEP)
    else:
        about = path.stat()
        yield Item(parts, about.st_size, datetime.fromtimestamp(about.st_mtime), path.read_bytes)


def _zipped(
    source: Path | io.BytesIO, parts: tuple[str, ...], deep: int
) -> Iterator[Item | Damaged]:
    try:
        archive = zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError) as error:
        yield Damaged(parts, f"it is no zip that can be opened ({error})")
        return
    with archive:
        for info in archive.infolist()[:FILES_AT_MOST]:
            inside = tuple(part for part in info.filename.replace("\\", "/").split("/") if part)
            if info.is_dir() or not inside or _ignored(inside):
                continue
            here = parts + inside

            def read(info: zipfile.ZipInfo = info) -> bytes:
                with archive.open(info) as file:
                    data = file.read(READ_AT_MOST + 1)
                if len(data) > READ_AT_MOST:
                    raise TooLarge
                return data

            if not info.filename.lower().endswith(".zip"):
                yield Item(here, info.file_size, _changed(info), read)
                continue
            if deep == 0:
                yield Damaged(here, f"zips in zips are followed {DEEP} deep")
                continue
            try:
                yield from _zipped(io.BytesIO(read()), here, deep - 1)
            except (TooLarge, *UNREADABLE) as error:
                yield Damaged(here, f"it is no zip that can be opened ({error or 'too large'})")


UNREADABLE = (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, ValueError)
"""What reading a damaged, encrypted or strangely packed entry raises."""


def _changed(info: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*info.date_time)
    except ValueError:
        return datetime(1980, 1, 1)


def _ignored(parts: tuple[str, ...]) -> bool:
    return any(part in IGNORED or part.startswith("._") for part in parts)
