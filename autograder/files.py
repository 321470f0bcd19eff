"""Files written whole or not at all, digests of folders, zips: each in one way."""

import hashlib
import os
import secrets
import stat
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = [
    "UNFINISHED",
    "digest_of",
    "files_below",
    "open_atomically",
    "write_atomically",
    "zip_folder",
]

IGNORED = ("__pycache__", ".ipynb_checkpoints")
UNFINISHED = ".*.unfinished"
"""Of a write that was killed: what it had got to lies beside the file, under such a name."""

CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_atomically(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Write beside it and rename: whoever reads, or is killed, meets the old file or the new one.

    Without `mode` an existing file keeps its permissions. The folder is made where it is missing.
    Raises OSError that names the path, and then the old file stands.
    """
    with open_atomically(path, mode) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def open_atomically(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """The same for what is written piece by piece; an exception leaves the old file, too.

    A symbolic link is replaced, not followed: it may be a student's. What is no file, such as
    /dev/stdout, is written to as it is.
    """
    before = _stat(path)
    if before and not stat.S_ISREG(before.st_mode):
        with path.open("wb") as file:
            yield file
        return
    if mode is None and before:
        mode = stat.S_IMODE(before.st_mode)
    beginning = os.fsdecode(os.fsencode(path.name)[:100])  # a name may have 255 bytes
    unfinished = path.with_name(f".{beginning}.{secrets.token_hex(8)}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # with its permissions before there is anything in it; without any, the user's mask decides
        descriptor = os.open(unfinished, CREATE, 0o666 if mode is None else mode)
        with os.fdopen(descriptor, "wb") as file:
            if before:
                with suppress(OSError, AttributeError):  # not one's own group, or Windows
                    os.chown(unfinished, -1, before.st_gid)
            if mode is not None:
                unfinished.chmod(mode)  # what the mask took away
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException as error:
        with suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError) and error.errno and _is_of(error, unfinished):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def _is_of(error: OSError, path: Path) -> bool:
    """A full disk names no file."""
    return error.filename is None or os.fspath(error.filename) == os.fspath(path)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def files_below(folder: Path) -> list[Path]:
    """Every regular file, in order, without caches."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not set(path.relative_to(folder).parts) & set(IGNORED)
    ]


def digest_of(paths: Iterable[Path], root: Path, *besides: str) -> str:
    """SHA-256 of the names below `root` and the contents of these files, and of other words.

    Each part is hashed with its length, so that no two lists of files are confused.
    """
    state = hashlib.sha256()
    for word in besides:
        _add(state, word.encode())
    for path in paths:
        _add(state, path.relative_to(root).as_posix().encode())
        _add(state, path.read_bytes())
    return state.hexdigest()


def _add(state: "hashlib._Hash", part: bytes) -> None:
    state.update(len(part).to_bytes(8, "big") + part)


def zip_folder(folder: Path, target: Path) -> Path:
    """Every file below the folder, under the folder's own name; the zip appears whole."""
    with (
        open_atomically(target) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for path in files_below(folder):
            archive.write(path, Path(folder.name) / path.relative_to(folder))
    return target
