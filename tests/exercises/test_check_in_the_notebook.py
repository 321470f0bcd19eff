"""`check("softmax")` as a student meets it: what it says to right, wrong and odd answers."""

import pytest

from autograder.exercises.assignment import load_assignment
from autograder.paths import ROOT
from autograder.release.bundle import write_checks
from course_lib.checking import notebook

ASSIGNMENT = load_assignment(ROOT / "solutions" / "03_softmax")
SOFTMAX = ASSIGNMENT["softmax"]
NAIVE = "    e = np.exp(x)\n    return e / e.sum(axis=axis, keepdims=True)"
TORCH = SOFTMAX.starter.replace('library = "numpy"', 'library = "torch"').replace(
    "import numpy as np", "import numpy as np\nimport torch"
)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    write_checks(ASSIGNMENT, folder, hidden=False)
    return folder


@pytest.fixture
def check(bundle, monkeypatch, capsys):
    """Run cells, check an exercise, and give back the points and what was printed."""
    monkeypatch.chdir(bundle)
    monkeypatch.setattr(notebook, "cells", notebook.Cells())
    monkeypatch.setattr(notebook, "_failures", {})

    def run(*sources: str, name: str = "softmax") -> tuple[float, str]:
        for number, source in enumerate(sources):
            notebook.cells.ran(f"cell {number}", source)
        points = notebook.check(name)
        return points, capsys.readouterr().out

    return run


def _softmax(body: str) -> str:
    return f"{SOFTMAX.starter}\n{body}\n"


def test_the_model_answer_earns_all_points(check):
    points, said = check(SOFTMAX.solution)
    assert points == 7.0
    assert repr(points) == "7.0", "nbgrader reads what it cannot read as full marks"
    assert points._repr_html_() == "7 of 7 points here"
    assert "all 5 properties looked at here hold; 2 more are looked at when you hand in" in said


def test_the_starter_is_called_not_written_yet(check):
    assert check(SOFTMAX.starter + "\n    ...\n") == (0.0, "softmax: not written yet\n")


def test_a_known_slip_is_named_in_three_lines(check):
    points, said = check(_softmax(NAIVE))
    message = said.splitlines()
    assert points == pytest.approx(7 * 4 / 5)
    assert message[2].startswith("Adding 1000 to every score leaves the weights as they were")
    assert "got nan, expected" in message[3]
    assert message[4].endswith("the formula typed as it stands. What is exp(1000) in this dtype?")


def test_a_long_line_is_broken_between_words_and_no_other_is_touched():
    long = "  hint: " + "word " * 30 + "x" * 120
    table = "all 5 hold\n\n  [[1.  0. ]\n   [0.5 0.5]]"
    lines = notebook.in_lines(f"{long}\n{table}").splitlines()
    assert "".join(lines[:-4]).split() == long.split(), "hanging under their first word"
    assert all(line.startswith("    ") for line in lines[1:-4])
    assert "\n".join(lines[-4:]).endswith(table)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return None", "got None, expected an array of shape (4,)"),
        ("return x.tolist()", "got a list, expected an array of shape (4,)"),
        ("return x.sum(-1)", "got a single number, expected shape (4,)"),
        ('return x.astype("complex128")', "it returned an array of dtype complex128"),
        ("return x > 0", "got an array of booleans of shape (4,)"),
        ("return x * np.nan", "got nan, expected 0.5"),
        (
            'raise KeyError("temperature")',
            "it raised KeyError: 'temperature', line 12: raise KeyError",
        ),
        ("import sys; sys.exit(3)", "it raised SystemExit: 3"),
        ("yield x", "it returned a generator: is there a yield where a return was meant?"),
        ("return softmax(x, axis)", "it raised RecursionError"),
        (
            "import torch; return torch.as_tensor(x)",
            'a torch tensor, although the answer says library = "numpy"',
        ),
        (
            "import torch; return torch.softmax(torch.as_tensor(x), axis)",
            "torch.softmax is what this exercise asks",
        ),
        ('print("x" * 2**20); return x', "what your function prints is not shown here"),
        ("return x / helper(x)", "it raised NameError: name 'helper' is not defined"),
    ],
)
def test_an_odd_answer_gets_its_own_message(check, body, words):
    points, said = check(_softmax(f"    {body}"))
    assert points == 0.0
    assert words in said
    assert len(said) < 3_000


