"""A cell of a page says, besides what a notebook says, what Python in a page cannot do."""

import pytest

from course_lib.checking import page
from course_lib.checking.examine import Examined
from course_lib.checking.findings import Cause, FailureKind

MEMORY = page.BY_KIND[FailureKind.OUT_OF_MEMORY]
NO_TORCH = page.BY_KIND[FailureKind.LIBRARY_MISSING]
NO_FILES, NO_PACKAGE = (
    page.BY_EXCEPTION[name] for name in ("FileNotFoundError", "ModuleNotFoundError")
)


@pytest.mark.parametrize(
    ("source", "explanation"),
    [
        ("np.ones(10**14)", MEMORY),
        ("np.ones((2**40, 2**40))", MEMORY),
        ("open('numbers.csv')", NO_FILES),
        ("import no_such_package", NO_PACKAGE),
        ("raise ValueError('MemoryError')", None),
        ("1 / 0  # FileNotFoundError", None),
        ("x = = 1", None),
    ],
)
def test_an_error_in_a_cell_is_explained_by_its_type(source, explanation, capsys):
    page.run("mine", source)
    printed = capsys.readouterr().out
    assert "Error" in printed
    told = [*page.BY_KIND.values(), *page.BY_EXCEPTION.values()]
    assert [words for words in told if words in printed] == ([explanation] if explanation else [])


@pytest.mark.parametrize(
    ("cause", "explanation"),
    [
        (Cause(FailureKind.OUT_OF_MEMORY, "MemoryError"), MEMORY),
        (Cause(FailureKind.LIBRARY_MISSING, "torch"), NO_TORCH),
        (Cause(FailureKind.RAISED, "FileNotFoundError"), NO_FILES),
        (Cause(FailureKind.DIFFERS), ""),
        (None, ""),
    ],
)
def test_a_failed_check_is_explained_by_its_cause(cause, explanation, capsys, monkeypatch):
    examined = Examined(0.0, 4.0, "the report", "", cause=cause)
    monkeypatch.setattr(page.notebook, "examine", lambda *_: examined)
    monkeypatch.setattr(page.recordings, "read", lambda folder: {"points": 4.0})
    assert page.check("softmax", [("mine", "x = 1")]) is False
    printed = capsys.readouterr().out
    assert printed == "the report\n" + (f"\n{explanation}\n" if explanation else "")
