"""`check("softmax")` as a student meets it: what it finds in right, wrong and odd answers.

What it says to them is in tests/messages/test_check_in_the_notebook.py.
"""

import pytest

from autograder.release.bundle import write_checks
from course_lib.checking import notebook
from course_lib.checking.answers import NoAnswer, NotDefined, NotWritten
from tests.exercises.in_the_notebook import (
    ASSIGNMENT,
    CHANGES_ITS_ARGUMENT,
    NAIVE,
    ODD_BODIES,
    ON_THE_CPU,
    PROOF_LINES,
    SOFTMAX,
    TORCH,
    Student,
    failed,
    proof,
    softmax,
)

CORE = "test_the_island_weights"
SHIFT = "test_shifting_changes_nothing"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    write_checks(ASSIGNMENT, folder, hidden=False)
    return folder


@pytest.fixture
def student(bundle, monkeypatch, capsys) -> Student:
    return Student(bundle, monkeypatch, capsys)


def test_the_model_answer_earns_all_points(student):
    points, _ = student.checks(SOFTMAX.solution)
    assert points == 7.0
    assert repr(points) == "7.0", "nbgrader reads what it cannot read as full marks"
    assert failed(student.examined(SOFTMAX.solution)) == []


def test_the_starter_is_not_written_yet(student):
    starter = SOFTMAX.starter + "\n    ...\n"
    assert student.checks(starter)[0] == 0.0
    with pytest.raises(NotWritten):
        student.examined(starter)


def test_a_known_slip_is_named(student):
    found = student.examined(softmax(NAIVE))
    assert found.points == pytest.approx(7 * 4 / 5)
    assert failed(found) == [SHIFT]
    wrong = (SOFTMAX.folder / "wrong.py").read_text()
    (mistake,) = [verdict.mistake for verdict in found.verdicts if not verdict.passed]
    assert mistake and mistake in wrong.partition("def naive")[2].partition("return")[0]


def test_a_long_line_is_broken_between_words_and_no_other_is_touched():
    long = "  hint: " + "word " * 30 + "x" * 120
    table = "all 5 hold\n\n  [[1.  0. ]\n   [0.5 0.5]]"
    lines = notebook.in_lines(f"{long}\n{table}").splitlines()
    assert "".join(lines[:-4]).split() == long.split(), "hanging under their first word"
    assert all(line.startswith("    ") for line in lines[1:-4])
    assert "\n".join(lines[-4:]).endswith(table)


@pytest.mark.parametrize("body", ODD_BODIES.values(), ids=ODD_BODIES)
def test_an_odd_answer_fails_the_test_that_counts_and_is_told_so_briefly(student, body):
    points, said = student.checks(softmax(body))
    assert points == 0.0
    assert 0 < len(said) < 3_000
    assert CORE in failed(student.examined())


def test_a_cell_that_does_not_parse_is_no_answer(student):
    cell = "def softmax(x, axis=-1):\n    return ("
    assert student.checks(cell)[0] == 0.0
    with pytest.raises(NotDefined):
        student.examined()


def test_a_changed_input_fails_its_property_and_no_other(student):
    found = student.examined(softmax(CHANGES_ITS_ARGUMENT))
    assert found.points == pytest.approx(7 * 4 / 5)
    assert failed(found) == ["test_the_input_is_unchanged"]


def test_the_same_answer_in_torch_is_judged_in_torch(student):
    shifted = "e = torch.exp(x - x.amax(axis, keepdim=True))\n"
    found = student.examined(softmax(f"{shifted}    return e / e.sum(axis, keepdim=True)", TORCH))
    assert found.points == 7.0
    assert str(found.setting) == "torch cpu float32"


def test_a_tensor_made_on_the_cpu_is_no_deduction(student):
    points, said = student.checks(softmax(ON_THE_CPU, TORCH))
    assert points == 7.0
    assert "`mul`" in said, "told, also without a GPU"


def test_a_helper_in_a_cell_of_its_own_is_found(student):
    answer = softmax("return weights(x, axis)")
    helper = "def weights(x, axis):\n    e = np.exp(x - x.max(axis, keepdims=True))\n"
    helper += "    return e / e.sum(axis, keepdims=True)"
    assert student.checks(helper, answer)[0] == 7.0


def test_a_helper_that_only_the_kernel_remembers_is_not_enough(student, monkeypatch):
    monkeypatch.setattr(notebook, "_kernel_names", lambda: {"weights": None})
    points, said = student.checks(softmax("return weights(x, axis)"))
    assert points == 0.0 and "weights" in said
    with pytest.raises(NoAnswer):
        student.examined()


def test_a_withheld_function_imported_under_another_name_refuses(student):
    answer = softmax("import torch\n    return s(torch.as_tensor(x), axis).numpy()")
    points, said = student.checks("from torch import softmax as s", answer)
    assert points == 0.0
    assert "torch.softmax" in said


def test_patience_opens_further_hints(student):
    hints = notebook.further_hints(notebook.recordings.read(notebook.checks_folder() / "softmax"))
    assert len(hints) == 2
    opened = []
    for _ in range(4):
        said = " ".join(student.checks(softmax(NAIVE))[1].split())
        opened.append([hint for hint in hints if " ".join(hint.split()) in said])
    assert opened == [[], [], hints[:1], hints]


@pytest.mark.parametrize(
    ("lines", "points"),
    [
        ("the proof", 7),
        ("a line that does not belong", 5),
        ("the first line last", 5),
        ("a letter of no line", 0),
    ],
)
def test_a_built_proof_is_judged_line_by_line(student, lines, points):
    cell = proof(PROOF_LINES[lines])
    assert student.checks(cell, name="what_softmax_forgets")[0] == points


@pytest.mark.parametrize(("lines", "refusal"), [("nothing", NotWritten), ("a number", NoAnswer)])
def test_what_is_no_proof_is_no_answer(student, lines, refusal):
    cell = proof(PROOF_LINES[lines])
    assert student.checks(cell, name="what_softmax_forgets")[0] == 0.0
    with pytest.raises(refusal):
        student.examined(name="what_softmax_forgets")


def test_an_unknown_name_is_answered_with_the_known_ones(student):
    points, said = student.checks(name="sofmax")
    assert points == 0.0
    assert "softmax_jacobian" in said
