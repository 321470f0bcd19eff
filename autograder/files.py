"""Files written whole or not at all, digests of folders, zips: each in one way."""

import hashlib
import os
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

IGNORED = ("__pycache__", ".ipynb_checkpoints")


def write_atomically(path: Path, content: str | bytes, mode: int | None = None) -> None:
    """Write beside it and rename: whoever reads, or is killed, meets the old file or the new one.

    Without `mode` an existing file keeps its permissions. Raises OSError, and then the old file
    stands. The folder is made where it is missing.
    """
    data = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    unfinished = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.chmod(_mode_of(path) if mode is None else mode)
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def _mode_of(path: Path) -> int:
    """That of the file that is replaced, else what the user's mask leaves of 0666."""
    try:
        return path.stat().st_mode & 0o7777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


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
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files_below(folder):
                archive.write(path, Path(folder.name) / path.relative_to(folder))
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target
