"""Ways to spoil the small course, by what is wrong then, and where an author is sent to mend it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.exercises.conftest import Spoilable

TOML = "assignment.toml"
BLOCKS = "what_a_mean_forgets/proof.toml"
NAME = 'name = "row_means"'
DOCSTRING = '    r"""Return the mean of every row."""\n'
MODEL = "    return x.sum(axis=-1) / x.shape[-1]\n"

# what is wrong: what stands there, what takes its place, what stands in the line that is named
ENTRIES = {
    "not TOML": ("minutes = 5", "minutes = five", "five"),
    "a key is missing": ("minutes = 5", "minute = 5", NAME),
    "an unknown key": (NAME, f"{NAME}\ncolour = 3", "colour"),
    "a text for a number": ('forgets"\nminutes = 10', 'forgets"\nminutes = "ten"', '"ten"'),
    "a number for a truth value": ("required = true", "required = 1", "required"),
    "a truth value for a number": ("minutes = 5", "minutes = true", "minutes = true"),
    "no minutes": ("minutes = 5", "minutes = 0", "minutes = 0"),
    "negative points": ("required = true", "points = -1", "points"),
    "an unknown level": ("level = 1", "level = 5", "level = 5"),
    "an unknown kind": ('kind = "proof"', 'kind = "essay"', "essay"),
    "an unknown marking": ('kind = "proof"', 'kind = "proof"\nmarking = "no"', "marking"),
    "an unknown goal": ('goal = "mean"', 'goal = "meen"', "meen"),
    "a goal that nothing practises": ("[goals]", '[goals]\nidle = "rest"', "idle"),
    "a goal that is a number": ('mean = "take the mean of every row"', "mean = 3", "mean = 3"),
    "an unknown library": ("required = true", 'libraries = ["jax"]', "jax"),
    "no library": ("required = true", "libraries = []", "libraries"),
    "a number among names": ('["course_lib.cross_attention"]', "[7]", "[7]"),
    "a name with a space": (NAME, 'name = "row means"', "row means"),
    "two of one name": ('name = "mean_of_a_shift"', NAME, NAME),
    "a cell of another exercise": (
        'name = "mean_of_a_shift"',
        'name = "row_means_check"',
        "row_means_check",
    ),
    "a cell of every notebook": (
        'name = "mean_of_a_shift"',
        'name = "what_is_left"',
        "what_is_left",
    ),
    "too many rubric points": ('"It is', '"1", "2", "3", "It is', "rubric"),
    "no model answer": ("model =", "modell =", 'name = "mean_of_a_shift"'),
    "an unknown limit": ("required = true", "limits = { cell_second = 5 }", "limits"),
    "a limit that is a text": ("required = true", 'limits = { call_seconds = "5" }', "limits"),
    "a limit that is too large": ("required = true", "limits = { call_seconds = 61 }", "limits"),
    "a limit that is too small": ("required = true", "limits = { returned_mib = 0 }", "limits"),
    "a part of a mebibyte": ("required = true", "limits = { memory_mib = 300.5 }", "limits"),
    "a limit of a proof": (
        'kind = "proof"',
        'kind = "proof"\nlimits = { call_seconds = 1 }',
        "limits",
    ),
    "a rubric point that is a number": ("rubric = [", "rubric = [1, ", "rubric"),
}
PROOF_ENTRIES = {
    "not TOML": ("after = [1]", "after = 1]", "after = 1]"),
    "lines that wait for each other": ("after = [1]", "after = [1, 3]", None),
    "a line after itself": ("after = [1]", "after = [2, 2]", "after = [2, 2]"),
    "a line after a line that is not there": ("after = [2]", "after = [9]", "after = [9]"),
    "a text for a number": ("after = [2]", 'after = ["2"]', 'after = ["2"]'),
    "an unknown key": ("after = [2]", "befor = [2]", "befor"),
    "a distractor beside nothing": ("beside = 2\n", "", "[[distractor]]"),
    "a distractor beside a line that is not there": ("beside = 2", "beside = 5", "beside"),
    "a distractor without a reason": ('why = "(0, 2)', 'wy = "(0, 2)', "[[distractor]]"),
    "an empty reason": ('why = "(0, 2) and (1, 1) have equal means."', 'why = " "', "why"),
    "a line without a text": ('text = "A diff', 'txt = "A diff', "[[line]]"),
    "no statement": ("statement =", "claim =", None),
    "a line that is written as a distractor": (
        '[[distractor]]\ntext = "',
        '[[line]]\ntext = "',
        "beside",
    ),
}
# what is wrong: the file, and as above
SOURCES = {
    "no docstring": ("solution.py", DOCSTRING, "", "def row"),
    "no model answer": ("solution.py", MODEL, "", "def row"),
    "a model answer beside the docstring": (
        "solution.py",
        f'"""\n{MODEL}',
        f'"""; {MODEL.strip()}\n',
        "def row",
    ),
    "no shape of what is returned": ("solution.py", " -> np.ndarray", "", "def row"),
    "no library": ("solution.py", 'library = "numpy"', "import math", "import math"),
    "an unknown library": ("solution.py", 'library = "numpy"', 'library = "jax"', "jax"),
    "no function of this name": (
        "solution.py",
        "def row_means",
        "def rowmeans",
        'library = "numpy"',
    ),
    "no Python": ("solution.py", MODEL, "    return x.sum(\n", "return x.sum("),
    "no core test": ("tests.py", "@core\n", "", None),
    "two core tests": ("tests.py", "def test_equal", "@core\ndef test_equal", None),
    "a visible test below a hidden one": (
        "tests.py",
        "@core\n",
        "@core\n@hidden\n",
        "def test_means",
    ),
    "a test that takes no arrays": (
        "tests.py",
        "equal_entries(row_means, arrays)",
        "equal_entries(row_means)",
        "def test_equal",
    ),
    "a test without a docstring": (
        "tests.py",
        '    r"""A row of equal entries has this entry as its mean"""\n',
        "",
        "def test_equal",
    ),
    "two tests of one name": (
        "tests.py",
        "def test_a_stack_of_matrices",
        "def test_equal_entries",
        "def test_equal_entries",
    ),
}
FENCES = ["```{code-cell}\nx = 1\n```", "```python\nx\n```", "```\nx\n```", "~~~\nx\n~~~"]


