"""A class goes through nbgrader itself: release, hand in, autograde, gradebook, feedback.

The k-th student hands in the k-th wrong answer of every exercise; an honest one
the model answers; one nothing, and one a notebook with two broken answers.
"""

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import nbformat
import pytest

from autograder.exercises.assignment import (
    CodeExercise,
    ProofBlocks,
    ProofQuestion,
    load_assignment,
)
from autograder.exercises.prove import answers_in
from autograder.paths import ROOT
from autograder.release.build import make_release
from autograder.release.notebooks import answer_cell
from course_lib.checking.verdicts import load_module

pytestmark = pytest.mark.whole

ASSIGNMENT = load_assignment(ROOT / "solutions" / "03_softmax")
STEM = ASSIGNMENT.stem
CODE = [exercise for exercise in ASSIGNMENT.exercises if isinstance(exercise, CodeExercise)]
WRONG = {e.name: answers_in(load_module(e.folder / "wrong.py")) for e in CODE}
WRONG_STUDENTS = [f"wrong_{k}" for k in range(max(map(len, WRONG.values())))]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder whose class has been graded by stock nbgrader."""
    course = tmp_path_factory.mktemp("course")
    (course / "seeds").mkdir()
    (course / "seeds" / STEM).write_text("20261118\n")
    make_release(ASSIGNMENT, course)
    for student, notebook in _class(course).items():
        folder = course / "submitted" / student / STEM
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{STEM}.ipynb")
    _nbgrader(course, "autograde", STEM)
    return course


def _nbgrader(course: Path, *words: str) -> None:
    """As an instructor types it."""
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["nbgrader", *words],
        cwd=course,
        env=os.environ | {"PATH": tools},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def _class(course: Path) -> dict[str, nbformat.NotebookNode]:
    def released():
        return nbformat.read(course / "release" / STEM / f"{STEM}.ipynb", as_version=4)

    handed_in = {
        "untouched": released(),
        "model": nbformat.read(course / "source" / STEM / f"{STEM}.ipynb", as_version=4),
    }
    for k, student in enumerate(WRONG_STUDENTS):
        handed_in[student] = released()
        for exercise in CODE:
            if k < len(WRONG[exercise.name]):
                name = list(WRONG[exercise.name])[k]
                source = (exercise.folder / "wrong.py").read_text()
                _write(handed_in[student], exercise.slug, answer_cell(exercise, source, name))
    handed_in["stumbles"] = nbformat.read(course / "source" / STEM / f"{STEM}.ipynb", as_version=4)
    _write(
        handed_in["stumbles"], CODE[0].slug, "def softmax(x, axis=-1):\n    raise KeyError(axis)"
    )
    _write(handed_in["stumbles"], CODE[1].slug, "def softmax_at(x, t):\n    return (")
    return handed_in


def _write(notebook: nbformat.NotebookNode, cell_id: str, source: str) -> None:
    next(cell for cell in notebook.cells if cell.id == cell_id).source = source


def _scores(course: Path, student: str) -> dict[str, float]:
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        notebook = gradebook.find_submission_notebook(STEM, STEM, student)
        return {grade.name: grade.auto_score for grade in notebook.grades}


def _expected(exercise: CodeExercise, wrong) -> float:
    """The points of the tests that it does not list; nothing if it lists the core test."""
    core = next(test.name for test in exercise.tests if test.core)
    if core in wrong.fails:
        return 0.0
    return exercise.points * (1 - len(set(wrong.fails)) / len(exercise.tests))


def test_an_untouched_notebook_earns_nothing(course):
    scores = _scores(course, "untouched")
    assert set(scores.values()) == {0.0}
    assert len(scores) == len(ASSIGNMENT.exercises)


def test_the_model_answers_earn_full_marks(course):
    scores = _scores(course, "model")
    for exercise in ASSIGNMENT.exercises:
        if isinstance(exercise, (CodeExercise, ProofBlocks)):
            assert scores[f"{exercise.slug}-check"] == exercise.points
        elif isinstance(exercise, ProofQuestion):
            assert scores[exercise.slug] is None, "a person marks this"


@pytest.mark.parametrize("student", WRONG_STUDENTS)
def test_a_wrong_answer_loses_the_points_of_the_tests_it_lists(course, student):
    scores, k = _scores(course, student), int(student.removeprefix("wrong_"))
    for exercise in CODE:
        answers = list(WRONG[exercise.name].items())
        name, wrong = answers[k] if k < len(answers) else ("untouched", None)
        expected = _expected(exercise, wrong) if wrong else 0.0
        assert scores[f"{exercise.slug}-check"] == pytest.approx(expected), (
            f"{exercise.name}: {name}"
        )


def test_the_rest_of_a_notebook_goes_on_after_a_broken_answer(course):
    scores = _scores(course, "stumbles")
    broken, whole = CODE[:2], CODE[2:]
    assert [scores[f"{exercise.slug}-check"] for exercise in broken] == [0, 0]
    assert [scores[f"{exercise.slug}-check"] for exercise in whole] == [e.points for e in whole]


def test_the_feedback_shows_no_hidden_number(course):
    _nbgrader(course, "generate_feedback", STEM, "--student", "wrong_1")
    page = unescape((course / "feedback" / "wrong_1" / STEM / f"{STEM}.html").read_text())
    hidden = {test.property for exercise in CODE for test in exercise.tests if test.hidden}
    failed = re.findall(r"Does not hold: </span><strong>(.*?)</strong>.*?</p>\s*<p>(.*?)</p>", page)
    shown = {evidence for words, evidence in failed if words in hidden}
    assert shown == {"Its numbers stay with the grader."}, "some hidden test fails here"
