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
from course_lib.checking.blocks import Blocks
from course_lib.checking.run import DEFAULT_DTYPE, Run
from course_lib.checking.verdicts import Verdict, diagnose, earned, load_module, run_test, tests_in
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
    print(_report(name, exercise, verdicts, run))
    for note in _notes(name, function, verdicts, exercise, run):
        print(f"  {note}")
    return round(float(earned(verdicts, exercise["points"])), 6)


def judge(function: Any, run: Run, folder: Path, exercise: dict[str, Any]) -> list[Verdict]:
    """Run the tests that lie in the folder, with recorded oracle and recorded mistakes."""
    verdicts = []
    for test in tests_in(load_module(folder / "tests.py")).values():
        recorded = exercise["tests"][test.__name__]
        here = Run(run.library, run.dtype, run.device, recorded["seed"])
        dtype = record.in_dtype_of(test, here).dtype
        oracle = record.Replay(recorded["oracle"][dtype])
        verdict = run_test(test, function, here, oracle, tuple(exercise["withholds"]))
        verdicts.append(diagnose(verdict, record.known_mistakes(recorded, verdict.run)))
    return verdicts


def _report(name: str, exercise: dict[str, Any], verdicts: list[Verdict], run: Run) -> str:
    failed = sorted((v for v in verdicts if not v.passed), key=lambda v: not v.core)
    if not failed:
        visible = [verdict for verdict in verdicts if not verdict.hidden]
        more = exercise["hidden"] - (len(verdicts) - len(visible))
        rest = (
            f"; {more} more {'is' if more == 1 else 'are'} looked at when you hand in"
            if more
            else ""
        )
        return f"{name}: all {len(verdicts)} properties looked at here hold{rest}  ({run})"
    lines = [
        f"{name}: {len(verdicts) - len(failed)} of {len(verdicts)} properties hold",
        "",
        str(failed[0]),
    ]
    lines += [""] * (len(failed) > 1) + [f"also not: {verdict.property}" for verdict in failed[1:]]
    if failed[0].core and len(failed) < len(verdicts):
        lines += ["", "As long as the first one does not hold, the others earn nothing."]
    return "\n".join(lines)


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
    blocks = Blocks(
        tuple(data["letters"]),
        data["text"],
        {k: tuple(v) for k, v in data["after"].items()},
        data["part"],
        data["why_not"],
    )
    if isinstance(answer, str):
        answer = answer.split()
    if answer in ([], [...]):
        raise NoAnswer("not written yet")
    if not isinstance(answer, (list, tuple)) or not all(
        isinstance(letter, str) for letter in answer
    ):
        raise NoAnswer(f'{name} is not a list of letters such as ["b", "a"]')
    fault = blocks.first_fault(list(answer))
    print(
        f"{name}: {fault}" if fault else f"{name}: a proof. Every line follows from those above it."
    )
    return round(data["points"] * blocks.share(list(answer)), 6)


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
