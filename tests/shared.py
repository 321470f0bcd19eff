"""What many tests read and none may change, made once in a test run for all workers of xdist."""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock


class SharedFolders:
    """Folders below one that all workers of a run have in common."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.folder.mkdir(exist_ok=True)
        self._as_made: dict[Path, dict[Path, tuple[int, int]]] = {}

    def get(self, name: str, make: Callable[[Path], object]) -> Path:
        """The folder of this name; whoever asks first has `make` fill it while the others wait.

        What `make` raises is raised here, and the next who asks tries again.
        """
        folder, whole = self.folder / name, self.folder / f"{name}.whole"
        with FileLock(self.folder / f"{name}.lock"):
            if not whole.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                whole.touch()
            self._as_made.setdefault(folder, _state(folder))
        return folder

    def changed(self) -> list[str]:
        """The files that are not as this worker first saw them."""
        return [
            str(path.relative_to(self.folder))
            for folder, state in self._as_made.items()
            for path, _ in sorted(state.items() ^ _state(folder).items())
        ]


def _state(folder: Path) -> dict[Path, tuple[int, int]]:
    stats = {path: path.stat() for path in folder.rglob("*") if path.is_file()}
    return {
        path: (stat.st_size, stat.st_mtime_ns)
        for path, stat in stats.items()
        if "__pycache__" not in path.parts
    }


def let_everybody_enter(*folders: Path) -> None:
    """So that no test of the sandbox holds only because of the modes of a temporary folder."""
    end = Path(tempfile.gettempdir())
    for folder in folders:
        for each in (folder, *folder.parents):
            if end in each.parents:
                each.chmod(0o755)
