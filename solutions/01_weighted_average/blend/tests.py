import math

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


@core
def test_the_island_answer(blend, arrays):
    r"""On the island the scores ln 2 (2, 1, 0, 0) give the answer (4, 2.5)

    $o_i = \sum_j \alpha_{ij} v_j$, there and for other scores of order one.
    """
    hint = "whose shares are these, and of what do they add up to one?"
    got = blend(arrays.rounded(island.scores()[None, :]), island.VALUES)
    expect_close(got=got, expected=[[4.0, 2.5]], hint=hint)
    scores, V = arrays.normal(3, 5), arrays.normal(5, 2)
    expect_close(got=blend(scores, V), expected=arrays.oracle(scores, V), hint=hint)


def test_equal_values_come_back(blend, arrays):
    r"""If all keys hold the same value, the answer is that value

    $\sum_j \alpha_{ij}\, v = v$, because the shares sum to one.
    """
    value = arrays.normal(1, 3)
    scores = arrays.uniform(2, 5, low=0.5, high=2.0)
    got = blend(scores, np.repeat(value, 5, axis=0))
    expect_close(
        got=got,
        expected=np.repeat(value, 2, axis=0),
        hint="do the shares of one question sum to one?",
    )


def test_only_differences_count(blend, arrays):
    r"""Adding a number to all scores of a question leaves its answer as it was

    $o(s + c) = o(s)$.
    """
    scores, V = arrays.normal(3, 5), arrays.normal(5, 2)
    shifted = arrays.rounded(scores + arrays.uniform(3, 1, low=2.0, high=4.0))
    expect_close(
        got=blend(shifted, V),
        expected=arrays.oracle(shifted, V),
        hint="what does a share depend on besides differences of scores?",
    )


@hidden
def test_one_unit_is_a_factor_e(blend, arrays):
    r"""Two keys whose scores differ by one share the answer in the ratio e : 1

    $\alpha_1 / \alpha_2 = e^{s_1 - s_2}$.
    """
    got = blend(np.array([[1.0, 0.0]]), np.eye(2))
    expected = np.array([[math.e, 1.0]]) / (math.e + 1)
    expect_close(
        got=got, expected=expected, hint="which number is raised to the power of the score?"
    )


@hidden
def test_each_question_alone(blend, arrays):
    r"""Asking more questions does not change the answer to the first

    $o_1$ depends on row 1 of the scores only.
    """
    scores, V = arrays.normal(7, 5), arrays.normal(5, 3)
    expect_close(
        got=blend(scores, V)[:1],
        expected=arrays.oracle(scores[:1], V),
        hint="along which axis do keys compete?",
    )


def on_the_island():
    loudness = np.exp(island.scores())
    shares = loudness / loudness.sum()
    return f"loudness {loudness.round(6)}, shares {shares}, answer {shares @ island.VALUES}"
