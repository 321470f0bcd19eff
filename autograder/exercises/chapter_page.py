"""Which exercises a chapter's page shows."""

import re
from collections.abc import Iterable
from pathlib import Path

from autograder.exercises.assignment import Exercise
from autograder.exercises.proof import Fault

BOX = re.compile(r"^`{3,}\{course-exercise\} (\w+)$", re.MULTILINE)


def shown_in(page: Path) -> list[str]:
    """Names of exercises, in the order of the page. Raises OSError where there is none."""
    return BOX.findall(page.read_text())


def not_shown(exercises: Iterable[Exercise], chapters: Path) -> dict[str, Fault]:
    """Exercise -> what to write, for those whose chapter has a page that leaves them out."""
    faults = {}
    for exercise in exercises:
        page = chapters / f"{exercise.folder.parent.name}.md"
        if page.is_file() and exercise.name not in shown_in(page):
            problem = "the page does not show this exercise; where the idea is fresh, write\n"
            problem += f"  ```{{course-exercise}} {exercise.name}\n  ```"
            faults[exercise.name] = Fault(f"{chapters.name}/{page.name}", exercise.name, problem)
    return faults
