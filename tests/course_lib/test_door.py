"""One argument at a time is made wrong: every public function refuses it at its door.

`test_bad_input` has what only some functions can refuse.
"""

import inspect
import re

import pytest
import torch

import course_lib
from tests.course_lib.cases import map_arrays, one_example
from tests.course_lib.judges import CASES

WITH_ARRAYS = [case for case in CASES if not case.takes_like]


def arrays_of(arguments: dict) -> list[torch.Tensor]:
    found = []
    map_arrays(arguments, lambda x: found.append(x) or x)
    return found


def refusals(case, change, applies=lambda x: True):
    """Change one array after the other; yield what was said each time, "" if nothing was."""
    arguments = one_example(case)
    for chosen in filter(applies, arrays_of(arguments)):
        wrong = map_arrays(arguments, lambda x, chosen=chosen: change(x) if x is chosen else x)
        try:
            getattr(course_lib, case.name)(**wrong)
        except (TypeError, ValueError) as error:
            yield str(error)
        else:
            yield ""


def names_an_argument(case, message: str) -> bool:
    parameters = inspect.signature(getattr(course_lib, case.name)).parameters
    fields = {"weights"} if "layers" in parameters else set()  # a stack is refused by its layer
    return bool(set(re.findall(r"\w+", message)) & (set(parameters) | fields))


def names_argument_and_shape(case, message: str) -> bool:
    return names_an_argument(case, message) and bool(re.search(r"shape \((\d+,|\))", message))


def with_two(cases, applies=lambda x: True):
    return [case for case in cases if sum(map(applies, arrays_of(one_example(case)))) > 1]


def by_name(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


@by_name(WITH_ARRAYS)
def test_integers_are_refused_where_floats_are_meant(case):
    for message in refusals(case, lambda x: x.long(), torch.is_floating_point):
        assert re.search(r"dtype int64; expected (a )?(float|bool)", message), message
        assert names_argument_and_shape(case, message)


@by_name(with_two(WITH_ARRAYS, torch.is_floating_point))
def test_floats_have_one_dtype(case):
    for message in refusals(case, lambda x: x.float(), torch.is_floating_point):
        assert re.search("float(32|64).* expected one dtype for all", message), message
        assert names_argument_and_shape(case, message)


@by_name(with_two(WITH_ARRAYS))
def test_one_library(case):
    for message in refusals(case, lambda x: x.numpy()):
        assert "expected one library" in message, message
        assert names_argument_and_shape(case, message), message


@by_name(with_two(WITH_ARRAYS))
def test_one_device(case):
    for message in refusals(case, lambda x: x.to("meta")):
        assert "expected one device" in message and names_argument_and_shape(case, message), message


@by_name(WITH_ARRAYS)
def test_a_list_is_no_array(case):
    for message in refusals(case, lambda x: x.tolist()):
        assert "is a list; expected a NumPy array" in message, message
        assert names_an_argument(case, message)


@by_name(WITH_ARRAYS)
def test_none_is_no_array(case):
    """But for what the signature allows to be left out."""
    said = list(filter(None, refusals(case, lambda x: None)))
    assert said
    for message in said:
        assert "is None; expected a NumPy array" in message, message
        assert names_an_argument(case, message)


@pytest.mark.parametrize("axis", [0, -2, -1])
@by_name(WITH_ARRAYS)
def test_sizes_that_do_not_fit_are_refused_with_their_shape(case, axis):
    """Some axis three times as long: the right answer for that size, or a reason; never torch's."""
    found = refusals(case, lambda x: torch.cat([x] * 3, axis), lambda x: x.ndim >= max(-axis, 1))
    for message in filter(None, found):
        assert re.search(r"\d.*expected", message) and names_an_argument(case, message), message


RANKLESS = {"relu", "gelu", "silu", "boolean_mask", "central_difference", "numerical_gradient"}
"""Any shape will do."""


@by_name([case for case in WITH_ARRAYS if case.name not in RANKLESS])
def test_too_few_axes_are_refused(case):
    """A single number has no axis; a mask may be one, for it broadcasts."""
    for message in refusals(case, lambda x: x.reshape(-1)[0], torch.is_floating_point):
        assert re.search(r"has shape \(\)", message), message
        assert names_an_argument(case, message)
