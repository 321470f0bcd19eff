"""Look at one answer among some cells: the same for a notebook, a plain file and a hand-in."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import course_lib
from course_lib.checking import recordings
from course_lib.checking.answers import Cells, NoAnswer, missing_names
from course_lib.checking.findings import Cause, FailureKind
from course_lib.checking.judge import first_failed, judge, judge_proof, report
from course_lib.checking.setting import DEFAULT_DTYPE, Setting
from course_lib.checking.terms import Terms
from course_lib.checking.verdicts import Verdict, earned
from course_lib.checking.withheld import withheld


@dataclass(frozen=True)
class Examined:
    """What was found; `verdicts` is empty for a proof that was built."""

    points: float
    most: float
    report: str
    short: str
    at_stake: float = 0.0
    """So many of the points hang on properties that are looked at when the work is handed in."""
    cause: Cause | None = None
    """Of the failure that the report shows."""
    function: Any = None
    verdicts: tuple[Verdict, ...] = ()
    setting: Setting | None = None


def checks_folder() -> Path:
    """Beside the notebook or beside course_lib; where that came as one wheel, inside it."""
    library = Path(course_lib.__file__).parent
    folders = (Path("checks"), library.with_name("checks"), library / "checks")
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def examine(
    name: str, cells: Cells, device: str = "cpu", remembered: Iterable[str] = ()
) -> Examined:
    """Judge one answer, or raise NoAnswer with what is missing."""
    folder = checks_folder() / name
    if not folder.is_dir():
        names = ", ".join(sorted(path.name for path in folder.parent.glob("*/")))
        raise LookupError(f"no exercise is called {name!r} here; there are: {names}")
    try:
        if (folder / "blocks.json").is_file():
            answer, _ = cells.answer(name)
            return _proof(name, answer, json.loads((folder / "blocks.json").read_text()))
        terms = Terms.from_dict(recordings.read(folder))
        with withheld(terms.withholds):  # from the first import on
            answer, library = cells.answer(name)
        setting = Setting(library, DEFAULT_DTYPE[library], device if library == "torch" else "cpu")
        return _function(name, answer, setting, folder, remembered)
    except NoAnswer:
        raise
    except Exception as error:
        words = f"your cells stop with {type(error).__name__}: {error}"
        raise NoAnswer(words, Cause.of_exception(error)) from error


def _function(
    name: str, function: Any, setting: Setting, folder: Path, remembered: Iterable[str]
) -> Examined:
    if not callable(function):
        raise NoAnswer(f"{name} is a {type(function).__name__}, not a function")
    if setting.library == "torch" and find_spec("torch") is None:
        words = 'it says library = "torch", and PyTorch is not here: try "numpy"'
        raise NoAnswer(words, Cause(FailureKind.LIBRARY_MISSING, setting.library))
    if setting.device != "cpu" and not _is_there(setting.device):
        raise NoAnswer(
            f"torch finds no {setting.device} device on this machine: check it on the CPU, "
            "which also looks for tensors that would be on the wrong device of a GPU"
        )
    if forgotten := missing_names(function, remembered):
        raise NoAnswer(
            f"it uses {forgotten[0]}, which no cell defines any more, "
            "although the kernel still remembers it"
        )
    exercise = recordings.read(folder)
    verdicts = judge(function, setting, folder, exercise)
    held, failed = sum(verdict.passed for verdict in verdicts), first_failed(verdicts)
    more = exercise["hidden"]
    points = round(float(earned(verdicts, exercise["points"])), 6)
    return Examined(
        points=points,
        most=exercise["points"],
        at_stake=points * more / (len(verdicts) + more),
        report=report(name, exercise, verdicts, setting),
        short=f"{held} of {len(verdicts)} properties hold"
        + (f"; {more} more when you hand in" if more and held == len(verdicts) else ""),
        cause=failed.cause if failed else None,
        function=function,
        verdicts=tuple(verdicts),
        setting=setting,
    )


def _is_there(device: str) -> bool:
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):  # torch built without it asserts
        return False
    return True


def _proof(name: str, answer: Any, data: dict[str, Any]) -> Examined:
    fault, points = judge_proof(name, answer, data)
    text = f"{name}: {fault or 'a proof. Every line follows from those above it.'}"
    return Examined(points, data["points"], text, "not a proof yet" if fault else "a proof")
