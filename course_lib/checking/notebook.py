"""`check("softmax")` in a notebook: what holds, what does not, and a question.

Reads what lies beside the notebook in `checks/`: the visible tests in a student's bundle, all of
them in the grader's folder. Returns the points as a plain number, which is what nbgrader records.
"""

import os
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

from course_lib.checking import recordings
from course_lib.checking.answers import Cells, NoAnswer, NotDefined, without_timing
from course_lib.checking.examine import Examined, checks_folder, examine
from course_lib.checking.findings import Cause
from course_lib.checking.percent import CELL
from course_lib.checking.verdicts import Verdict
from course_lib.checking.work import Assignment, Work, WrongFile, table

COLUMNS = 104
PATIENCE = 3
"""After so many checks with the same failure a further hint opens, and then another."""

cells = Cells()
_failures: dict[str, list[str]] = {}


class Points(float):
    """The plain number that nbgrader reads; a front end shows people what it counts."""

    def __new__(cls, examined: Examined) -> "Points":
        return super().__new__(cls, examined.points)

    def __init__(self, examined: Examined) -> None:
        self._most = examined.most

    def _repr_html_(self) -> str:
        return f"{self:g} of {self._most:g} points here"


def check(name: str, device: str = "cpu") -> float:
    """Check one answer, print what was found, and return the points it earns here."""
    return check_with_cause(name, device)[0]


def check_with_cause(name: str, device: str = "cpu") -> tuple[float, Cause | None]:
    """The same, with the cause of the failure that was printed, if there is one."""
    try:
        examined = examine(name, cells, device, _kernel_names())
    except LookupError as unknown:
        print(unknown.args[0])
        return 0.0, None
    except NoAnswer as nothing:
        to_run = isinstance(nothing, NotDefined) and _shell()  # a file or a page has all there is
        first = ": run the cell with your answer first" if to_run else ""
        print(f"{name}: {nothing}{first}")
        return 0.0, nothing.cause
    lines = [examined.report]
    if examined.verdicts:
        exercise = recordings.read(checks_folder() / name)
        lines += [f"  {note}" for note in _notes(name, examined, exercise)]
    text = "\n".join(lines)
    print(in_lines(text) if _shell() else text)
    return Points(examined), examined.cause


def in_lines(text: str) -> str:
    """Broken between words: JupyterLab breaks a long line wherever its window ends."""
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines += textwrap.wrap(
            line, COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(lines)


def what_is_left() -> None:
    """Say for every exercise what holds, what does not yet, and what was never attempted."""
    assignment = Assignment.here()
    if assignment is None:
        return  # where it is graded, the grader says so
    file = _plain_file() or _notebook(assignment.stem)
    try:
        saved = Work.read(file)
    except WrongFile:
        saved = None
    print(table(assignment, cells, saved))


def reset(name: str) -> None:
    """Turn the answer cell that this stands in back into its starter, and keep what was there."""
    assignment, shell = Assignment.here(), _shell()
    exercise = assignment.find(name) if assignment else None
    if exercise is None or shell is None:
        print(f"no exercise is called {name!r} here; type its name as in check(...)")
        return
    if cells.now not in (exercise["slug"], None):
        print(
            f"Nothing was changed. Write  reset({name!r})  into the answer cell of exercise "
            f"{exercise['number']}, alone, and run it there: the starter takes its place."
        )
        return
    if before := cells.replaced.get(exercise["slug"]):
        kept = Path("kept") / f"{name}-{time.strftime('%Y-%m-%d-%H%M%S')}.py"
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(before, encoding="utf-8")
        print(f"What you had is in {kept}.")
    shell.set_next_input(exercise["starter"], replace=True)


def _notes(name: str, examined: Examined, exercise: dict[str, Any]) -> list[str]:
    notes, verdicts = [], examined.verdicts
    failed = [verdict.test for verdict in verdicts if not verdict.passed]
    changed = {argument for verdict in verdicts for argument in verdict.log.changed}
    if changed and not any("unchanged" in test for test in failed):
        notes.append(
            f"note: your function changes {' and '.join(sorted(changed))} in place; "
            "nothing here minds, a caller may"
        )
    if sum(verdict.log.printed for verdict in verdicts):
        notes.append("note: what your function prints is not shown here; call it in a cell")
    if examined.setting and examined.setting.library == "torch" and not failed:
        notes += _device_note(examined.function, verdicts)
    history = _failures.setdefault(name, [])
    history.append(failed[0] if failed else "")
    times = len(history) - next(
        (i for i in range(len(history), 0, -1) if history[i - 1] != history[-1]), 0
    )
    if failed:
        notes += further_hints(exercise)[: max(0, times - PATIENCE + 1)]
    return notes


def further_hints(exercise: dict[str, Any]) -> list[str]:
    """What opens one by one when a question is not enough."""
    hints = []
    if exercise["section"]:
        chapter = exercise["number"].partition(".")[0]
        hints.append(f"further: read “{exercise['section']}” in chapter {chapter} again")
    if exercise["worked"]:
        hints.append("the same task on the island: " + exercise["worked"])
    return hints


def _device_note(function: Any, verdicts: tuple[Verdict, ...]) -> list[str]:
    from course_lib.checking.devices import replay_on_meta, surest

    replays = (replay_on_meta(function, v.log.arguments, v.setting.dtype) for v in verdicts)
    issue = surest([issue for issue in replays if issue])
    return [f"note: {issue}"] if issue else []


def _kernel_names() -> dict[str, Any]:
    return vars(sys.modules["__main__"])


def _plain_file() -> Path | None:
    """The file that Python runs, if its cells are marked."""
    file = Path(getattr(sys.modules["__main__"], "__file__", None) or "")
    if _shell() is not None or file.suffix != ".py":
        return None
    return file if CELL.search(file.read_text(encoding="utf-8", errors="replace")) else None


def _notebook(stem: str) -> Path:
    """The notebook of this kernel, where the front end says which that is."""
    named = Path(os.environ.get("JPY_SESSION_NAME", ""))
    return named if named.suffix == ".ipynb" and named.is_file() else Path(f"{stem}.ipynb")


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _remember_cells() -> None:
    """Follow which cell runs what; a front end without cell ids is followed by its counter.

    Where a plain Python file is run, its cells are those of the file.
    """
    shell = _shell()
    if shell is None:
        if file := _plain_file():
            cells.sources = Work.read(file).code().sources
        return

    def before_cell(info: Any) -> None:
        cell = getattr(info, "cell_id", None) or f"run {shell.execution_count}"
        cells.ran(cell, shell.transform_cell(without_timing(info.raw_cell)))
        cells.now = getattr(info, "cell_id", None)

    shell.events.register("pre_run_cell", before_cell)
    now = without_timing(shell.history_manager.input_hist_raw[-1])
    cells.ran("this one", shell.transform_cell(now))


_remember_cells()
