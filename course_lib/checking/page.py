"""The cells of a page: run like a notebook's, and checked by the notebook's own `check`.

Here the page says what stands in its cells; Python lives in a worker of the reader's browser.
"""

import ast
import linecache
import sys
import traceback

import numpy as np

from course_lib.checking import notebook, recordings
from course_lib.checking.examine import checks_folder
from course_lib.checking.findings import Cause, FailureKind

SET_UP = "import numpy as np"
COLUMNS = np.get_printoptions()["linewidth"]
BY_KIND = {
    FailureKind.OUT_OF_MEMORY: (
        "Python in a page has 4 GB, and 2 GB for one array. How many entries did you ask for?"
    ),
    FailureKind.LIBRARY_MISSING: "PyTorch does not run in a page; the notebook has both.",
}
BY_EXCEPTION = {
    "FileNotFoundError": "Python in a page sees none of your files: write numbers into the cell.",
    "ModuleNotFoundError": (
        "Python in a page has NumPy and its own library, and nothing else. "
        "The notebook has PyTorch and Matplotlib as well."
    ),
}
"""What the reader of a page should know besides."""


def run(cell: str, source: str, columns: int = COLUMNS) -> None:
    """Run one cell in the memory that all cells share; show the value of its last line."""
    np.set_printoptions(linewidth=min(columns, COLUMNS))
    memory = vars(sys.modules["__main__"])
    file = f"<cell {cell}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    try:
        statements = ast.parse(f"{SET_UP}\n").body + ast.parse(source, file).body
        exec(compile(ast.Module(statements[:-1], []), file, "exec"), memory)
        exec(compile(ast.Interactive(statements[-1:]), file, "single"), memory)
    except BaseException as error:
        _tell(error)


def check(name: str, cells: list[tuple[str, str]]) -> bool:
    """Check one answer among the cells as they stand, its own last; True when all holds."""
    try:
        ast.parse(cells[-1][1], f"<cell {cells[-1][0]}>")
    except SyntaxError as error:
        _tell(error)
        return False
    notebook.cells.sources.clear()
    for cell, source in (("set-up", SET_UP), *cells):
        notebook.cells.ran(cell, source)
    points, cause = notebook.check_with_cause(name)
    _explain(cause)
    most: float = recordings.read(checks_folder() / name)["points"]
    return points == most


def hints(name: str) -> list[str]:
    """What else there is to say about an exercise, in the order in which it should be said."""
    return notebook.further_hints(recordings.read(checks_folder() / name))


def _tell(error: BaseException) -> None:
    """The error as Python shows it, from the reader's own first line on."""
    if isinstance(error, SyntaxError):
        error.__traceback__ = None
    frame = error.__traceback__
    while frame and frame.tb_frame.f_code.co_filename == __file__:
        frame = frame.tb_next
    print("".join(traceback.format_exception(type(error), error, frame, chain=False)), end="")
    _explain(Cause.of_exception(error))


def _explain(cause: Cause | None) -> None:
    if cause and (words := BY_KIND.get(cause.kind) or BY_EXCEPTION.get(cause.exception)):
        print(f"\n{words}")
