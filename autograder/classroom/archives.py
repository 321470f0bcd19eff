"""Whatever instructors download: folders, files, zips, zips of zips; read, never unpacked.

A `Container` lists what it holds before anything of it is read, so that it can be told whose each
file is. What one hand-in may cost, whatever is in it, is its `Allowance`.
"""

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from autograder.untrusted import (
    Refused,
    TooLarge,
    entries_below,
    open_beneath,
    printable,
    read_at_most,
)

DEEP = 4
"""Zips in zips."""
BYTES_AT_MOST = 512 << 20
"""Of one hand-in, unpacked, the zips in it counted in."""
FILES_AT_MOST = 2_000
"""Of one hand-in."""
NOTEBOOKS_AT_MOST = 20
SECONDS_AT_MOST = 20.0
LISTED_AT_MOST = 100_000
"""Of one container."""
CONTENTS_AT_MOST = 16 << 20
"""Bytes of the table of contents of one zip: a hundred thousand files have half of it."""
PACKED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What platforms and file managers make; others may take as much memory as they say."""
IGNORED = ("__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "__pycache__")
END, END_64 = re.compile(rb"PK\x05\x06"), re.compile(rb"PK\x06\x06")
UNREADABLE = (
    *(zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, ValueError),
    *(zlib.error, struct.error, Refused, TooLarge),
)
"""What reading a damaged, encrypted, strangely packed or changed entry raises."""


@dataclass
class Allowance:
    """What is left of what one hand-in may cost."""

    size: int = field(default_factory=lambda: BYTES_AT_MOST)
    """Bytes, unpacked."""
    files: int = FILES_AT_MOST
    notebooks: int = NOTEBOOKS_AT_MOST
    seconds: float = SECONDS_AT_MOST
    """For taking the outputs out of large ones."""

    def read(self, file: IO[bytes], at_most: int = BYTES_AT_MOST) -> bytes:
        """Raises TooLarge where there is more than that, or than is left."""
        most = min(at_most, self.size)
        try:
            data = read_at_most(cast(BinaryIO, file), most)
        except TooLarge:
            self.size -= most
            raise
        self.size -= len(data)
        return data


@dataclass(frozen=True)
class Member:
    """A file of a container, not yet opened."""

    path: tuple[str, ...]
    """Folders and its own name, from the outside in."""
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    changed: float = 0.0
    """Of a file on the disk; the dates in a zip are anybody's word."""

    @property
    def is_zip(self) -> bool:
        return self.path[-1].lower().endswith(".zip")


@dataclass(frozen=True)
class Item:
    """A file of a hand-in, wherever it lies; to be read before the next is asked for."""

    path: tuple[str, ...]
    """Folders, zips and the file's own name, from the outside in."""
    read: Callable[..., bytes]
    """At most so many bytes, and what its hand-in has left. Raises one of UNREADABLE."""
    changed: float = 0.0
    """As a member's."""

    @property
    def name(self) -> str:
        return self.path[-1]

    def __str__(self) -> str:
        return printable("/".join(self.path), 120)


@dataclass(frozen=True)
class Damaged:
    """What was not read, and why."""

    path: tuple[str, ...]
    reason: str

    def __str__(self) -> str:
        return printable("/".join(self.path), 120)


@dataclass
class Container:
    """A folder, a file or a zip."""

    members: list[Member] = field(default_factory=list)
    damaged: list[Damaged] = field(default_factory=list)

    def add(self, path: tuple[str, ...], opened: Callable[[], Any], changed: float = 0.0) -> None:
        if path and not any(part in IGNORED or part.startswith("._") for part in path):
            self.members.append(Member(path, opened, changed))


@contextmanager
def container(source: Path | IO[bytes]) -> Iterator[Container]:
    """What lies there, as long as it is open; links lead nowhere.

    A path is the instructor's own word; what lies beneath it is anybody's. Raises one of
    UNREADABLE for what is called a zip and is none.
    """
    if not isinstance(source, Path) or (source.is_file() and source.suffix.lower() == ".zip"):
        with _zip(source) as listed:
            yield listed
    elif source.is_file():
        yield Container([Member((source.name,), lambda: source.open("rb"))])
    else:
        yield _folder(source)


def _folder(source: Path) -> Container:
    listed = Container()
    for entry in entries_below(source, at_most=LISTED_AT_MOST):
        if isinstance(entry, Refused):
            listed.damaged.append(Damaged(entry.parts, f"it is {entry.fault} and was not read"))
        else:
            changed = 0.0
            with suppress(OSError):  # gone since
                changed = source.joinpath(*entry).lstat().st_mtime
            listed.add(entry, partial(open_beneath, source, *entry), changed)
    return listed


@contextmanager
def _zip(source: Path | IO[bytes]) -> Iterator[Container]:
    with source.open("rb") if isinstance(source, Path) else source as file:
        if _size_of_contents(file) > CONTENTS_AT_MOST:
            raise zipfile.BadZipFile("its table of contents is longer than that of any class")
        with zipfile.ZipFile(file) as archive:
            listed = Container()
            for info in archive.infolist()[:LISTED_AT_MOST]:
                parts = tuple(p for p in info.filename.replace("\\", "/").split("/") if p)
                if not info.is_dir():
                    listed.add(parts, partial(_open, archive, info))
            if len(archive.infolist()) > LISTED_AT_MOST:
                reason = f"of its files only {LISTED_AT_MOST} were looked at"
                listed.damaged.append(Damaged((), reason))
            yield listed


def _open(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    if info.compress_type not in PACKED_AS:
        raise NotImplementedError("it is packed in a way that only few programs know")
    return archive.open(info)


def _size_of_contents(file: IO[bytes]) -> int:
    """The largest that any end of this zip claims; what it costs to open it."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - (1 << 16) - 200))
    tail = file.read()
    claimed = [int.from_bytes(tail[m.start() + 12 :][:4], "little") for m in END.finditer(tail)]
    claimed = [claim for claim in claimed if claim != 0xFFFFFFFF]
    claimed += [int.from_bytes(tail[m.start() + 40 :][:8], "little") for m in END_64.finditer(tail)]
    return min(size, max(claimed, default=0))


def unfold(
    member: Member, allowance: Allowance, above: tuple[str, ...] = (), deep: int = DEEP
) -> Iterator[Item | Damaged]:
    """The file itself, or what is in the zip that it is, as far as the allowance goes."""
    path = above + member.path
    if allowance.files <= 0:
        if allowance.files == 0:
            yield Damaged(path, f"of its files only {FILES_AT_MOST} were looked at")
        allowance.files = -1
        return
    allowance.files -= 1
    if not member.is_zip:

        def read(at_most: int = BYTES_AT_MOST) -> bytes:
            with member.open() as file:
                return allowance.read(file, at_most)

        yield Item(path, read, member.changed)
    elif not deep:
        yield Damaged(path, f"zips in zips are followed {DEEP} deep")
    else:
        try:
            with member.open() as packed:
                inside = io.BytesIO(allowance.read(packed))
            with container(inside) as listed:
                for damaged in listed.damaged:
                    yield Damaged(path + damaged.path, damaged.reason)
                for inner in listed.members:
                    yield from unfold(inner, allowance, path, deep - 1)
                    if allowance.files < 0:
                        return
        except TooLarge:
            yield Damaged(path, f"unpacked it has more than {BYTES_AT_MOST >> 20} MiB")
        except UNREADABLE as error:
            yield Damaged(path, f"it is no zip that can be opened ({printable(str(error))})")
