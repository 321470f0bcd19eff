"""Submissions that try to earn what they have not: each must gain nothing and stop nobody.

They run against this grader alone, on the machine that runs the tests, and every bomb among them is
bounded by itself as well as by the sandbox.
"""

from collections.abc import Callable
from dataclasses import dataclass

import nbformat
from nbformat.v4 import new_code_cell


@dataclass(frozen=True)
class Attack:
    """What is tried, and by what it is held."""

    name: str
    held_by: str
    code: str = ""
    """Runs as the first cell; all answers of the notebook are useless."""
    change: Callable[[nbformat.NotebookNode], None] | None = None
    """Or something done to the notebook itself."""

    def mount(self, notebook: nbformat.NotebookNode) -> None:
        if self.code:
            notebook.cells.insert(0, new_code_cell(self.code))
        if self.change:
            self.change(notebook)


def _tag(notebook: nbformat.NotebookNode) -> None:
    for cell in notebook.cells:
        cell.metadata["tags"] = ["skip-execution"]


ATTACKS = (
    Attack("a tag that skips the checks", "rebuild", change=_tag),
    Attack(
        "numpy's comparison patched",
        "referee",
        "import numpy as np\nnp.allclose = np.isclose = np.array_equal = lambda *a, **k: True",
    ),
)
