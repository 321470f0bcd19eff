"""An answer is rebuilt from the cells of the notebook, never from the memory of the kernel."""

import pytest

from course_lib.checking.answers import Cells, NoAnswer, missing_names, without_timing
from course_lib.checking.withheld import Withheld, withheld


def answer(*sources, name="f", cells=None):
    cells = cells or Cells()
    for number, source in enumerate(sources):
        cells.ran(f"cell {number}", source)
    return cells.answer(name)[0]


def test_helpers_and_imports_in_cells_of_their_own_are_found():
    f = answer(
        "import math",
        "def half(x):\n    return x / TWO",
        "TWO = 2.0",
        "def f(x):\n    return half(math.pi * x)",
    )
    assert f(2) == pytest.approx(3.14159, abs=1e-5)


def test_a_helper_may_stand_below():
    assert answer("def f(x):\n    return g(x)", "def g(x):\n    return -x")(1) == -1


def test_only_what_is_needed_is_run():
    assert answer("raise RuntimeError('slow')", "x = 1 / 0", "def f():\n    return 1")() == 1


def test_the_version_that_was_run_last_counts():
    cells = Cells()
    assert answer("def f():\n    return 1", "def f():\n    return 2", cells=cells)() == 2
    cells.ran("cell 0", "def f():\n    return 3")
    assert cells.answer("f")[0]() == 3
    cells.ran("cell 0", "pass")
    assert cells.answer("f")[0]() == 2


def test_a_helper_that_was_taken_out_of_its_cell_is_missed():
    cells = Cells()
    answer("def g(x):\n    return x", "def f(x):\n    return g(x)", cells=cells)
    cells.ran("cell 0", "")
    f = cells.answer("f")[0]
    with pytest.raises(NameError):
        f(1)
    assert missing_names(f, {"g": None, "x": None}) == ["g"]


@pytest.mark.parametrize(
    "body",
    [
        "return x.shape",
        "import shape; return shape",
        "shape = x; return shape",
        "return (lambda shape: shape)(x)",
        "return len(x, shape=1)",
    ],
)
def test_a_name_that_is_no_global_is_not_missed(body):
    f = answer(f"def f(x):\n    {body}")
    assert missing_names(f, {"shape": None, "len": None, "x": None}) == []


def test_a_name_that_only_a_nested_function_uses_is_missed_too():
    f = answer("def f(x):\n    return sorted(x, key=lambda row: weight[row])")
    assert missing_names(f, {"weight": None}) == ["weight"]


@pytest.mark.parametrize(
    "cells",
    [
        ["n = 1", "n = n + 1", "def f():\n    return n"],
        ["n = 1", "n += 1", "def f():\n    return n"],
        ["table = {}", "table['n'] = 2", "def f():\n    return table['n']"],
        ["def f():\n    return 1", "def twice(g):\n    return lambda: 2 * g()", "f = twice(f)"],
        ["def f():\n    return f.n", "f.n = 1", "f.n = 2"],
        [
            "try:\n    import numpy as n\nexcept ImportError:\n    n = None",
            "def f():\n    return n.add(1, 1)",
        ],
        ["if True:\n    def g():\n        return 2", "def f():\n    return g()"],
        ["from functools import cache", "@cache\ndef f():\n    return 2"],
        ["class A:\n    n = 2", "def f():\n    return A.n"],
        ["(a, b) = 1, 2", "def f():\n    return b"],
        ["if (n := 2): pass", "def f():\n    return n"],
        ["for n in (1, 2): pass", "def f():\n    return n"],
        ["import os.path as n, math", "def f():\n    return math.ceil(1.5)"],
    ],
)
def test_a_value_made_in_several_steps_is_rebuilt_in_all_of_them(cells):
    assert answer(*cells)() == 2


def test_a_cell_that_does_not_parse_is_passed_over():
    assert answer("def f():\n    return 1", "def f(:")() == 1
    with pytest.raises(NoAnswer, match="no cell defines f yet"):
        answer("def f(:")


@pytest.mark.parametrize("body", ["...", '"""Say."""\n    ...', '"""Say."""'])
def test_a_starter_is_not_written_yet(body):
    with pytest.raises(NoAnswer, match="not written yet"):
        answer(f"def f(x):\n    {body}")


@pytest.mark.parametrize("body", ["return ...", "pass", '"""Say."""\n    return x'])
def test_anything_else_is_an_answer(body):
    assert callable(answer(f"def f(x):\n    {body}"))


