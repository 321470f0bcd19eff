"""Chapter 11, gradients: what has a closed form. C-numbers are claims."""

import math

import numpy as np
import pytest
import torch

from course_lib.island import VALUES, hand, scores
from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import CENTRAL_DIFFERENCE, assert_close, assert_digits


def test_who_pulls_the_hand_of_the_island():
    r"""Loss $\frac12|o - (1, 1)|^2$: dA and dS of the island, and their sum of zero."""
    from course_lib.island import KEYS

    u = np.array([[3.0, 1.5]])
    dS = lib.reversed_attention(hand(0.0)[None], KEYS, VALUES, u)
    assert_close(dS, np.array([[-5.625, 3.1875, 2.71875, -0.28125]]))
    assert_close(lib.softmax_vjp(lib.softmax(scores()), u[0] @ VALUES.T), dS[0])
    dQ, _, _ = lib.attention_vjp(hand(0.0)[None], KEYS, VALUES, u)
    assert_close(dQ, dS @ KEYS / math.sqrt(2))


def test_attention_is_not_lipschitz():
    r"""C145: tokens (0, s, -s); the norm of the Jacobian grows with $s^2$."""

    def layer(x):
        return lib.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None])[:, 0]

    norms = []
    for s in (1.0, 3.0, 10.0, 30.0, 100.0):
        x = torch.tensor([0.0, s, -s], dtype=torch.float64)
        norms.append(float(torch.linalg.matrix_norm(torch.func.jacrev(layer)(x), 2)))
    assert_digits(norms[:2], [1.5, 6.4], 1)
    assert_digits(norms[2:], [67, 600, 6667], 0)


def test_key_gradients_cancel():
    r"""C154: $\sum_j dK_j = 0$, since shifting all keys changes nothing."""
    Q, K, V, u = normal(3, 5), normal(7, 5, seed=1), normal(7, 2), normal(3, 2, seed=2)
    _, dK, _ = lib.attention_vjp(Q, K, V, u)
    assert_close(dK.sum(0), np.zeros(5))


def test_reversed_attention_is_signed_and_sums_to_zero():
    r"""C152: rows sum to 0, both signs occur, nothing above a causal mask, first row zero."""
    Q, K, V, u = normal(5, 3), normal(5, 3, seed=1), normal(5, 2), normal(5, 2, seed=2)
    R = lib.reversed_attention(Q, K, V, u, is_causal=True)
    assert_close(R.sum(-1), np.zeros(5))
    assert (R < 0).any() and (R > 0).any()
    assert not np.triu(R, 1).any() and not R[0].any()


def test_the_mask_and_the_scale_have_gradients_too():
    r"""$\partial L/\partial B = dS$ and $\partial L/\partial c = \langle dS, QK^\top\rangle$."""
    Q, K, V, u = normal(3, 5), normal(7, 5, seed=1), normal(7, 2), normal(3, 2, seed=2)
    B, direction = normal(3, 7, seed=3), normal(3, 7, seed=4)
    R = lib.reversed_attention(Q, K, V, u, attn_mask=B, scale=0.4)

    def loss(B=B, scale=0.4):
        return np.sum(u * lib.scaled_dot_product_attention(Q, K, V, attn_mask=B, scale=scale))

    along_mask = lib.central_difference(lambda B: loss(B=B), B, direction)
    assert along_mask == pytest.approx(np.sum(R * direction), rel=CENTRAL_DIFFERENCE)
    one = np.ones(())
    along_scale = lib.central_difference(lambda c: loss(scale=float(c)), 0.4 * one, one)
    assert along_scale == pytest.approx(np.sum(R * (Q @ K.T)), rel=CENTRAL_DIFFERENCE)


def test_projections_have_gradients():
    r"""C147: $dW = X^\top u$ and $dX = u W^\top$, by central differences."""
    X, W, u, direction = normal(2, 5, 3), normal(3, 4), normal(2, 5, 4), normal(3, 4, seed=5)
    dX, dW, db = lib.projection_vjp(X, W, u)
    slope = lib.central_difference(lambda W: np.sum(u * lib.project(X, W)), W, direction)
    assert slope == pytest.approx(np.sum(dW * direction), rel=CENTRAL_DIFFERENCE)
    assert_close(db, u.sum((0, 1)))
    assert_close(dX, u @ W.T)


@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_numerical_gradient_of_a_known_function(library):
    r"""$\nabla \sum \sin x = \cos x$, also for no entries."""
    for shape in ((), (3,), (2, 3), (0,), (3, 0)):
        x = library(np.asarray(normal(*shape)))
        found = lib.numerical_gradient(
            lambda x: (x.sin() if hasattr(x, "sin") else np.sin(x)).sum(), x
        )
        np.testing.assert_allclose(
            np.asarray(found), np.cos(np.asarray(x)), rtol=CENTRAL_DIFFERENCE
        )
    x32 = library(normal(3).astype(np.float32))
    assert lib.numerical_gradient(lambda x: x.sum(), x32).dtype == x32.dtype


def test_the_default_step_is_nearly_the_best():
    r"""$h^2$ and $\epsilon/h$ meet at the cube root of $\epsilon$."""

    def error(step):
        one = np.ones(())
        return abs(float(lib.central_difference(np.sin, one, one, step)) - math.cos(1))

    assert error(None) <= 30 * min(error(10.0**-k) for k in range(1, 10))
    assert error(1e-3) > 100 * error(None) and error(1e-9) > 100 * error(None)
