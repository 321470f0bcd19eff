"""Every exercise that can be done in NumPy, in its page: right and wrong answers, word for word.

Numbers and kinds of integers may differ: other routines for matrices, other machine words.
"""

import re

import pytest

from autograder.exercises.assignment import load_course
from autograder.release.notebooks import answer_cell
from course_lib.checking.verdicts import load_module
from tests.book.trying import Notebook, Tried

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CHAPTERS = load_course()
NAMES_MAY_DIFFER = {"factor_scores", "jacobian_norm", "negative_witness"}
"""There a mistake may stay without its name in the page, and the hint is the question alone: signs
of singular vectors differ, or the page of an open edition, which runs all tests, sees one failure
more than the notebook."""


def in_numpy(assignment) -> list:
    return [e for e in assignment.exercises if e.kind == "code" and "numpy" in e.libraries]


def without_hint(output: str) -> str:
    return re.sub(r"^  hint: .*$", "", output, flags=re.MULTILINE)


def without_numbers(output: str) -> str:
    return re.sub(r"-?\b(?:\d[\d.]*(?:e[+-]?\d+)?|nan|inf)\b|int(?:32|64)", "#", output)


def wrong_answers(exercise) -> list[str]:
    path = exercise.folder / "wrong.py"
    names = [name for name, made in vars(load_module(path)).items() if hasattr(made, "fails")]
    return [answer_cell(exercise, path.read_text(), name) for name in names]


@pytest.mark.parametrize("assignment", CHAPTERS, ids=[chapter.stem for chapter in CHAPTERS])
def test_every_answer_gets_the_notebooks_words(assignment, browser, address, tmp_path):
    native = Notebook(assignment, tmp_path)
    with browser.new_context() as context:
        for number, exercise in enumerate(in_numpy(assignment)):
            if number == 0:
                cell = Tried(context, address, assignment.stem, exercise.name)
            cell.at(exercise.name).open()
            for answer in (exercise.solution, *wrong_answers(exercise)):
                in_the_page = cell.output_of("Check", answer)
                in_the_notebook = native.check(exercise.name, answer)
                if exercise.name in NAMES_MAY_DIFFER:
                    in_the_page, in_the_notebook = map(without_hint, (in_the_page, in_the_notebook))
                assert without_numbers(in_the_page) == without_numbers(in_the_notebook)
            holds = cell.output_of("Check", exercise.solution)
            assert holds.startswith(f"{exercise.name}: all")
