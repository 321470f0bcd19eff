"""Run a command as an ordinary user, for tests that root has started.

    python tests/grading/as_ordinary_user.py COMMAND...

Root's interpreter may lie in a folder that nobody else may enter (/root, mode 0700). In a mount
namespace of its own the command sees such a folder as an open one that holds only what it needs:
the interpreter, its packages and the checkout, each at its usual place and read-only.
"""

import os
import stat
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))

from autograder.sandbox import system  # noqa: E402  (found through the line above)

NOBODY = 65534


def open_what_is_closed() -> None:
    """From here on this process and its children see those folders as open ones."""
    system.unshare("mnt")
    system.private_mounts()
    needed = [Path(sys.base_prefix), Path(sys.prefix), CHECKOUT]
    for closed in {folder for path in needed if (folder := _closed_folder_above(path))}:
        _open(closed, [path for path in needed if closed in path.parents])


def main() -> None:
    open_what_is_closed()
    home = tempfile.mkdtemp(prefix="ordinary-")
    os.chown(home, NOBODY, NOBODY)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    os.chdir(CHECKOUT)
    os.environ |= {"HOME": home, "TMPDIR": home, "PYTHONDONTWRITEBYTECODE": "1"}
    os.execvp(sys.argv[1], sys.argv[1:])


def _closed_folder_above(path: Path) -> Path | None:
    for folder in reversed(path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None


def _open(closed: Path, needed: list[Path]) -> None:
    """Cover the folder with an empty one and put the needed ones back into it."""
    opened = [os.open(path, os.O_PATH) for path in needed]
    system.mount("tmpfs", str(closed), "tmpfs", system.NOSUID | system.NODEV, "size=1m,mode=755")
    for path, place in zip(needed, opened, strict=True):
        path.mkdir(parents=True, exist_ok=True)
        system.mount(f"/proc/self/fd/{place}", str(path), flags=system.BIND | system.REC)
        system.read_only(str(path))
        os.close(place)


if __name__ == "__main__":
    main()