def test_a_cell_that_does_not_parse_is_no_answer(check):
    points, said = check("def softmax(x, axis=-1):\n    return (")
    assert points == 0.0
    assert "no cell defines softmax yet" in said


def test_a_changed_input_fails_its_property_and_no_other(check):
    body = "    x -= x.max(axis=axis, keepdims=True)\n" + NAIVE
    points, said = check(_softmax(body))
    assert points == pytest.approx(7 * 4 / 5)
    assert "after the call argument 1 had other values than before" in said


def test_the_same_answer_in_torch_is_judged_in_torch(check):
    shifted = "    e = torch.exp(x - x.amax(axis, keepdim=True))\n"
    points, said = check(f"{TORCH}\n{shifted}    return e / e.sum(axis, keepdim=True)\n")
    assert points == 7.0
    assert "(torch cpu float32)" in said


def test_a_tensor_made_on_the_cpu_is_found_without_a_gpu(check):
    slip = (
        "    e = torch.exp(x - x.amax(axis, keepdim=True)) * torch.ones(x.shape)\n"
        "    return e / e.sum(axis, keepdim=True)"
    )
    points, said = check(f"{TORCH}\n{slip}\n")
    assert points == 7.0, "told, not deducted"
    assert "on a GPU this would fail: `mul` met a tensor made on the CPU" in said


def test_a_helper_in_a_cell_of_its_own_is_found(check):
    answer = _softmax("    return weights(x, axis)")
    helper = "def weights(x, axis):\n    e = np.exp(x - x.max(axis, keepdims=True))\n"
    helper += "    return e / e.sum(axis, keepdims=True)"
    assert check(helper, answer)[0] == 7.0


def test_a_helper_that_only_the_kernel_remembers_is_not_enough(check, monkeypatch):
    monkeypatch.setattr(notebook, "_kernel_names", lambda: {"weights": None})
    points, said = check(_softmax("    return weights(x, axis)"))
    assert points == 0.0
    assert "it uses weights, which no cell defines any more" in said


def test_a_withheld_function_imported_under_another_name_refuses(check):
    answer = _softmax("    import torch\n    return s(torch.as_tensor(x), axis).numpy()")
    points, said = check("from torch import softmax as s", answer)
    assert points == 0.0
    assert "torch.softmax is what this exercise asks you to write" in said


def test_patience_opens_further_hints(check):
    said = [check(_softmax(NAIVE))[1] for _ in range(4)]
    assert "further" not in said[1]
    assert "further: read “Shift it before you raise it” in chapter 3 again" in said[2]
    assert "the same task on the island" not in said[2]
    assert "the same task on the island: scores [1.386" in said[3]


@pytest.mark.parametrize(
    ("lines", "points", "words"),
    [
        ("[...]", 0, "not written yet"),
        ("right", 7, "a proof. Every line follows from those above it."),
        ("right[:3] + [wrong] + right[3:]", 5, "does not hold here:"),
        ("right[1:] + right[:1]", 5, "uses something that is not there yet"),
        ("['z']", 0, "'z' is no line of this proof"),
        ("7", 0, "is not a list of letters"),
    ],
)
def test_a_built_proof_is_judged_line_by_line(check, lines, points, words):
    proof = ASSIGNMENT["what_softmax_forgets"]
    scope = {"right": proof.solution, "wrong": next(iter(proof.blocks.why_not))}
    answer = eval(lines, scope)
    source = f"what_softmax_forgets = {answer!r}"
    earned, said = check(source, name="what_softmax_forgets")
    assert earned == points
    assert words in said


def test_an_unknown_name_is_answered_with_the_known_ones(check):
    points, said = check(name="sofmax")
    assert points == 0.0
    assert "softmax_jacobian" in said