@dataclass(frozen=True)
class Spoilt:
    """What is done to the course; below its folder, the path that is named; the line, if any."""

    spoil: Callable[[Spoilable], Any]
    path: str
    line: int | None = None
    whole: bool = False
    """Seen only where all chapters are read."""


def _all_hidden(course: Spoilable) -> None:
    for old in ("@core\n", "def test_equal"):
        course.spoil("row_means/tests.py", old, f"@hidden\n{old}")


def _folder(name: str) -> Callable[[Spoilable], None]:
    return lambda course: (course.folder / name).mkdir()


def _append(file: str, text: str) -> Callable[[Spoilable], None]:
    return lambda course: course.append(file, text)


OTHERS = {
    "entries that are no tables": Spoilt(
        lambda course: course.write(TOML, 'title = "Rows"\nexercise = [7]\n[goals]\n'),
        f"01_rows/{TOML}",
        1,
    ),
    "a proof of ten lines": Spoilt(
        _append(BLOCKS, '\n[[line]]\ntext = "And so on."\n' * 6), f"01_rows/{BLOCKS}"
    ),
    "a file is missing": Spoilt(
        lambda course: (course.chapter / "row_means" / "right.py").unlink(),
        "01_rows/row_means/right.py",
    ),
    "the folder of an exercise is missing": Spoilt(
        lambda course: shutil.rmtree(course.chapter / "row_means"), "01_rows/row_means/prompt.md"
    ),
    "a folder that no entry names": Spoilt(_folder("01_rows/column_means"), "01_rows/column_means"),
    "tests that are all hidden": Spoilt(_all_hidden, "01_rows/row_means/tests.py"),
    "a folder that is not named like a chapter": Spoilt(
        lambda course: course.chapter.rename(course.folder / "rows"), "rows", whole=True
    ),
    "a chapter without assignment.toml": Spoilt(
        _folder("02_columns"), f"02_columns/{TOML}", whole=True
    ),
    "one name in two chapters": Spoilt(
        lambda course: shutil.copytree(course.chapter, course.folder / "02_columns"),
        f"02_columns/{TOML}",
        8,
        whole=True,
    ),
}
