import math

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden

MANY = 257


def _inputs(arrays, n_q=5, n_k=7, d_k=3, d_v=2):
    Q, K = arrays.normal(n_q, d_k), arrays.normal(n_k, d_k)
    V, dO = arrays.normal(n_k, d_v), arrays.normal(n_q, d_v)
    return Q, K, V, *_saved(arrays, Q, K, V), dO


def _saved(arrays, Q, K, V):
    """What the way forward keeps: the output, and one number for each query."""
    scores = Q @ K.T / math.sqrt(Q.shape[1])
    lse = np.array([max(row) + math.log(sum(np.exp(row - max(row)))) for row in scores])
    return arrays.rounded(np.exp(scores - lse[:, None]) @ V), arrays.rounded(lse)


def _all_close(got, expected, hint, slack=20):
    for mine, right in zip(got, expected, strict=True):
        expect_close(got=mine, expected=right, slack=slack, hint=hint)


@core
def test_equals_the_derivative(vjp_from_saved, arrays):
    r"""In blocks of 3 of 7 keys, and of 2 of 5, the three gradients are those of attention

    $dQ = \partial L/\partial Q$, $dK = \partial L/\partial K$, $dV = \partial L/\partial V$ for
    $L = \langle dO, AV\rangle$.
    """
    hint = "which of the three gradients does one block finish, and which hears from every block?"
    for block, sizes in ((3, {}), (2, {"n_q": 3, "n_k": 5, "d_k": 2, "d_v": 7})):
        inputs = _inputs(arrays, **sizes)
        _all_close(vjp_from_saved(*inputs, block), arrays.oracle(*inputs, block), hint)


def test_the_block_size_does_not_matter(vjp_from_saved, arrays):
    r"""Blocks of 1, 2, 3, 7 and 100 keys give the same gradients

    Each is a sum over keys, however they are grouped.
    """
    inputs = _inputs(arrays)
    expected = arrays.oracle(*inputs, 1)
    for block in (1, 2, 3, 7, 100):
        _all_close(
            vjp_from_saved(*inputs, block),
            expected,
            "which number of yours belongs to a whole row, and is taken from a block?",
        )


def test_large_scores_are_safe(vjp_from_saved, arrays):
    r"""Scores above 1,000 give finite gradients, the same as without their common part

    $A_{ij} = e^{S_{ij} - \ell_i}$.
    """
    Q = arrays.integers(5, 4, low=-3, high=4) / 2
    K = arrays.integers(7, 4, low=-3, high=4) / 2
    Q[:, 0] = 1.0  # so that the shift below moves every score alike
    V, dO = arrays.normal(7, 2), arrays.normal(5, 2)
    lse = np.round(64 * _saved(arrays, Q, K, V)[1]) / 64  # float32 then holds lse + 2048 as well
    output = arrays.rounded(np.exp(Q @ K.T / 2 - lse[:, None]) @ V)
    _, dK, dV = arrays.oracle(Q, K, V, output, lse, dO, 3)
    far = K + np.array([4096.0, 0, 0, 0])
    got = vjp_from_saved(Q, far, V, output, lse + 2048, dO, 3)
    hint = "what is exp(2000) in your dtype, and which difference is small?"
    _all_close(got[1:], (dK, dV), hint, slack=50)


@hidden
def test_no_square_array(vjp_from_saved, arrays):
    r"""With 257 queries and keys in blocks of 16 the memory stays below 0.25 MiB

    $n_q \times$ `block` entries at a time, never $n_q \times n_k$.
    """
    inputs = _inputs(arrays, n_q=MANY, n_k=MANY)
    hint = "which array of yours has one entry for every pair?"
    bounded = vjp_from_saved.within(2**18, hint=hint)
    _all_close(bounded(*inputs, 16), arrays.oracle(*inputs, 16), hint, slack=200)


@hidden
def test_the_saved_output_is_used(vjp_from_saved, arrays):
    r"""The row sums come from the saved output as it is given

    $\sum_j A_{ij}\,dA_{ij} = dO_i \cdot O_i$: with $2O$ in its place every $dS_{ij}$ falls by $A_{ij}\,dO_i \cdot O_i$.
    """
    Q, K, V, output, lse, dO = _inputs(arrays)
    output = arrays.rounded(2 * output)
    _all_close(
        vjp_from_saved(Q, K, V, output, lse, dO, 3),
        arrays.oracle(Q, K, V, output, lse, dO, 3),
        "from which of the saved arrays do you take the row sums?",
    )


def on_the_island():
    u, weights = np.array([3.0, 1.5]), np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    output, dA = weights @ island.VALUES, island.VALUES @ u
    return f"saved: output {output}, log-sum-exp {math.log(8):.4f}; u.output = {u @ output:g}, and the weighted sum of the gradients at the weights is {weights @ dA:g} as well"
