"""`check("softmax")` in a notebook: what holds, what does not, and a question.

Reads what lies beside the notebook in `checks/`: the visible tests in a student's bundle, all of
them in the grader's folder. Returns the points as a plain number, which is what nbgrader records.
"""

import json
import sys
from pathlib import Path
from typing import Any

from course_lib.checking import record
from course_lib.checking.answers import Cells, NoAnswer, missing_names
from course_lib.checking.judge import judge, judge_proof, report
from course_lib.checking.run import DEFAULT_DTYPE, Run
from course_lib.checking.verdicts import Verdict, earned
from course_lib.checking.withheld import withheld

PRINTED_MUCH = 10_000
PATIENCE = 3
"""After so many checks with the same failure a further hint opens, and then another."""

cells = Cells()
_failures: dict[str, list[str]] = {}


def check(name: str, device: str = "cpu") -> float:
    """Check one answer, print what was found, and return the points it earns here."""
    folder = Path("checks") / name
    if not folder.is_dir():
        known = ", ".join(sorted(path.name for path in folder.parent.glob("*")))
        print(f"no exercise is called {name!r} here; there are: {known}")
        return 0.0
    try:
        if (folder / "blocks.json").is_file():
            answer, _ = cells.answer(name)
            return _check_proof(name, answer, json.loads((folder / "blocks.json").read_text()))
        with withheld(tuple(record.read(folder)["withholds"])):  # from the first import on
            answer, library = cells.answer(name)
        return _check_function(name, answer, Run(library, DEFAULT_DTYPE[library], device), folder)
    except NoAnswer as nothing:
        print(f"{name}: {nothing}")
    except Exception as error:
        print(f"{name}: your cells stop with {type(error).__name__}: {error}")
    return 0.0


def _check_function(name: str, function: Any, run: Run, folder: Path) -> float:
    if not callable(function):
        raise NoAnswer(f"{name} is a {type(function).__name__}, not a function")
    if forgotten := missing_names(function, _kernel_names()):
        raise NoAnswer(
            f"it uses {forgotten[0]}, which no cell defines any more, "
            "although the kernel still remembers it"
        )
    exercise = record.read(folder)
    verdicts = judge(function, run, folder, exercise)
    print(report(name, exercise, verdicts, run))
    for note in _notes(name, function, verdicts, exercise, run):
        print(f"  {note}")
    return round(float(earned(verdicts, exercise["points"])), 6)


def _notes(
    name: str, function: Any, verdicts: list[Verdict], exercise: dict[str, Any], run: Run
) -> list[str]:
    notes = []
    failed = [verdict.test for verdict in verdicts if not verdict.passed]
    changed = {argument for verdict in verdicts for argument in verdict.log.changed}
    if changed and not any("unchanged" in test for test in failed):
        notes.append(
            f"note: your function changes {' and '.join(sorted(changed))} in place; "
            "nothing here minds, a caller may"
        )
    if sum(verdict.log.printed for verdict in verdicts) > PRINTED_MUCH:
        notes.append("note: your function prints a great deal; it was set aside")
    if run.library == "torch" and not failed:
        notes += _device_note(function, verdicts)
    history = _failures.setdefault(name, [])
    history.append(failed[0] if failed else "")
    times = len(history) - next(
        (i for i in range(len(history), 0, -1) if history[i - 1] != history[-1]), 0
    )
    if failed and times >= PATIENCE and exercise["section"]:
        chapter = exercise["number"].partition(".")[0]
        notes.append(f"further: read “{exercise['section']}” in chapter {chapter} again")
    if failed and times > PATIENCE and exercise["worked"]:
        notes.append("the same task on the island: " + exercise["worked"])
    return notes


def _device_note(function: Any, verdicts: list[Verdict]) -> list[str]:
    from course_lib.checking.devices import replay_on_meta, surest

    replays = (replay_on_meta(function, v.log.arguments, v.run.dtype) for v in verdicts)
    found = surest([words for words in replays if words])
    return [f"note: {found}"] if found else []


def _check_proof(name: str, answer: Any, data: dict[str, Any]) -> float:
    fault, points = judge_proof(name, answer, data)
    print(
        f"{name}: {fault}" if fault else f"{name}: a proof. Every line follows from those above it."
    )
    return points


def _kernel_names() -> dict[str, Any]:
    return vars(sys.modules["__main__"])


def _remember_cells() -> None:
    """Follow which cell runs what; a front end without cell ids is followed by its counter."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return

    def before_cell(info: Any) -> None:
        cell = getattr(info, "cell_id", None) or f"run {shell.execution_count}"
        cells.ran(cell, shell.transform_cell(info.raw_cell))

    shell.events.register("pre_run_cell", before_cell)
    cells.ran("this one", shell.transform_cell(shell.history_manager.input_hist_raw[-1]))


_remember_cells()
