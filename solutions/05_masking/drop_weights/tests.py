import itertools

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, expect_unchanged

PATTERNS = np.array(list(itertools.product([True, False], repeat=5)))


@core
def test_the_expectation_is_exact(drop_weights, arrays):
    r"""Dropped weights are 0, and over all 32 patterns of five coins the mean is the row itself

    $\sum_z P(z)\,\tilde a(z) = a$ with $P(z) = \prod_j p^{1 - z_j}(1 - p)^{z_j}$, for $p = 0.25$.
    """
    p = 0.25
    rows = np.tile(arrays.weights(5), (32, 1))
    got = drop_weights(rows, PATTERNS, p)
    expected = arrays.oracle(rows, PATTERNS, p)
    hint = "how often does a weight survive, and by how much must it grow to make up for the rest?"
    expect_close(got=got, expected=expected, hint=hint)
    probability = np.prod(np.where(PATTERNS, 1 - p, p), axis=1)
    expect_close(got=probability @ np.asarray(got), expected=rows[0], hint=hint)
    for shape, p in (((2, 3, 7), 0.4), ((1, 5), 0.5), ((4, 3), 0.9)):
        stack, coins = arrays.weights(*shape), arrays.uniform(*shape) < 1 - p
        coins[..., 0], coins[..., 1] = True, False
        expected = arrays.oracle(stack, coins, p)
        expect_close(got=drop_weights(stack, coins, p), expected=expected, hint=hint)


def test_survivors_do_not_notice_each_other(drop_weights, arrays):
    r"""What a surviving weight becomes does not depend on who else survives

    $\tilde a_1$ is the same number in all 16 patterns that keep it.
    """
    rows = np.tile(arrays.weights(5), (16, 1))
    got = drop_weights(rows, PATTERNS[:16], 0.25)
    expect_close(
        got=got[:, 0],
        expected=rows[:, 0] / 0.75,
        hint="does anything in your factor look at the other weights of the row?",
    )


def test_nothing_dropped(drop_weights, arrays):
    r"""With rate 0 and everything kept nothing happens

    $p = 0$ gives $\tilde a = a$.
    """
    A = arrays.weights(3, 5)
    got = drop_weights(A, np.ones((3, 5), dtype=bool), 0.0)
    expect_close(got=got, expected=A, hint="what is your factor when p is 0?")


def test_the_input_is_unchanged(drop_weights, arrays):
    r"""The array of weights is the same after the call as before"""
    drop_weights(arrays.weights(3, 5), arrays.uniform(3, 5) < 0.5, 0.5)
    expect_unchanged(
        drop_weights, hint="which of your lines writes into an array that it did not make?"
    )


def on_the_island():
    p = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    half = 2 * p * [True, False, True, True]
    return f"weights {p}, rate 1/2, Bo dropped: {half}, sum {half.sum():g}, answer {half @ island.VALUES}"