@pytest.mark.parametrize(
    ("first", "library"),
    [
        ('library = "torch"', "torch"),
        ('library = "numpy"  # or "torch"', "numpy"),
        ("", "numpy"),
        ('library = "torch"\ndef g(x):\n    return x', "torch"),
    ],
)
def test_the_library_is_read_from_the_cell_of_the_answer(first, library):
    cells = Cells()
    cells.ran("another", 'library = "torch"')
    cells.ran("answer", f"{first}\ndef f(x):\n    return x")
    assert cells.answer("f")[1] == library


def test_the_library_of_an_answer_made_in_two_steps_stands_with_the_first():
    cells = Cells()
    cells.ran("first", 'library = "torch"\ndef f(x):\n    return x')
    cells.ran("second", "f = sorted and f")
    assert cells.answer("f")[1] == "torch"


def test_another_library_is_refused():
    with pytest.raises(NoAnswer, match='neither with library = "numpy" nor with "torch"'):
        answer('library = "jax"\ndef f(x):\n    return x')


def test_the_answer_that_is_no_function_is_rebuilt_too():
    assert answer("f = ['b', 'a']") == ["b", "a"]


def test_a_withheld_name_that_was_imported_in_a_cell_refuses_too():
    import math

    with withheld(("math.exp",)):
        f = answer("from math import exp as e", "def f(x):\n    return e(x)")
    assert math.exp(0) == 1
    with pytest.raises(Withheld, match="math.exp is what this exercise asks you to write"):
        f(0)


def test_an_import_repeated_further_down_is_taken_from_above():
    """Every starter imports numpy, and a check may be run again when all cells have run."""
    cells = Cells()
    cells.ran("first", "import math\ndef f(x: math.inf = math.pi):\n    return math.floor(x)")
    cells.ran("second", "n = math.ceil(2.5)")
    cells.ran("third", "import math\ndef g():\n    return f() + n")
    assert cells.answer("f")[0]() == 3
    assert cells.answer("g")[0]() == 6


def test_names_that_a_star_brings_are_there_and_withheld_ones_refuse():
    assert answer("from math import *", "def f(x):\n    return cos(x)")(0) == 1
    assert answer("from numpy import *\ndef f(x):\n    return sum(x)")([[1], [2]]) == 3
    with withheld(("course_lib.softmax",)):
        f = answer("from course_lib import *", "def f(x):\n    return softmax(x)")
    with pytest.raises(Withheld):
        f([1.0])


SCRATCH = (
    "x = np.loadtxt('on my laptop.csv')",
    "total = 1 / 0",
    "for t in [0, 1]: 1 / t",
    "import pandas_that_nobody_has as pd; p = pd.read_csv('mine.csv')",
    "square = lambda k: 1 / 0\ni = square(1)",
)


@pytest.mark.parametrize("scratch", SCRATCH)
def test_a_cell_that_binds_the_name_of_a_parameter_or_a_local_is_not_needed(scratch):
    written = """
def f(x, *p, i=2, **square):
    total = sum(t * i for t in x)
    pd = [k for k in (lambda t: [t])(total)]
    return pd[0]"""
    assert answer(scratch, written)([1, 2]) == 6
    cells = Cells()
    assert answer(written, scratch, cells=cells)([1, 2]) == 6
    assert cells.rebuild("f").stopped == []


@pytest.mark.parametrize(
    ("cells", "value"),
    [
        (["n = 2", "n = 1 / 0", "def f():\n    return n"], 2),
        (["n = 2", "n += [1]", "def f():\n    return n"], 2),
        (["def f():\n    return 2", "f = nobody_has_this(f)"], 2),
        (["def f():\n    return 2", "from nowhere_at_all import *"], 2),
        (["n = 1 / 0", "def f(rare=False):\n    return n if rare else 2"], 2),
    ],
)
def test_a_statement_that_raises_leaves_what_was_bound_before_and_is_told(cells, value):
    notebook = Cells()
    assert answer(*cells, cells=notebook)() == value
    assert len(notebook.rebuild("f").stopped) == 1


def test_an_answer_that_itself_raises_is_none():
    with pytest.raises(ZeroDivisionError):
        answer("f = 1 / 0")


@pytest.mark.parametrize("magic", ["%%time", "%%timeit -n1", "%%capture kept", "\n%%time"])
def test_a_cell_that_is_timed_counts_as_it_stands(magic):
    timed = without_timing(f"{magic}\ndef f():\n    return 1 / 0")
    f = answer(timed)
    with pytest.raises(ZeroDivisionError) as stopped:
        f()
    assert stopped.traceback[-1].lineno + 1 == 3 + magic.count("\n")


def test_other_magics_are_left_to_the_shell():
    assert without_timing("%%bash\nls") == "%%bash\nls"
    assert without_timing("x = 1\n%%time\n") == "x = 1\n%%time\n"
