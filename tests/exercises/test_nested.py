"""Whatever is nested comes out of every walk as it went in, with its leaves changed."""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest
import torch

from autograder.exercises.lazy_answers import lazy_answers
from course_lib import checking
from course_lib.checking.call import Call
from course_lib.checking.nested import leaves, map_leaves
from course_lib.checking.setting import Setting


class Pair(NamedTuple):
    weights: object
    values: object


class Rows(list):
    pass


NESTED = {
    "a NamedTuple": (Pair(1, 2), Pair(2, 4)),
    "one within a list within a dict": ({"pair": [Pair(1, (2,))]}, {"pair": [Pair(2, (4,))]}),
    "a list of its own class": (Rows([1, 2]), Rows([2, 4])),
    "nothing": (((), [], {}), ((), [], {})),
    "a leaf": (3, 6),
}


@pytest.mark.parametrize("case", NESTED)
def test_containers_stay_what_they_are(case):
    value, doubled = NESTED[case]
    got = map_leaves(lambda leaf: 2 * leaf, value)
    assert got == doubled
    assert type(got) is type(doubled)


def test_what_is_plain_holds_no_subclass():
    got = map_leaves(abs, {"a": Pair(-1, Rows([-2]))}, plain=True)
    assert got == {"a": (1, [2])}
    assert (type(got["a"]), type(got["a"][1])) == (tuple, list)


def test_leaves_come_from_left_to_right():
    assert list(leaves((1, [2, {"a": 3, "b": ()}], Pair("four", None)))) == [1, 2, 3, "four", None]


@pytest.mark.parametrize("run", [Setting(), Setting("torch", "float32")], ids=str)
def test_a_function_gets_plain_tuples_and_gives_any(run):
    """Where another process calls, a NamedTuple could not cross: here it does not, either."""

    def student(pair):
        assert type(pair) is tuple
        return Pair(pair[0] * 2, OrderedDict(rest=Rows(pair[1:])))

    x = np.array([1.0, 2.0])
    doubled, rest = Call(student, run)(Pair(x, x))
    np.testing.assert_array_equal(doubled, 2 * x)
    np.testing.assert_array_equal(rest["rest"][0], x)


def test_an_unrepresentable_number_is_found_wherever_it_is():
    with pytest.raises(checking.findings.AuthorError):
        Call(lambda pair: 0.0, Setting("numpy", "float32"))(Pair([{"x": np.array([0.1])}], 1))


def test_arrays_within_an_answer_are_compared_as_lists():
    checking.expect_equal(got={"a": (np.array([1, 2]),)}, expected={"a": ([1, 2],)}, hint="?")


def test_a_lazy_answer_has_the_containers_of_the_right_one():
    answers = lazy_answers(lambda x: {"pair": Pair(x, torch.ones(2))})
    zeros = answers["zeros"](np.ones(3))["pair"]
    assert isinstance(zeros, Pair)
    assert not zeros.weights.any() and not zeros.values.any()
