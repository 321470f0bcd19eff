"""The cells of a page: run like a notebook's, and answers checked by the notebook's own `check`.

Here the page says what stands in its cells; Python lives in a worker of the reader's browser.

There are two of `course_lib`. What is run has the whole library; what is checked has the one that
came with the checks, in which the functions that are asked for refuse.
"""

import ast
import contextlib
import importlib.util
import io
import linecache
import logging
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from course_lib.checking import notebook, recordings
from course_lib.checking.examine import checks_folder
from course_lib.checking.findings import Cause, FailureKind

SET_UP = "import numpy as np"
COLUMNS = np.get_printoptions()["linewidth"]
LIBRARY = Path("/library")
"""Where the whole course_lib is."""
LATE = {"core", "ctypeslib", "f2py", "ma", "polynomial", "test", "testing"}
if LIBRARY.is_dir():  # or array-api-compat would import these parts of NumPy, some are left out
    np.__all__ = [name for name in np.__all__ if name not in LATE]
    vars(np)["__numpy_submodules__"] -= LATE
DRAWING = "course_lib.plots"
BY_KIND = {
    FailureKind.OUT_OF_MEMORY: (
        "Python in a page has 4 GB, and 2 GB for one array. How many entries did you ask for?"
    ),
    FailureKind.LIBRARY_MISSING: "PyTorch does not run in a page; the notebook has both.",
}
BY_EXCEPTION = {
    "FileNotFoundError": "Python in a page sees none of your files: write numbers into the cell.",
    "ModuleNotFoundError": (
        "Python in a page has NumPy, Matplotlib and the common part of its own library. "
        "PyTorch and everything else run on your own machine, in the notebook."
    ),
}
"""What the reader of a page should know besides."""


def run(cell: str, source: str, columns: int = COLUMNS) -> tuple[bool, list[tuple[bytes, str]]]:
    """Run one cell in the memory that all cells share; show the value of its last line.

    Says whether it came to its end; and for each figure that it drew, the picture and its words.
    """
    np.set_printoptions(linewidth=min(columns, COLUMNS))
    memory = vars(sys.modules["__main__"])
    file = f"<cell {cell}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    figures: list[Any] = []

    def show(value: object) -> None:
        if hasattr(value, "savefig"):
            figures.append(value)
        elif value is not None and not source.rstrip().endswith(";"):
            print(repr(value))

    with _whole_library():
        plain, sys.displayhook = sys.displayhook, show
        try:
            statements = ast.parse(f"{SET_UP}\n").body + ast.parse(source, file).body
            exec(compile(ast.Module(statements[:-1], []), file, "exec"), memory)
            exec(compile(ast.Interactive(statements[-1:]), file, "single"), memory)
            return True, [_picture(figure) for figure in [*_left_open(), *figures]]
        except BaseException as error:
            _tell(error)
            return False, []
        finally:
            sys.displayhook = plain


def draws(source: str) -> bool:
    """Whether a cell needs Matplotlib, which is loaded for the first that does."""
    with contextlib.suppress(SyntaxError):
        for node in ast.walk(ast.parse(source)):
            match node:
                case ast.Name(id="plots" | "plt"):
                    return True
                case ast.ImportFrom(module=str(module)) if _is_drawing(module):
                    return True
                case ast.Import(names=names) if any(_is_drawing(alias.name) for alias in names):
                    return True
    return False


def _is_drawing(module: str) -> bool:
    return module.partition(".")[0] == "matplotlib" or module.startswith(DRAWING)


def _left_open() -> list[Any]:
    """Figures of pyplot that nobody has closed; a notebook shows them below the cell."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return figures


def _picture(figure: Any) -> tuple[bytes, str]:
    png = io.BytesIO()
    with warnings.catch_warnings(action="ignore"):  # on its layout, which no notebook shows either
        figure.savefig(png, format="png", bbox_inches="tight", dpi=figure.dpi)
    return png.getvalue(), getattr(figure, "alt", "")


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
    if points == most:
        with contextlib.redirect_stdout(io.StringIO()):
            run(*cells[-1])  # the cells of the page can call it now
    return points == most


def hints(name: str) -> list[str]:
    """What else there is to say about an exercise, in the order in which it should be said."""
    return notebook.further_hints(recordings.read(checks_folder() / name))


_modules: dict[str, ModuleType] = {}
logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it names the fonts that were left out


@contextlib.contextmanager
def _whole_library() -> Iterator[None]:
    """Let course_lib be the one in which nothing refuses; afterwards it is what it was."""
    if not LIBRARY.is_dir():
        yield
        return
    _modules.setdefault("myst_nb", _myst_nb())
    restricted = _taken_out()
    sys.modules.update(_modules)
    sys.path.insert(0, str(LIBRARY))
    sys.meta_path.insert(0, _Late())
    try:
        yield
    finally:
        del sys.meta_path[0]
        sys.path.remove(str(LIBRARY))
        _modules.update(_taken_out())
        sys.modules.update(restricted)


def _taken_out() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] in ("course_lib", "myst_nb")]
    return {name: sys.modules.pop(name) for name in names}


class _Late:
    """Imports the module of figures when it is first used: many cells import it and do not draw."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != DRAWING:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec and spec.loader:
            spec.loader = importlib.util.LazyLoader(spec.loader)
        return spec


def _myst_nb() -> ModuleType:
    """Pages put numbers into their text with `glue`; here they stand there already."""
    module = ModuleType("myst_nb")
    vars(module)["glue"] = lambda name, value, display=True: None
    return module


def _tell(error: BaseException) -> None:
    """The error in one line, then as Python shows it, from the reader's own first line on."""
    if isinstance(error, SyntaxError):
        error.__traceback__ = None
    frame = error.__traceback__
    while frame and frame.tb_frame.f_code.co_filename == run.__code__.co_filename:
        frame = frame.tb_next
    *steps, last = traceback.format_exception(type(error), error, frame, chain=False)
    print(last, *steps, sep="", end="")
    _explain(Cause.of_exception(error))


def _explain(cause: Cause | None) -> None:
    if cause and (words := BY_KIND.get(cause.kind) or BY_EXCEPTION.get(cause.exception)):
        print(f"\n{words}")
