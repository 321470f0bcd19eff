"""What is graded keeps its exercises: nbgrader adds no cell to it and takes none away."""

from pathlib import Path
from typing import Any

import nbformat

from autograder.errors import CourseError
from autograder.exercises.assignment import Assignment
from autograder.exercises.cell_ids import COMMON, exercise_of_each_cell
from autograder.release.outline import read_outline

NEW = (
    "\nA new exercise goes into an assignment of its own:  "
    "course new exercise NN_more/name --course FOLDER"
)


class OtherExercises(CourseError):
    """This assignment is graded, and the release would add or drop cells of it."""

    exit_code = 1


def refuse_other_exercises(
    gradebook: Any, assignment: Assignment, notebook: nbformat.NotebookNode, course: Path
) -> None:
    """Before anything is touched: would cells come or go in which the gradebook has work?

    The last release in this course folder names the exercises that there were. Raises
    OtherExercises.
    """
    from nbgrader.api import MissingEntry

    try:
        graded = gradebook.find_notebook(assignment.stem, assignment.stem)
    except MissingEntry:
        return
    before, now = _cells_in_gradebook(graded), _cells_in(notebook)
    if before == now or not graded.submissions:
        return
    released = read_outline(course, assignment.stem).exercises
    names = exercise_of_each_cell(
        [*(e.name for e in released), *(e.name for e in assignment.exercises)]
    )
    old, new = _exercises(before, names), _exercises(now, names)
    changes = {
        "dropped": old - new,
        "added": new - old,
        "marked in another way": _exercises(before ^ now, names) & old & new,
    }
    lines = [f"  {what}: {', '.join(sorted(which))}" for what, which in changes.items() if which]
    head = f"{assignment.stem} is graded already, and what is graded keeps its exercises:"
    raise OtherExercises(
        "\n".join([head, *lines])
        + "\nNothing was changed. Put them back as they were; tests, texts and points may change."
        + NEW * bool(new - old)
    )


def _cells_in_gradebook(notebook: Any) -> set[tuple[str, str]]:
    kinds = {
        "grade": notebook.grade_cells,
        "solution": notebook.solution_cells,
        "source": notebook.source_cells,
    }
    return {(kind, cell.name) for kind, cells in kinds.items() for cell in cells}


def _cells_in(notebook: nbformat.NotebookNode) -> set[tuple[str, str]]:
    cells = [c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata]
    return {
        (kind, cell.grade_id)
        for cell in cells
        for kind in ("grade", "solution", "source")
        if kind == "source" or cell[kind]
    }


def _exercises(cells: set[tuple[str, str]], names: dict[str, str]) -> set[str]:
    """The exercises of these cells; a cell of an exercise that nobody remembers stands itself."""
    return {names.get(cell, cell) for _, cell in cells if cell not in COMMON}
