import numpy as np
from array_api_compat import array_namespace

from course_lib.checking import core, expect_close, expect_unchanged, float64, hidden


def _averaging(table):
    """Each output is the average of the inputs that it may see, a little stretched."""

    def layer(X):
        weights = table / np.maximum(table.sum(1, keepdims=True), 1)
        return _like(weights, X) @ X

    return layer


def _attending(table):
    """Each output is what attention makes of the inputs that it may see, without weights to learn."""

    def layer(X):
        xp = array_namespace(X)
        scores = X @ X.mT / X.shape[-1]
        hidden = _like(np.where(table, 0.0, -np.inf), X)
        scores = xp.where(_like(table * 1.0, X) > 0, scores, hidden)
        powers = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
        return (powers / xp.sum(powers, axis=-1, keepdims=True)) @ X

    return layer


def _like(numbers, X):
    xp = array_namespace(X)
    return xp.asarray(numbers, dtype=X.dtype)


def _copied(X):
    return X + 0


def _leaking(n):
    return np.tri(n, k=1)


@core
def test_four_ordinary_layers(dependence, arrays):
    r"""Causal, identity, unmasked and leaking attention are told apart, and so are tables drawn at random

    The first four are $[\,j \le i\,]$, $[\,j = i\,]$, all True, and $[\,j \le i + 1\,]$.
    """
    hint = "which input was changed, which were put back, and which output moved?"
    for n in (5, 3):
        X = arrays.normal(n, 4)
        cases = {
            "causal": (_attending(np.tri(n)), np.tri(n)),
            "identity": (_copied, np.eye(n)),
            "unmasked": (_attending(np.ones((n, n))), np.ones((n, n))),
            "leaking": (_attending(_leaking(n)), _leaking(n)),
        }
        for layer, expected in cases.values():
            expect_close(got=1.0 * dependence(layer, X), expected=expected, hint=hint)
    for n in (4, 6):  # tables that have no name
        table = 1.0 * (arrays.uniform(n, n) < 0.5)
        got = dependence(_averaging(table), arrays.normal(n, 3))
        expect_close(got=1.0 * got, expected=table, hint=hint)


def test_a_layer_that_reads_one_feature(dependence, arrays):
    r"""A layer that reads only the last number of each row is read correctly

    Output $i$ is the sum of $x_{j d}$ over $j \le i$, in every feature.
    """
    n, average = 5, _averaging(np.tri(5))

    def layer(X):
        xp = array_namespace(X)
        return average(xp.concat([X[:, -1:]] * X.shape[-1], axis=-1))

    got = dependence(layer, arrays.normal(n, 4))
    expect_close(got=1.0 * got, expected=np.tri(n), hint="which features of a row did you change?")


def test_rows_of_zeros(dependence, arrays):
    r"""An input of zeros is read like any other

    $X = 0$, and a layer that averages the past.
    """
    got = dependence(_averaging(np.tri(5)), np.zeros((5, 4)))
    expect_close(got=1.0 * got, expected=np.tri(5), hint="does your change alter a row of zeros?")


def test_the_input_is_unchanged(dependence, arrays):
    r"""The array X is the same after the call as before"""
    dependence(_averaging(np.tri(5)), arrays.normal(5, 4))
    expect_unchanged(dependence, hint="whose array do you write your change into?")


@hidden
def test_a_normalised_layer(dependence, arrays):
    r"""A layer behind a layer norm, whose outputs sum to zero, is read correctly

    It does not notice a number added to a whole row, nor a row multiplied by a number.
    """
    n, average = 5, _averaging(_leaking(5))

    def layer(X):
        xp = array_namespace(X)
        centred = X - xp.sum(X, axis=-1, keepdims=True) / 4
        spread = xp.sqrt(xp.sum(centred**2, axis=-1, keepdims=True) / 4)
        normalised = average(centred / spread)
        return normalised - xp.sum(normalised, axis=-1, keepdims=True) / 4

    whole = 1.0 * arrays.integers(n, 4, low=-8, high=8)
    whole[:, 0] = 16
    got = dependence(layer, whole)
    hint = "which changes of a row does a layer norm take away, and which sums are always the same?"
    expect_close(got=1.0 * got, expected=_leaking(n), hint=hint)


@hidden
@float64
def test_a_weak_influence(dependence, arrays):
    r"""An input that moves an output by a billionth of itself is read, too

    $o_i = \sum_j w_{ij} x_j$ with some $w_{ij} = 10^{-9}$: the output is another number.
    """
    weights = np.tri(5) * np.where(arrays.uniform(5, 5) < 0.5, 1e-9, 1.0)

    def layer(X):
        return _like(weights, X) @ X

    hint = "by how much must an output move before your table counts it?"
    got = dependence(layer, 1 + arrays.uniform(5, 4))
    expect_close(got=1.0 * got, expected=np.tri(5), hint=hint)


@hidden
def test_huge_inputs(dependence, arrays):
    r"""Inputs of size 1e18 are read correctly

    There a change of ordinary size is lost in rounding.
    """
    X = arrays.rounded(1e18 * (2 + arrays.uniform(5, 4)))
    got = dependence(_averaging(_leaking(5)), X)
    expect_close(
        got=1.0 * got,
        expected=_leaking(5),
        hint="how large is your change, measured in the last digit of the number it is made to?",
    )


def on_the_island():
    read = np.tri(4).sum(axis=1).astype(int)
    return "a causal layer on four cards reads " + ", ".join(
        f"for output {i} the first {number}" for i, number in enumerate(read, start=1)
    )
