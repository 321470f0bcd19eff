import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, expect_unchanged, float64, hidden


@core
def test_the_island_weights(softmax, arrays):
    r"""On the island the scores ln 2 (2, 1, 0, 0) become (1/2, 1/4, 1/8, 1/8)

    $\mathrm{softmax}(x)_j = e^{x_j} / \sum_i e^{x_i}$, there and for other scores of order one.
    """
    hint = "what is divided by what, and along which axis is the sum?"
    got = softmax(arrays.rounded(island.scores()))
    expect_close(got=got, expected=[1 / 2, 1 / 4, 1 / 8, 1 / 8], hint=hint)
    x = arrays.normal(2, 3, 5)
    expect_close(got=softmax(x), expected=arrays.oracle(x), hint=hint)


def test_rows_sum_to_one(softmax, arrays):
    r"""Each row of weights sums to one

    $\sum_j \mathrm{softmax}(x)_{ij} = 1$ for every $i$, in a stack of several matrices.
    """
    got = softmax(arrays.normal(2, 3, 5, scale=3))
    expect_close(
        got=np.sum(got, axis=-1),
        expected=np.ones((2, 3)),
        hint="over which axis did you normalise?",
    )


def test_shifting_changes_nothing(softmax, arrays):
    r"""Adding c to every score leaves the weights as they were, for c from -1000 to 1000

    $\mathrm{softmax}(x + c) = \mathrm{softmax}(x)$, also for $c$ far beyond the range of exp.
    """
    hint = "for which scores does exp overflow in this dtype, and for which does a whole row underflow?"
    for shift in (1000, 800, 95, 40, -95, -800, -1000):
        x = arrays.rounded(arrays.normal(3, 5) + shift)
        expect_close(got=softmax(x), expected=arrays.oracle(x), slack=100, hint=hint)


def test_the_axis_asked_for(softmax, arrays):
    r"""The axis that is asked for is the axis along which the weights sum to one

    $\sum_i \mathrm{softmax}(x, \mathrm{axis})_{\ldots i \ldots} = 1$ along that axis.
    """
    x = arrays.normal(2, 3, 5)
    hint = "does every place where an axis is named name the one that was asked for?"
    expect_close(got=softmax(x, axis=0), expected=arrays.oracle(x, axis=0), hint=hint)
    expect_close(got=softmax(x, axis=-2), expected=arrays.oracle(x, axis=-2), hint=hint)
    thin = arrays.normal(1, 4, 1)  # along an axis of length one every weight is one
    expect_close(got=softmax(thin, axis=1), expected=arrays.oracle(thin, axis=1), hint=hint)
    expect_close(got=softmax(thin), expected=np.ones((1, 4, 1)), hint=hint)


def test_the_input_is_unchanged(softmax, arrays):
    r"""The array of scores is the same after the call as before"""
    softmax(arrays.normal(3, 5))
    expect_unchanged(softmax, hint="which of your lines writes into an array that it did not make?")


@hidden
@float64
def test_rows_do_not_disturb_each_other(softmax, arrays):
    r"""A row gets the same weights alone and beside rows far above and below, wherever it lies

    $\mathrm{softmax}(x)_i$ depends on row $i$ only.
    """
    hint = "which rows decide what is subtracted from this row?"
    for apart in (3000.0, 800.0, 120.0):
        x = arrays.rounded(arrays.normal(3, 5) + apart * np.array([[-1.0], [0.0], [1.0]]))
        expect_close(got=softmax(x), expected=arrays.oracle(x), slack=100, hint=hint)
    x = 1e8 + arrays.integers(2, 5, low=0, high=4)
    hint = "how many digits of a score such as 100,000,003 does your dtype keep?"
    expect_close(got=softmax(x), expected=arrays.oracle(x), slack=100, hint=hint)


@hidden
def test_one_score_far_above(softmax, arrays):
    r"""A score 2000 above the others gets the weight one, and the others get zero

    $e^{-2000}$ is zero in every floating-point format.
    """
    x = arrays.normal(3, 7)
    x[:, 2] = arrays.rounded(x[:, 2] + 2000)
    expect_close(
        got=softmax(x),
        expected=np.tile(np.eye(7)[2], (3, 1)),
        hint="how large is the largest exponent that is left?",
    )


def on_the_island():
    exponentials = np.exp(island.scores())
    return (
        f"scores {island.scores().round(3)}, exponentials {exponentials.round(6)}, "
        f"their sum {exponentials.sum():.6g}, weights {exponentials / exponentials.sum()}"
    )
