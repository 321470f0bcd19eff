"""What `check(...)` prints in a student's notebook."""

import pytest

from autograder.release.bundle import write_checks
from course_lib.checking import notebook, recordings
from course_lib.checking.examine import checks_folder
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
    proof,
    softmax,
)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    write_checks(ASSIGNMENT, folder, hidden=False)
    return folder


@pytest.fixture
def student(bundle, monkeypatch, capsys) -> Student:
    return Student(bundle, monkeypatch, capsys)


@pytest.fixture
def told(student, reads):
    """What is printed about these cells."""

    def compare(*cells: str, name: str = "softmax") -> None:
        reads(student.checks(*cells, name=name)[1])

    return compare


def test_all_that_is_looked_at_holds(told):
    told(SOFTMAX.solution)


def test_how_the_points_are_shown_below_the_cell(student, reads):
    reads(student.checks(SOFTMAX.solution)[0]._repr_html_())


def test_not_written_yet(told):
    told(SOFTMAX.starter + "\n    ...\n")


def test_a_known_slip_is_named(told):
    told(softmax(NAIVE))


def test_further_hints_for_who_fails_the_same_test_again_and_again(student, reads):
    reads("\n".join(notebook.further_hints(recordings.read(checks_folder() / "softmax"))))


def test_several_properties_do_not_hold(told):
    told(softmax("return x"))


@pytest.mark.parametrize("body", ODD_BODIES.values(), ids=ODD_BODIES)
def test_an_odd_answer(student, reads, body):
    reads(next(v.evidence for v in student.examined(softmax(body)).verdicts if v.core))


def test_an_argument_is_changed(student, reads):
    found = student.examined(softmax(CHANGES_ITS_ARGUMENT))
    reads(next(verdict.evidence for verdict in found.verdicts if not verdict.passed))


@pytest.mark.parametrize(
    ("body", "starter"),
    [('print("x"); return x', SOFTMAX.starter), (ON_THE_CPU, TORCH)],
    ids=["it prints", "a tensor was made on the CPU"],
)
def test_a_note_below_what_was_found(student, reads, body, starter):
    said = student.checks(softmax(body, starter))[1]
    reads(said.splitlines()[-1])


def test_the_cell_is_no_python(told):
    told("def softmax(x, axis=-1):\n    return (")


def test_a_helper_is_remembered_by_the_kernel_alone(told, monkeypatch):
    monkeypatch.setattr(notebook, "_kernel_names", lambda: {"weights": None})
    told(softmax("return weights(x, axis)"))


@pytest.mark.parametrize("lines", PROOF_LINES.values(), ids=PROOF_LINES)
def test_a_proof_that_was_built(told, lines):
    told(proof(lines), name="what_softmax_forgets")


def test_no_exercise_has_this_name(told):
    told(name="sofmax")
