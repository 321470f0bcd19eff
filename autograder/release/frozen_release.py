"""What is graded keeps its exercises: nbgrader adds no cell to it and takes none away."""

import click
import nbformat

from autograder.release.notebooks import COMMON

NEW = (
    "\nA new exercise goes into an assignment of its own:  "
    "course new exercise NN_more/name --course FOLDER"
)
PARTS = ("-task", "-check", "-rubric")


def refuse_other_exercises(gradebook, stem: str, notebook: nbformat.NotebookNode) -> None:
    """Before anything is touched: the gradebook has work in cells that would come or go."""
    from nbgrader.api import MissingEntry

    try:
        known = gradebook.find_notebook(stem, stem)
    except MissingEntry:
        return
    before, now = _cells_known(known), _cells_of(notebook)
    if before == now or not known.submissions:
        return
    old, new = _exercises(before), _exercises(now)
    lines = {
        "dropped": old - new,
        "added": new - old,
        "marked in another way": _exercises(before ^ now) & old & new,
    }
    changes = [f"  {what}: {', '.join(sorted(names))}" for what, names in lines.items() if names]
    raise click.ClickException(
        "\n".join([f"{stem} is graded already, and what is graded keeps its exercises:", *changes])
        + "\nNothing was changed. Put them back as they were; tests, texts and points may change."
        + NEW * bool(new - old)
    )


def _cells_known(notebook) -> set[tuple[str, str]]:
    kinds = {
        "grade": notebook.grade_cells,
        "solution": notebook.solution_cells,
        "source": notebook.source_cells,
    }
    return {(kind, cell.name) for kind, cells in kinds.items() for cell in cells}


def _cells_of(notebook: nbformat.NotebookNode) -> set[tuple[str, str]]:
    cells = [c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata]
    return {
        (kind, cell.grade_id)
        for cell in cells
        for kind in ("grade", "solution", "source")
        if kind == "source" or cell[kind]
    }


def _exercises(cells: set[tuple[str, str]]) -> set[str]:
    names = {name for _, name in cells if name not in COMMON}
    for part in PARTS:
        names = {name.removesuffix(part) for name in names}
    return {name.replace("-", "_") for name in names}
