"""Students of one machine: accounts that every Linux has, each acting with its own rights."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NEEDS_ROOT = pytest.mark.skipif(not ROOT, reason="only root can act for several accounts")
ADA, MALLORY = "daemon", "bin"
TIME = "2026-11-19 12:00:00.000000 UTC"


def as_(account: str, act: Callable[[], object]) -> bool:
    """Whether it could be done with the rights of this account."""
    child = os.fork()
    if child == 0:
        done = 1
        try:
            who = pwd.getpwnam(account)
            os.setgroups([])
            os.setgid(who.pw_gid)
            os.setuid(who.pw_uid)
            os.umask(0o022)
            act()
            done = 0
        except OSError:
            done = 2
        finally:
            os._exit(done)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 2), "the test's own mistake"
    return code == 0


def hand_in(
    account: str,
    inbound: Path,
    stem: str,
    files: dict[str, bytes | Path],
    name: str | None = None,
    time: str = TIME,
) -> Path:
    """As nbgrader's submit does it; a Path is what a link leads to."""
    folder = inbound / f"{name or account}+{stem}+{time}+{os.urandom(6).hex()}"

    def act() -> None:
        folder.mkdir()
        for file, content in files.items():
            path = folder / file
            path.parent.mkdir(exist_ok=True)
            if isinstance(content, Path):
                path.symlink_to(content)
            else:
                path.write_bytes(content)
        (folder / "timestamp.txt").write_text(time)
        folder.chmod(0o777)

    assert as_(account, act)
    return folder
