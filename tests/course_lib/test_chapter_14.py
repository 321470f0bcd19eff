"""Chapter 14, reading attention: what has a closed form. C-numbers are claims."""

import numpy as np

from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


def test_rollout_keeps_rows_of_sum_one():
    """Identity layers change nothing; half residual averages."""
    weights = lib.softmax(normal(3, 5, 5))
    assert_close(lib.attention_rollout(weights).sum(-1), np.ones(5))
    identity = np.broadcast_to(np.eye(5), (4, 5, 5)).copy()
    assert_close(lib.attention_rollout(identity), np.eye(5))
    assert_close(lib.attention_rollout(weights[:1], residual=0.0), weights[0])
    assert_close(lib.attention_rollout(weights[:2], residual=0.0), weights[1] @ weights[0])


def test_heads_are_told_apart():
    """A head on the previous token, one on all, one on what followed the same token before."""
    tokens = np.array([4, 7, 5, 4, 7])
    previous = np.eye(5, k=-1)
    previous[0, 0] = 1
    uniform = np.full((5, 5), 1 / 5)
    induction = np.eye(5)
    induction[3:] = np.eye(5)[[1, 2]]
    heads = np.stack([previous, uniform, induction])
    assert_close(lib.previous_token_score(heads), np.array([1, 1 / 5, 0]))
    assert_close(lib.induction_score(heads, tokens), np.array([0, 1 / 5, 1]))
    assert_close(lib.head_entropy(heads), np.array([0, np.log(5), 0]))
    assert_close(lib.attention_distance(heads)[:2], np.array([4 / 5, 8 / 5]))


def test_a_positional_head_is_built_from_sinusoids():
    r"""C184: $q_i = \mathrm{PE}_i R_{-1}$, $k_j = \mathrm{PE}_j$ looks at the previous token."""
    PE = lib.sinusoidal_positions(20, 64)
    Q = PE @ lib.sinusoid_shift(-1.0, 64)
    weights = lib.softmax(lib.scaled_dot_scores(Q, PE, scale=4.0))
    assert np.array_equal(weights[1:].argmax(-1), np.arange(19))
    assert_digits(lib.previous_token_score(weights), 0.975, 2)


def test_value_norms_reorder_weights():
    """C069, C174: weights (0.7, 0.2, 0.1) on values of norms (0.01, 1.41, 2.24)."""
    values = np.array([[0.01, 0.0], [1.0, 1.0], [1.0, 2.0]])
    found = lib.value_weighted(np.array([[0.7, 0.2, 0.1]]), values)
    assert_digits(found, [[0.007, 0.283, 0.224]], 3)


def test_weights_are_not_unique():
    r"""C174: n = 6, d_v = 3: other weights, the same output; the null space has dimension 2."""
    V, weights = normal(6, 3), lib.softmax(normal(1, 6))
    constraints = np.concatenate([V, np.ones((6, 1))], -1).T
    _, singular, directions = np.linalg.svd(constraints)
    null = directions[len(singular) :]
    assert null.shape[0] == 2
    other = weights + 0.5 * weights.min() * null[:1]
    assert np.abs(other - weights).sum() > 0.01 and other.min() >= 0
    assert_close(other @ V, weights @ V)
