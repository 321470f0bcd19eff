"""What an exercise or a course may ask for in place of the numbers in limits.py.

`limits = { call_seconds = 5 }` in assignment.toml is one exercise's; `c.Limits.call_seconds = 5` in
local_config.py a course's.
"""

import os
from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from autograder.sandbox import limits
from course_lib.checking.terms import Limits

NAMES = tuple(field.name for field in fields(Limits))
WHOLE = ("memory_mib", "returned_mib")
LEAST = {"call_seconds": 0.1, "cell_seconds": 0.1, "memory_mib": 128, "returned_mib": 1}
RETURNED_AT_MOST = 512
"""MiB: who grades holds it in memory, more than once, for each of the workers."""


def fault_in(name: str, value: Any) -> tuple[str, str] | None:
    """What is wrong with this value of a limit, and what to write instead; None if it may be."""
    if name not in NAMES:
        return f"there is no limit `{name}`", f"use one of {', '.join(NAMES)}"
    kind, least, most = int if name in WHOLE else int | float, LEAST[name], _most(name)
    if isinstance(value, bool) or not isinstance(value, kind):
        number = "a whole number" if name in WHOLE else "a number"
        return f"`{name}` is {value!r}", f"write {number} from {least:g} to {most:g}{_why(name)}"
    if not least <= value <= most:
        return f"`{name}` is {value:g}", f"write a number from {least:g} to {most:g}{_why(name)}"
    return None


def _most(name: str) -> float:
    if name == "memory_mib":
        return _memory_of_this_machine()
    return RETURNED_AT_MOST if name == "returned_mib" else limits.SUBMISSION_SECONDS


def _why(name: str) -> str:
    if name == "memory_mib":
        return "; this machine has no more"
    if name == "returned_mib":
        return ""
    return "; all cells and calls of a submission together have no more"


def _memory_of_this_machine() -> int:
    """In MiB."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // limits.MEBIBYTE
    except (AttributeError, ValueError, OSError):  # Windows, where nobody grades
        return 1 << 20


def where_not_its_own(own: Limits, of_the_course: Limits) -> Limits:
    """An exercise's limits in a course that has some: its own come first."""
    stated = {name: value for name, value in asdict(own).items() if value is not None}
    return Limits(**asdict(of_the_course) | stated)


def of_a_submission(exercises: Iterable[Limits]) -> Limits:
    """One process serves all exercises: the most that any of them asks for.

    Who asks for nothing asks for what limits.py gives.
    """
    asked = list(exercises)
    cells, memory = [one.cell_seconds for one in asked], [one.memory_mib for one in asked]
    usual = limits.PROCESS_MEMORY // limits.MEBIBYTE
    return Limits(
        cell_seconds=max(one or limits.CELL_SECONDS for one in cells) if any(cells) else None,
        memory_mib=max(one or usual for one in memory) if any(memory) else None,
    )
