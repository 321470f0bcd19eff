import math

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, expect_true, float64, hidden


@core
def test_the_island_sum(logsumexp, arrays):
    r"""The island's exponentials sum to 8, so the answer is ln 8; and one axis is gone

    $\mathrm{lse}(x) = \ln \sum_j e^{x_j}$, for the island and for other scores of order one.
    """
    hint = "what is summed, and which logarithm is taken?"
    expect_close(got=logsumexp(arrays.rounded(island.scores())), expected=math.log(8), hint=hint)
    for shape in ((2, 3, 5), (1, 5), (4, 1, 2)):
        x = arrays.normal(*shape)
        expect_close(got=logsumexp(x), expected=arrays.oracle(x), hint=hint)


def test_equal_scores_add_ln_n(logsumexp, arrays):
    r"""n equal scores c give c + ln n

    $\max_j x_j \le \mathrm{lse}(x) \le \max_j x_j + \ln n$, and this is the upper end.
    """
    c = arrays.normal(3, 1)
    got = logsumexp(np.repeat(c, 7, axis=-1))
    expect_close(
        got=got, expected=c[:, 0] + math.log(7), hint="how does the number of scores enter?"
    )


def test_a_shift_passes_through(logsumexp, arrays):
    r"""Adding c to a row adds c to its answer, up to 1000 and down to -1000

    $\mathrm{lse}(x + c) = \mathrm{lse}(x) + c$.
    """
    hint = "what is taken away before exp, and is the same number added back?"
    x = arrays.rounded(arrays.normal(3, 5) + np.array([[1000.0], [-1000.0], [10.0]]))
    x[2, 3] = 2000
    expect_close(got=logsumexp(x), expected=arrays.oracle(x), hint=hint)
    shifts = np.array([[720.0], [-760.0], [100.0], [-110.0], [50.0]])
    x = arrays.rounded(arrays.normal(5, 4) + shifts)
    expect_close(got=logsumexp(x), expected=arrays.oracle(x), hint=hint)


@float64
def test_its_slope_is_softmax(logsumexp, arrays):
    r"""The slope of the answer in each score is that score's weight

    $\partial\, \mathrm{lse} / \partial x_j = \mathrm{softmax}(x)_j$, by central differences.
    """
    x, step = arrays.normal(5), 1e-4
    moved = arrays.rounded(step * np.eye(5))
    slope = (logsumexp(x + moved) - logsumexp(x - moved)) / (2 * step)
    weights = np.exp(x - arrays.oracle(x))
    expect_close(
        got=slope,
        expected=weights,
        slack=0.01,
        hint="how many digits does each of your steps keep?",
    )


@hidden
def test_nothing_visible_is_minus_infinity(logsumexp, arrays):
    r"""A row of only -inf gives -inf, and the other rows are not disturbed

    $\ln \sum_j e^{-\infty} = \ln 0 = -\infty$.
    """
    x = arrays.normal(3, 5)
    x[1], x[2, 3] = -np.inf, -np.inf
    got = logsumexp(x)
    expected = arrays.oracle(x)
    hint = "what is -inf minus -inf?"
    expect_close(got=got, expected=expected, hint=hint)
    expect_true(
        got[1] == -np.inf, evidence=f"the row of only -inf gave {got[1]}, expected -inf", hint=hint
    )


def on_the_island():
    exponentials = np.exp(island.scores())
    return f"exponentials {exponentials.round(6)}, their sum {exponentials.sum():.6g}, its logarithm {np.log(exponentials.sum()):.6g}"
