import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


def _inputs(arrays, n_q=3, n_k=5, d_k=2, d_v=7):
    return (
        arrays.normal(n_q, d_k),
        arrays.normal(n_k, d_k),
        arrays.normal(n_k, d_v),
        arrays.normal(n_q, d_v),
    )


def _all_close(got, expected, slack, hint):
    for mine, right in zip(got, expected, strict=True):
        expect_close(got=mine, expected=right, slack=slack, hint=hint)


@core
def test_equals_the_derivative(attention_vjp, arrays):
    r"""Without a mask the three gradients are the derivatives of the loss, taken entry by entry

    $dQ = \partial L/\partial Q$, $dK = \partial L/\partial K$, $dV = \partial L/\partial V$ for
    $L = \langle dO, AV\rangle$.
    """
    hint = "which of your gradients is the first to be wrong: dV, dA, dS, or the last two?"
    for sizes in ({}, {"n_q": 5, "n_k": 2, "d_k": 3, "d_v": 2}):
        inputs = _inputs(arrays, **sizes)
        _all_close(attention_vjp(*inputs, None), arrays.oracle(*inputs, None), 20, hint)


def test_equals_the_derivative_with_a_mask(attention_vjp, arrays):
    r"""With a mask they still are, and what nobody sees gets exactly zero

    $A_{ij} = 0$ gives $dS_{ij} = 0$.
    """
    inputs = _inputs(arrays)
    may_attend = np.array([[1, 0, 1, 0, 1], [1, 1, 0, 0, 0], [0, 1, 1, 0, 1]], dtype=bool)
    got = attention_vjp(*inputs, may_attend)
    hint = "may a pair that has no weight pull at anything?"
    _all_close(got, arrays.oracle(*inputs, may_attend), 20, hint)
    for gradient in got[1:]:
        expect_close(got=gradient[3], expected=0 * gradient[3], slack=1e-9, hint=hint)


def test_forces_balance(attention_vjp, arrays):
    r"""One query: what pulls one key one way pulls the others the other way

    $\sum_j dK_j = 0$.
    """
    _, dK, _ = attention_vjp(*_inputs(arrays, n_q=1), None)
    expect_close(
        got=np.sum(dK, axis=0),
        expected=np.zeros(2),
        slack=5,
        hint="along which axis, and with which weights, is a mean taken away?",
    )


def test_equal_values_pull_at_nothing(attention_vjp, arrays):
    r"""If all values are equal no query and no key feels anything

    $v_j = v$ for all $j$ gives $dQ = 0$ and $dK = 0$.
    """
    Q, K, V, dO = _inputs(arrays)
    V = np.repeat(V[:1], 5, axis=0)
    dQ, dK, _ = attention_vjp(Q, K, V, dO, None)
    hint = "what stands between the gradient at the weights and the gradient at the scores?"
    expect_close(got=dQ, expected=np.zeros((3, 2)), slack=20, hint=hint)
    expect_close(got=dK, expected=np.zeros((5, 2)), slack=20, hint=hint)


@hidden
def test_the_scale_is_felt_once(attention_vjp, arrays):
    r"""Queries and keys written twice side by side: both halves of dQ are alike, a root of two below the sharper problem

    $QK^\top$ doubles and $\sqrt{d_k}$ grows by $\sqrt 2$: as if $Q$ were $\sqrt2\,Q$, whose gradient is $\sqrt2$ times as large.
    """
    Q, K, V, dO = _inputs(arrays)
    sharper = arrays.oracle(np.sqrt(2) * Q, K, V, dO, None)[0]
    dQ, _, _ = attention_vjp(np.tile(Q, (1, 2)), np.tile(K, (1, 2)), V, dO, None)
    hint = (
        "how often does the root of d_k stand between Q and the scores, and how often in your dQ?"
    )
    expected = np.tile(sharper / np.sqrt(2), (1, 2))
    expect_close(got=dQ, expected=expected, slack=20, hint=hint)


@hidden
def test_an_empty_row_gives_zeros(attention_vjp, arrays):
    r"""A query that may see nothing gets zeros and gives none; the other rows are as before

    Row $i$ of may_attend all False gives $dQ_i = 0$, and finite numbers everywhere.
    """
    inputs = _inputs(arrays)
    may_attend = np.array([[1, 0, 1, 1, 1], [0, 0, 0, 0, 0], [0, 1, 1, 0, 1]], dtype=bool)
    _all_close(
        attention_vjp(*inputs, may_attend),
        arrays.oracle(*inputs, may_attend),
        20,
        "what is the largest score of a row that has none, and what do you divide by?",
    )


@hidden
def test_large_scores_are_safe(attention_vjp, arrays):
    r"""Scores far beyond the range of the exponential, alike or far apart, give finite gradients

    Adding one vector to all keys changes no gradient at keys and values; a score 2,000 lower has weight 0.
    """
    Q, K = (arrays.integers(n, 4, low=-4, high=5) / 4 for n in (3, 5))
    Q[:, 0] = [1.0, 0.5, -1.0]
    V, dO = arrays.normal(5, 7), arrays.normal(3, 7)
    far = K + np.array([4096.0, 0, 0, 0])
    _, dK, dV = arrays.oracle(Q, K, V, dO, None)
    _, got_K, got_V = attention_vjp(Q, far, V, dO, None)
    hint = "what is exp(4000) in your dtype, and which shift does softmax forget?"
    expect_close(got=got_V, expected=dV, slack=100, hint=hint)
    expect_close(got=got_K, expected=dK, slack=100, hint=hint)
    apart = K + np.array([[4096.0], [4096.0], [-4096.0], [-4096.0], [-4096.0]]) * np.eye(4)[0]
    _, dK, dV = arrays.oracle(Q, apart, V, dO, None)
    _, got_K, got_V = attention_vjp(Q, apart, V, dO, None)
    expect_close(got=got_V, expected=dV, slack=100, hint=hint)
    expect_close(got=got_K, expected=dK, slack=100, hint=hint)


def on_the_island():
    weights, u = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8]), np.array([3.0, 1.5])
    dA = island.VALUES @ u
    return f"u = {u}: gradient at the weights {dA}, its weighted mean {weights @ dA:g}, at the scores {weights * (dA - weights @ dA)}"
