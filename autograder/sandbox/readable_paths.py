"""What of this machine a student's process may read: the system's programs and the interpreter.

Named folder by folder: beside the libraries of a system there may lie what concerns nobody
(nbgrader's exchange is in /usr/local/share), and a virtual environment may be a course's folder.
"""

import os
import sys

_SYSTEM = """
/bin /sbin /lib /lib32 /lib64 /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec
/usr/local/lib /usr/share/fonts /usr/share/fontconfig /usr/share/zoneinfo /nix/store
/etc/ld.so.cache /etc/fonts /etc/alternatives
"""
SYSTEM = _SYSTEM.split()
OF_A_PREFIX = ("bin", "lib", "lib64", "pyvenv.cfg")


def readable() -> list[str]:
    """Everything that exists of it; what lies in a folder that is shown already is left out."""
    prefixes = dict.fromkeys((sys.base_prefix, sys.prefix))
    ours = [f"{prefix}/{name}" for prefix in prefixes for name in OF_A_PREFIX]
    wanted = [*SYSTEM, *ours, *_links_to_the_interpreter(), *packages_elsewhere()]
    shown: list[str] = []
    for path in wanted:
        if os.path.lexists(path) and not _within(path, shown):
            shown.append(path)
    return shown


def packages_elsewhere() -> list[str]:
    """Of a user who has installed them for himself (pip install --user)."""
    prefixes = (sys.base_prefix, sys.prefix)
    names = ("site-packages", "dist-packages")
    packages = (path for path in sys.path if os.path.basename(path) in names)
    return [path for path in packages if not _within(path, prefixes) and os.path.isdir(path)]


def _links_to_the_interpreter() -> list[str]:
    """The program may be a link to a link; each must be there."""
    hops: list[str] = []
    path = sys.executable
    while os.path.islink(path) and len(hops) < 10:
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        hops.append(path)
    return hops


def _within(path: str, folders: list[str] | tuple[str, ...]) -> bool:
    return any(path.startswith(folder.rstrip("/") + "/") for folder in folders)
