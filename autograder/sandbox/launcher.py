"""Build a small read-only root, drop every privilege, and become another program.

    python -m autograder.sandbox.launcher '{"read_only": [...], "at": {...}, "uid": 65534,
                                         "environment": {...}, "command": [...]}'

Works for an ordinary user and for root, who may own the only interpreter there is and therefore
steps down only when the new root stands.
"""

import json
import os
import sys

from autograder.sandbox import system

PLACES = ("/mnt", "/media", "/srv", "/opt", "/tmp")
DEVICES = ("null", "full", "random", "urandom")
"""Not zero: mapped and shared it would be memory that no limit counts."""


def main() -> None:
    world = json.loads(sys.argv[1])
    os.umask(0o022)  # or another user could not enter what root makes
    as_root, uid, gid = os.geteuid() == 0, os.getuid(), os.getgid()
    system.unshare(*([] if as_root else ["user"]), "mnt", "pid", "net", "ipc", "uts")
    if not as_root:
        system.map_ids(uid, gid)
    if child := os.fork():
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    system.die_with_parent()
    build(world)
    if as_root:
        os.setgroups([])
        os.setgid(world["uid"])
        os.setuid(world["uid"])
        system.die_with_parent()  # a change of identity forgets it
    os.execve(world["command"][0], world["command"], world["environment"])


def build(world: dict) -> None:
    """Mount what may be read at a new root and leave the old one."""
    shown = {path: path for path in world["read_only"]} | world["at"]
    new = next(p for p in PLACES if os.path.isdir(p) and not _holds(p, shown))
    system.private_mounts()
    system.mount("tmpfs", new, "tmpfs", system.NOSUID | system.NODEV, "size=1m,mode=755")
    for source, target in shown.items():
        _show(source, new + target)
    for folder in ("dev", "proc", "scratch"):
        os.mkdir(f"{new}/{folder}")
    for name in DEVICES:
        _show(f"/dev/{name}", f"{new}/dev/{name}", read_only=False)
    system.mount_proc(f"{new}/proc")  # while the old one is still there, as the kernel demands
    system.change_root(new)
    system.read_only("/", recursive=False)
    system.mount("tmpfs", "/scratch", "tmpfs", system.NOSUID | system.NODEV, "size=16m,mode=1777")


def _holds(folder: str, shown: dict[str, str]) -> bool:
    return any(
        os.path.realpath(path).startswith(folder + "/") or path.startswith(folder + "/")
        for path in shown
    )


def _show(source: str, target: str, read_only: bool = True) -> None:
    if not os.path.lexists(source):
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.islink(source) and os.path.dirname(source) == "/":  # /bin -> usr/bin
        os.symlink(os.readlink(source), target)
        return
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    else:
        open(target, "w").close()
    system.mount(source, target, flags=system.BIND | system.REC)
    if read_only:
        system.read_only(target)


if __name__ == "__main__":
    main()
