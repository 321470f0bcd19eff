"""Folders that somebody else may write to, read with our rights.

A name is opened once, no link is followed at any level, and what was opened is looked at, not what
its name says: a swap between a look and a read gains nothing. A reader takes what it needs and no
more, whatever size was told: `read_at_most`.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import BinaryIO

__all__ = [
    "Fault",
    "Refused",
    "TooLarge",
    "entries_below",
    "open_beneath",
    "printable",
    "read_at_most",
    "read_beneath",
    "stat_beneath",
]

BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
"""Not on Windows, where a course folder is its owner's alone and links are looked for by name."""
FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
FLAGS |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
JOINERS = "\u200c\u200d"
"""Invisible, and needed to write Persian and Hindi."""
Place = int | Path
"""An open folder, or on Windows its name."""


class Fault(StrEnum):
    """Why something is not read."""

    LINK = "a link"
    SPECIAL = "neither a file nor a folder"
    OTHER_OWNER = "somebody else's"
    HARD_LINK = "a second name of a file that may be somebody else's"
    TOO_DEEP = "too many folders deep"
    TOO_MANY = "one of too many files"
    CLOSED = "closed to you"
    GONE = "not there any more"


class Refused(Exception):
    """This was not read, and why."""

    def __init__(self, parts: tuple[str, ...], fault: Fault):
        super().__init__(parts, fault)
        self.parts, self.fault = parts, fault

    def __str__(self) -> str:
        return f"{printable('/'.join(self.parts))} is {self.fault} and was not read"


class TooLarge(Exception):
    """There is more than the reader would take."""


@dataclass(frozen=True)
class _Opened:
    place: Place
    about: os.stat_result


def entries_below(
    root: Path, *names: str, deep: int = 16, at_most: int = 50_000
) -> Iterator[tuple[str, ...] | Refused]:
    """The names of what may be files below `root/names...`, in order, and what is refused.

    `root` is trusted, `names` and all below are not. A name is only a name: `open_beneath` says
    whether it can be read. Raises Refused where the folder itself cannot be.
    """
    with ExitStack() as stack:
        folder = _descend(stack, root, names)
        yield from _entries(folder.place, (), deep, [at_most])


def _entries(
    folder: Place, above: tuple[str, ...], deep: int, room: list[int]
) -> Iterator[tuple[str, ...] | Refused]:
    with os.scandir(folder) as entries:
        listed = sorted(islice(entries, room[0] + 1), key=lambda entry: entry.name)
    for entry in listed:
        parts = (*above, entry.name)
        if not room[0]:
            yield Refused(parts, Fault.TOO_MANY)
            return
        room[0] -= 1
        if not entry.is_dir(follow_symlinks=False) or _is_link(entry):
            yield Refused(parts, Fault.LINK) if _is_link(entry) else parts
        elif not deep:
            yield Refused(parts, Fault.TOO_DEEP)
        else:
            try:
                with ExitStack() as stack:
                    inner = _open(stack, folder, entry.name, parts, os.O_RDONLY)
                    yield from _entries(inner.place, parts, deep - 1, room)
            except Refused as refused:
                yield refused


@contextmanager
def open_beneath(root: Path, *parts: str, owner: int | None = None) -> Iterator[BinaryIO]:
    """The regular file `root/parts...`, open; `owner` is the number of whom it must belong to.

    Raises Refused, also for a file that has a second name where others may have given it.
    """
    with ExitStack() as stack:
        folder = _descend(stack, root, parts[:-1])
        file = _open(stack, folder.place, parts[-1], parts)
        if not stat.S_ISREG(file.about.st_mode):
            raise Refused(parts, Fault.SPECIAL)
        if owner is not None and file.about.st_uid != owner:
            raise Refused(parts, Fault.OTHER_OWNER)
        if owner is None and file.about.st_nlink > 1 and not _is_private(folder, file):
            raise Refused(parts, Fault.HARD_LINK)
        if isinstance(file.place, Path):
            yield stack.enter_context(file.place.open("rb"))
        else:
            yield stack.enter_context(os.fdopen(os.dup(file.place), "rb"))


def stat_beneath(root: Path, *names: str) -> os.stat_result:
    """Of the folder `root/names...`, as it was opened. Raises Refused."""
    with ExitStack() as stack:
        return _descend(stack, root, names).about


def read_beneath(root: Path, *parts: str, at_most: int, owner: int | None = None) -> bytes:
    """All of it. Raises Refused, and TooLarge where there is more."""
    with open_beneath(root, *parts, owner=owner) as file:
        return read_at_most(file, at_most)


def read_at_most(file: BinaryIO, at_most: int) -> bytes:
    """All of it, whatever size it is said to have. Raises TooLarge."""
    data = file.read(at_most + 1)
    if len(data) > at_most:
        raise TooLarge(f"more than {at_most} bytes")
    return data


def printable(name: str, at_most: int = 80) -> str:
    """A name that somebody else gave, as a line of ours may show it: no control, no end of line,
    nothing that turns the direction, and cut in the middle where it is long."""
    shown = "".join(
        letter if letter.isprintable() or letter in JOINERS else ascii(letter)[1:-1]
        for letter in name
    )
    if len(shown) <= at_most:
        return shown
    return f"{shown[: at_most // 2 - 1]}…{shown[-(at_most - at_most // 2) :]}"


def _is_private(folder: _Opened, file: _Opened) -> bool:
    """Whether nobody but the file's owner can have put its name there."""
    closed = not folder.about.st_mode & OTHERS_WRITE or not BY_DESCRIPTOR
    return closed and folder.about.st_uid == file.about.st_uid


def _descend(stack: ExitStack, root: Path, names: tuple[str, ...]) -> _Opened:
    if BY_DESCRIPTOR:
        try:
            descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise Refused((root.name,), _fault_of(error)) from error
        stack.callback(os.close, descriptor)
        folder = _Opened(descriptor, os.fstat(descriptor))
    else:
        folder = _Opened(root, root.stat())
    for depth, name in enumerate(names):
        folder = _open(stack, folder.place, name, names[: depth + 1])
        if not stat.S_ISDIR(folder.about.st_mode):
            raise Refused(names[: depth + 1], Fault.SPECIAL)
    return folder


def _open(
    stack: ExitStack, folder: Place, name: str, parts: tuple[str, ...], flags: int = FLAGS
) -> _Opened:
    if name in ("", ".", "..") or "/" in name or os.sep in name:
        raise Refused(parts, Fault.LINK)
    try:
        if isinstance(folder, Path):
            path = folder / name
            if path.is_symlink():
                raise Refused(parts, Fault.LINK)
            return _Opened(path, path.lstat())
        descriptor = os.open(name, flags | FLAGS, dir_fd=folder)
        stack.callback(os.close, descriptor)
        return _Opened(descriptor, os.fstat(descriptor))
    except OSError as error:
        raise Refused(parts, _fault_of(error)) from error


def _fault_of(error: OSError) -> Fault:
    faults = {
        errno.ELOOP: Fault.LINK,
        errno.ENXIO: Fault.SPECIAL,
        errno.ENOENT: Fault.GONE,
        errno.ENOTDIR: Fault.LINK,
        errno.EACCES: Fault.CLOSED,
        errno.EPERM: Fault.CLOSED,
    }
    if error.errno not in faults:
        raise error  # a disk that fails, too many open files
    return faults[error.errno]


def _is_link(entry: "os.DirEntry[str]") -> bool:
    is_junction = getattr(entry, "is_junction", None)
    return entry.is_symlink() or bool(is_junction and is_junction())
