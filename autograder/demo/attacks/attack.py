"""What an attack is, and how it gets into a submission."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell

Files = dict[str, bytes]


@dataclass(frozen=True)
class Attack:
    """What is tried, and by what it is held."""

    name: str
    held_by: str
    code: str = ""
    """Runs as the first cell; COURSE is the folder of the class."""
    answer: str = ""
    """The source of one answer: a function NAME. All others are useless."""
    change: Callable[[nbformat.NotebookNode], None] | None = None
    """Something done to the notebook,"""
    files: Callable[[Files], Files] | None = None
    """to what is handed in,"""
    folder: Callable[[Path], None] | None = None
    """or to the folder in which it lies."""
    stalls: bool = False
    """It takes all the time that there is."""

    def mount(self, notebook: nbformat.NotebookNode, course: Path, name: str, answer: str) -> None:
        """Put it into a notebook; `answer` is the id of the cell for the function `name`."""
        if self.answer:
            cell = next(cell for cell in notebook.cells if cell.id == answer)
            cell.source = self.answer.replace("NAME", name)
        if self.code:
            known = f"COURSE = {str(course)!r}\n"
            notebook.cells.insert(0, new_code_cell(known + self.code, id="attack"))
        if self.change:
            self.change(notebook)
