import math

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, expect_true, float64, hidden


@core
def test_known_entropies(entropy_of_scores, arrays):
    r"""The island's scores have 7/4 bits, that is 7/4 ln 2 nats; n equal scores have ln n

    $H = \mathrm{lse}(x) - \sum_j p_j x_j$, there and for other scores of order one.
    """
    hint = "which mean of the scores is taken away, and in which unit is the answer?"
    got = entropy_of_scores(arrays.rounded(island.scores()))
    expect_close(got=got, expected=7 / 4 * math.log(2), hint=hint)
    equal = np.repeat(arrays.normal(3, 1), 7, axis=-1)
    expect_close(got=entropy_of_scores(equal), expected=np.full(3, math.log(7)), hint=hint)
    x = arrays.normal(5, scale=2)
    expect_close(got=entropy_of_scores(x), expected=arrays.oracle(x), hint=hint)


def test_shifting_changes_nothing(entropy_of_scores, arrays):
    r"""Adding 10,000 to a row, or taking it away, leaves its entropy as it was

    $H(x + c) = H(x)$.
    """
    x = arrays.rounded(arrays.normal(3, 5) + np.array([[10_000.0], [0.0], [-10_000.0]]))
    expect_close(
        got=entropy_of_scores(x),
        expected=arrays.oracle(x),
        slack=500,
        hint="what is exp(10,000) in this dtype?",
    )


def test_one_number_per_row(entropy_of_scores, arrays):
    r"""Each row of a stack has its own number, between 0 and ln n

    $0 \le H \le \ln n$, one for each row.
    """
    x = arrays.normal(2, 3, 5)
    got = entropy_of_scores(x)
    expect_close(got=got, expected=arrays.oracle(x), hint="over which axes does your last sum run?")


@hidden
@float64
def test_certainty_is_zero(entropy_of_scores, arrays):
    r"""A score 10,000 above the others leaves no doubt: the entropy is 0, not nan and not below 0

    $p \ln p \to 0$ as $p \to 0$.
    """
    x = arrays.normal(3, 5)
    x[:, 1] = 10_000
    got = entropy_of_scores(x)
    hint = "what does your formula do with a weight that is exactly zero, or exactly one?"
    expect_close(got=got, expected=np.zeros(3), hint=hint)
    expect_true(got >= 0, evidence=f"got {float(np.min(got)):.3g}, which is below 0", hint=hint)


def on_the_island():
    p = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    return f"weights {p}, surprises in bits {-np.log2(p)}, their mean {-(p * np.log2(p)).sum():g} bits, {-(p * np.log(p)).sum():.4f} nats"
