"""Somebody who runs cells of chapter 3's notebook and checks an exercise."""

from pathlib import Path

import pytest

from autograder.exercises.assignment import load_assignment
from autograder.paths import ROOT
from course_lib.checking import notebook
from course_lib.checking.examine import Examined, examine

ASSIGNMENT = load_assignment(ROOT / "solutions" / "03_softmax")
SOFTMAX = ASSIGNMENT["softmax"]
NAIVE = "    e = np.exp(x)\n    return e / e.sum(axis=axis, keepdims=True)"
TORCH = SOFTMAX.starter.replace('library = "numpy"', 'library = "torch"').replace(
    "import numpy as np", "import numpy as np\nimport torch"
)
ODD_BODIES = {
    "nothing is returned": "return None",
    "a list": "return x.tolist()",
    "a number": "return x.sum(-1)",
    "complex numbers": 'return x.astype("complex128")',
    "booleans": "return x > 0",
    "not a number": "return x * np.nan",
    "an exception": 'raise KeyError("temperature")',
    "an exit": "import sys; sys.exit(3)",
    "a generator": "yield x",
    "a recursion without end": "return softmax(x, axis)",
    "a tensor for an array": "import torch; return torch.as_tensor(x)",
    "a withheld function": "import torch; return torch.softmax(torch.as_tensor(x), axis)",
    "wrong numbers, and much is printed": 'print("x" * 2**20); return x',
    "a helper that does not exist": "return x / helper(x)",
}
"""Answers that earn nothing."""
CHANGES_ITS_ARGUMENT = f"x -= x.max(axis=axis, keepdims=True)\n{NAIVE}"
ON_THE_CPU = (
    "e = torch.exp(x - x.amax(axis, keepdim=True)) * torch.ones(x.shape)\n"
    "    return e / e.sum(axis, keepdim=True)"
)
PROOF_LINES = {
    "nothing": "[...]",
    "the proof": "right",
    "a line that does not belong": "right[:3] + [wrong] + right[3:]",
    "the first line last": "right[1:] + right[:1]",
    "a letter of no line": "['z']",
    "a number": "7",
}


def softmax(body: str, starter: str = SOFTMAX.starter) -> str:
    """The cell with this answer."""
    return f"{starter}\n    {body.lstrip()}\n"


def proof(lines: str) -> str:
    """The cell with a proof that is built of right lines and one wrong one."""
    exercise = ASSIGNMENT["what_softmax_forgets"]
    scope = {"right": exercise.solution, "wrong": next(iter(exercise.blocks.why_not))}
    return f"what_softmax_forgets = {eval(lines, scope)!r}"


class Student:
    """Has run no cell yet and failed no check."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys):
        self._capsys = capsys
        monkeypatch.chdir(folder)
        monkeypatch.setattr(notebook, "cells", notebook.Cells())
        monkeypatch.setattr(notebook, "_failures", {})

    def runs(self, *sources: str) -> None:
        for number, source in enumerate(sources):
            notebook.cells.ran(f"cell {number}", source)

    def checks(self, *sources: str, name: str = "softmax") -> tuple[float, str]:
        """Run these cells; the points that `check` gives, and what it prints."""
        self.runs(*sources)
        points = notebook.check(name)
        return points, self._capsys.readouterr().out

    def examined(self, *sources: str, name: str = "softmax") -> Examined:
        """What `check` found, as data."""
        self.runs(*sources)
        return examine(name, notebook.cells, remembered=notebook._kernel_names())


def failed(found: Examined) -> list[str]:
    """The tests that do not hold."""
    return [verdict.test for verdict in found.verdicts if not verdict.passed]
