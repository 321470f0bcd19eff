"""What a released assignment consists of, as its release says: checks/assignment.json."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat

from autograder.exercises.cell_ids import CellIds, exercise_of_each_cell
from course_lib.checking.work import OUTLINE


@dataclass(frozen=True)
class OutlinedExercise:
    """One exercise, under the names that students know it by."""

    name: str
    number: str
    title: str
    kind: str
    """code, proof blocks or proof."""
    cells: CellIds

    @property
    def slug(self) -> str:
        return self.cells.answer

    @classmethod
    def from_entry(cls, entry: dict[str, Any]) -> "OutlinedExercise":
        """Raises KeyError where it is no entry of checks/assignment.json."""
        name, number, title, kind = (entry[key] for key in ("name", "number", "title", "kind"))
        return cls(name, number, title, kind, CellIds.of_entry(entry))


@dataclass(frozen=True)
class Outline:
    """One released assignment."""

    stem: str
    title: str
    exercises: tuple[OutlinedExercise, ...]

    @property
    def heading(self) -> str:
        """As the notebook begins."""
        number = self.stem.partition("_")[0]
        return f"Chapter {int(number)}: {self.title}" if number.isdecimal() else self.title

    @cached_property
    def labels(self) -> dict[str, str]:
        """What a person calls the exercise of each name, and of each cell."""
        label = {each.name: f"{each.number} {each.name}".strip() for each in self.exercises}
        return label | {cell: label[name] for cell, name in exercise_of_each_cell(label).items()}


def read_outline(course: Path, stem: str) -> Outline:
    """Of the last release of this assignment in a course folder."""
    path = course / "release" / stem / "checks" / OUTLINE
    if not path.is_file():
        return _of_an_older_release(course, stem)
    data = json.loads(path.read_text(encoding="utf-8"))
    return Outline(stem, data["title"], tuple(map(OutlinedExercise.from_entry, data["exercises"])))


def _of_an_older_release(course: Path, stem: str) -> Outline:
    """It has no outline: its exercises are those whose cells carry marks in its notebook."""
    notebook = course / "release" / stem / f"{stem}.ipynb"
    cells = nbformat.read(notebook, as_version=4).cells if notebook.is_file() else []
    graded = [cell.id for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")]
    checks = course / "grader" / stem / "checks"
    judged = exercise_of_each_cell(path.parent.name for path in checks.glob("*/*.json"))
    names = [judged.get(cell, cell.replace("-", "_")) for cell in graded]
    return Outline(stem, stem, tuple(_from_record(checks / name) for name in names))


def _from_record(folder: Path) -> OutlinedExercise:
    path, name = folder / "record.json", folder.name
    record = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    number, title = record.get("number", ""), record.get("title", name.replace("_", " "))
    kind = "code" if record else "proof blocks" if folder.is_dir() else "proof"
    return OutlinedExercise(name, number, title, kind, CellIds.of(name))
