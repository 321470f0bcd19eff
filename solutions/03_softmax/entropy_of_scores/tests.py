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
    r"""Adding c to a row leaves its entropy as it was, for c from -10,000 to 10,000

    $H(x + c) = H(x)$.
    """
    shifts = np.array([[10_000.0], [0.0], [-10_000.0], [800.0], [-800.0], [100.0], [-120.0]])
    x = arrays.rounded(arrays.normal(7, 5) + shifts)
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
    hint = "over which axes does your last sum run?"
    for shape in ((2, 3, 5), (1, 5), (4, 1, 2), (3, 1)):
        x = arrays.normal(*shape)
        expect_close(got=entropy_of_scores(x), expected=arrays.oracle(x), hint=hint)


@hidden
@float64
def test_certainty_is_zero(entropy_of_scores, arrays):
    r"""A weight that rounds to zero adds nothing, and a row that is certain has entropy exactly 0

    $p \ln p \to 0$ as $p \to 0$: three scores of which two are equal and one lies 2,000 below have
    $\ln 2$.
    """
    x = arrays.normal(3, 5)
    x[:, 1] = 10_000
    got = entropy_of_scores(x)
    hint = "what does your formula do with a weight that is exactly zero, or exactly one?"
    expect_close(got=got, expected=np.zeros(3), hint=hint)
    expect_true(
        got == 0,
        evidence=f"got {float(got[np.argmax(abs(got))]):.3g}, expected exactly 0",
        hint=hint,
    )
    doubt = np.repeat(arrays.normal(4, 1), 5, axis=-1)
    doubt[:, 3] = arrays.rounded(doubt[:, 3] - np.array([2_000.0, 900.0, 745.0, 710.0]))
    expect_close(got=entropy_of_scores(doubt), expected=np.full(4, math.log(4)), hint=hint)
    doubt[:, 1] = arrays.rounded(doubt[:, 3] - 50)
    got, expected = entropy_of_scores(doubt), np.full(4, math.log(3))
    expect_close(got=got, expected=expected, hint=hint)


def on_the_island():
    p = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    return f"weights {p}, surprises in bits {-np.log2(p)}, their mean {-(p * np.log2(p)).sum():g} bits, {-(p * np.log(p)).sum():.4f} nats"
