"""`pytest solutions/03_softmax` runs the tests of a chapter on its model answers.

The function under test and `arrays` are handed to a `tests.py` as fixtures, once for each dtype.
"""

import numpy as np
import pytest

from autograder.exercises.assignment import CodeExercise, load_assignment
from autograder.exercises.prove import RUNS
from course_lib.checking.arrays import Arrays
from course_lib.checking.call import Call
from course_lib.checking.expect import current_setting
from course_lib.checking.recordings import in_dtype_of
from course_lib.checking.verdicts import load_module


def pytest_generate_tests(metafunc):
    folder = metafunc.definition.path.parent
    exercise = load_assignment(folder.parent)[folder.name]
    assert isinstance(exercise, CodeExercise)
    model = getattr(load_module(folder / "solution.py"), exercise.name)
    answers = vars(load_module(folder / "right.py")).values()
    oracle = next(answer for answer in answers if getattr(answer, "is_oracle", False))
    test = metafunc.function
    runs = dict.fromkeys(in_dtype_of(test, setting) for setting in RUNS[exercise.library])
    cases = [
        (Call(model, setting, exercise.terms), Arrays(setting, test.__name__, oracle), setting)
        for setting in runs
    ]
    metafunc.parametrize(
        (exercise.name, "arrays", "in_setting"), cases, indirect=["in_setting"], ids=map(str, runs)
    )


@pytest.fixture(autouse=True)
def in_setting(request):
    token = current_setting.set(request.param)
    with np.errstate(all="ignore"):
        yield
    current_setting.reset(token)
