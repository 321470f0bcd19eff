"""Chapter 13, dynamics: what has a closed form. C-numbers are claims."""

import numpy as np
import pytest

from course_lib.island import scores
from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


def test_tokens_on_the_sphere_meet_and_the_energy_grows():
    r"""C168: $\beta = 1$: the smallest cosine goes to 1; the energy never falls; $|x_i| = 1$."""
    X = normal(16, 3)
    X = X / np.linalg.norm(X, axis=-1, keepdims=True)
    places = lib.token_flow(X, 1.0, 0.1, 300)
    assert places.shape == (301, 16, 3)
    assert_close(np.linalg.norm(places, axis=-1), np.ones((301, 16)))
    energy = np.array([lib.flow_energy(place, 1.0) for place in places])
    assert np.all(np.diff(energy) > -1e-15)
    assert (places[0] @ places[0].T).min() < -0.5 < 0.999 < (places[-1] @ places[-1].T).min()
    sharp = lib.token_flow(X, 9.0, 0.1, 300)[-1]
    assert (sharp @ sharp.T).min() < 0.5


def test_velocity_is_tangential():
    r"""$x_i \cdot \dot x_i = 0$ on the sphere."""
    X = normal(5, 3)
    X = X / np.linalg.norm(X, axis=-1, keepdims=True)
    assert_close((X * lib.flow_velocity(X, 2.0)).sum(-1), np.zeros(5))


def test_consensus_is_rank_collapse():
    r"""C169: $A^m X \to 1 \pi^\top X$ at rate $|\lambda_2|^m$."""
    A, X = lib.softmax(normal(5, 5)), normal(5, 3)
    second = np.sort(np.abs(np.linalg.eigvals(A)))[-2]
    far = [lib.distance_to_consensus(np.linalg.matrix_power(A, m) @ X) for m in (10, 20)]
    assert (far[1] / far[0]) ** (1 / 10) == pytest.approx(second, rel=0.05)
    assert lib.distance_to_consensus(np.ones((4, 3))) == 0
    assert lib.distance_to_consensus(np.zeros((4, 3))) == 0


def test_sinkhorn_is_doubly_stochastic():
    """C170: after 50 rounds rows and columns sum to one."""
    A = lib.sinkhorn(normal(5, 5), iterations=50)
    assert_close(A.sum(0), np.ones(5))
    assert_digits(A.sum(1), np.ones(5), 10)


def test_sparsemax_has_zeros():
    """C171: (1, 0.5, -1) gives (0.75, 0.25, 0); the island gives (0.8466, 0.1534, 0, 0)."""
    assert_close(lib.sparsemax(np.array([1.0, 0.5, -1.0])), np.array([0.75, 0.25, 0.0]))
    assert_digits(lib.sparsemax(scores()), [0.8466, 0.1534, 0, 0], 4)
    x = np.round(normal(100), 2).astype(np.float32).astype(np.float16).astype(np.float32)
    assert_close(lib.sparsemax(x + 2048), lib.sparsemax((x + 2048) - 2048), "float32")


def test_recall_is_sharp_for_large_beta():
    """C172: 20 unit patterns in 64 dimensions, one step from a noisy query."""
    patterns = normal(20, 64)
    patterns = patterns / np.linalg.norm(patterns, axis=-1, keepdims=True)
    noise = normal(64, seed=1)
    query = patterns[:1] + noise / np.linalg.norm(noise)
    cosines = [
        float(lib.cosine_scores(lib.hopfield_update(query, patterns, beta), patterns[:1])[0, 0])
        for beta in (1.0, 8.0, 32.0)
    ]
    assert cosines[0] < 0.8 < 0.99 < cosines[1] <= cosines[2] + 1e-3
