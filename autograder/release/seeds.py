"""The secret seeds of a course folder."""

import secrets
from pathlib import Path

from autograder.files import write_atomically


def secret_seed(course: Path, stem: str) -> int:
    """The seed of the hidden inputs: one for each assignment and class, kept for every regrade."""
    path = course / "seeds" / stem
    if not path.is_file():
        keep_seed(course, stem, draw_seed())
    return int(path.read_text())


def draw_seed() -> int:
    return secrets.randbits(62) + 1


def keep_seed(course: Path, stem: str, seed: int) -> None:
    path = course / "seeds" / stem
    write_atomically(path, f"{seed}\n", mode=0o600)
