"""What Python prints below a cell in a page of the book: here in an ordinary Python."""

import sys
from types import ModuleType

import pytest

from autograder.release.bundle import write_checks
from course_lib.checking import examine, notebook, page
from tests.exercises.in_the_notebook import ASSIGNMENT, SOFTMAX


@pytest.fixture
def told(tmp_path, monkeypatch, capsys, reads):
    """What is printed when this is done beside the checks of chapter 3."""
    write_checks(ASSIGNMENT, tmp_path, hidden=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notebook, "cells", notebook.Cells())
    monkeypatch.setattr(notebook, "_failures", {})
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))

    def compare(do, *arguments) -> None:
        do(*arguments)
        reads(capsys.readouterr().out)

    return compare


FAULTS = {
    "no Python": "def softmax(x:\n    pass",
    "no memory": "raise MemoryError",
    "no file": "open('data.csv')",
    "no package": "import no_such_package",
}


@pytest.mark.parametrize("source", FAULTS.values(), ids=FAULTS)
def test_a_cell_that_fails(told, source):
    told(page.run, "softmax", source)


def test_a_check_of_an_answer_in_torch(told, monkeypatch):
    monkeypatch.setattr(examine, "find_spec", lambda name: None)
    answer = SOFTMAX.solution.replace('"numpy"', '"torch"', 1)
    told(page.check, "softmax", [("softmax", answer)])
