"""The ids of an exercise's cells: the same in every notebook, plain file and gradebook.

They are made here and nowhere else, and they never change: what was handed in is found by them.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

COMMON = ("head", "set-up", "left", "what-is-left")
"""The cells that every assignment has: they do not tell which it is."""


class CellIds(NamedTuple):
    """Those of one exercise; which of them there are depends on its kind."""

    task: str
    answer: str
    """Also called the exercise's slug. A proof in words carries its mark here."""
    check: str
    """Below the answer; all other exercises carry their mark here."""
    rubric: str

    @classmethod
    def of(cls, name: str) -> "CellIds":
        """Of the exercise with this name, which is a Python name."""
        slug = name.replace("_", "-")
        return cls(f"{slug}-task", slug, f"{slug}-check", f"{slug}-rubric")

    @classmethod
    def of_entry(cls, entry: dict[str, Any]) -> "CellIds":
        """Of an exercise in checks/assignment.json, whichever version of the course wrote it."""
        return cls(**entry["cells"]) if "cells" in entry else cls.of(entry["name"])


def exercise_of_each_cell(names: Iterable[str]) -> dict[str, str]:
    """Cell id -> name of the exercise, for all cells that exercises of these names can have."""
    return {cell: name for name in names for cell in CellIds.of(name)}
