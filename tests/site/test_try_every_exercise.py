"""Every exercise that can be done in NumPy, in its page: right and wrong answers, word for word."""

import pytest

from autograder.exercises import load_course
from autograder.notebooks import answer_cell
from course_lib.checking.verdicts import load_module
from tests.site.trying import Notebook, Tried

pytestmark = [pytest.mark.slow, pytest.mark.browser]

CHAPTERS = load_course()


def in_numpy(assignment) -> list:
    return [e for e in assignment.exercises if e.kind == "code" and "numpy" in e.libraries]


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
                assert cell.said("Check", answer) == native.check(exercise.name, answer)
            holds = cell.said("Check", exercise.solution)
            assert holds.startswith(f"{exercise.name}: all")
