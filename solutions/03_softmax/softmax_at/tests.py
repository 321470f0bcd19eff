import math

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, expect_less, float64, hidden


@core
def test_ordinary_temperatures(softmax_at, arrays):
    r"""At t = 1 it is softmax, and at t = 1/ln 2 the scores (2, 1, 0, 0) give the island's weights

    $\mathrm{softmax}_t(x) = \mathrm{softmax}(x/t)$.
    """
    hint = "which quantity does the temperature divide?"
    for t in (1.0, 0.5, 3.0):
        x = arrays.normal(3, 5)
        expect_close(got=softmax_at(x, t), expected=arrays.oracle(x, t), hint=hint)
    got = softmax_at(np.array([2.0, 1.0, 0.0, 0.0]), 1 / math.log(2))
    expect_close(got=got, expected=[1 / 2, 1 / 4, 1 / 8, 1 / 8], hint=hint)


def test_zero_shares_among_the_largest(softmax_at, arrays):
    r"""At t = 0 the largest scores share the weight equally, and the others get none

    $\lim_{t \to 0} \mathrm{softmax}_t(x)_j = 1/m$ for each of the $m$ largest scores.
    """
    x = arrays.normal(3, 7)
    x[0, 2] = x[0, 5] = arrays.rounded(x[0].max() + 1)
    largest = x == x.max(axis=-1, keepdims=True)
    expect_close(
        got=softmax_at(x, 0.0),
        expected=largest / largest.sum(axis=-1, keepdims=True),
        hint="what becomes of two scores that are both the largest?",
    )


def test_infinity_is_uniform(softmax_at, arrays):
    r"""At t = infinity every score gets the same weight

    $\lim_{t \to \infty} \mathrm{softmax}_t(x)_j = 1/n$.
    """
    got = softmax_at(arrays.normal(2, 3, 5), math.inf)
    expect_close(
        got=got, expected=np.full((2, 3, 5), 1 / 5), hint="what is exp of a score over infinity?"
    )


def test_hotter_is_flatter(softmax_at, arrays):
    r"""The largest weight falls as the temperature rises

    $\max_j \mathrm{softmax}_t(x)_j$ decreases in $t$ unless all scores are equal.
    """
    x = arrays.rounded(arrays.normal(3, 5) + np.array([0.0, 0.0, 1.0, 0.0, 0.0]))
    largest = [np.max(softmax_at(x, t), axis=-1) for t in (0.5, 1.0, 2.0)]
    for hotter, colder in zip(largest[1:], largest[:-1], strict=True):
        expect_less(got=hotter, than=colder, hint="does a high temperature sharpen or flatten?")


@hidden
@float64
def test_tiny_temperature_is_finite(softmax_at, arrays):
    r"""From t = 1e-308 to t = 1e8 the weights are finite and those of the definition

    At $t = 10^{-308}$, $x/t$ overflows and $(x - \max x)/t$ only underflows.
    """
    x = arrays.rounded(arrays.normal(3, 5) + 5)
    expected = x == x.max(axis=-1, keepdims=True)
    expect_close(
        got=softmax_at(x, 1e-308),
        expected=expected,
        hint="which of your two steps meets the large number first?",
    )
    hint = "from which temperature on does your code take the limit in place of the formula?"
    for t in (1e-9, 1e-6, 1e-3, 50.0, 1e5, 1e8):
        near = arrays.rounded(t * arrays.normal(2, 4))  # scores that differ by about t
        expect_close(got=softmax_at(near, t), expected=arrays.oracle(near, t), hint=hint)


def on_the_island():
    lines = []
    for t in (0.5, 1.0, 2.0):
        shares = np.exp(island.scores() / t)
        lines.append(
            f"t = {t}: exponentials {shares.round(3)}, weights {(shares / shares.sum()).round(3)}"
        )
    return "; ".join(lines)
