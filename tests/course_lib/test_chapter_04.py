"""Chapter 4, scaling: what has a closed form. C-numbers are claims."""

import math

import numpy as np
import pytest

from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close


@pytest.mark.parametrize(
    ("mu", "Sigma", "expected"),
    [
        (0, np.eye(64), 1),
        (1, np.eye(64), 192 / 64),
        (0, 0.7 * np.eye(64) + 0.3, 1 + 63 * 0.09),
        (0, np.ones((64, 64)), 64),
    ],
    ids=["theorem", "means", "correlated", "all equal"],
)
def test_variance_of_scores(mu, Sigma, expected):
    r"""C072: each hypothesis of the theorem pays for a term."""
    mean = np.full(64, float(mu))
    assert_close(lib.score_variance(mean, Sigma, mean, Sigma), np.array(expected))


def test_simulated_variance_is_the_computed_one():
    r"""C071, C072: 200,000 draws of $q \cdot k/\sqrt d$ with unequal covariances."""
    rng = np.random.default_rng(0)
    A, B, mu_q, mu_k = (
        rng.standard_normal((5, 5)),
        rng.standard_normal((5, 5)),
        normal(5),
        normal(5),
    )
    Q = mu_q + rng.standard_normal((200_000, 5)) @ A.T
    K = mu_k + rng.standard_normal((200_000, 5)) @ B.T
    sampled = np.var(np.sum(Q * K, -1) / math.sqrt(5))
    assert sampled == pytest.approx(
        float(lib.score_variance(mu_q, A @ A.T, mu_k, B @ B.T)), rel=0.03
    )


def test_the_scale_folds_into_the_query():
    r"""C078: unscaled attention with $W_Q/\sqrt{d_k}$ is scaled attention."""
    Q, K, V = normal(3, 16), normal(7, 16, seed=1), normal(7, 2)
    folded = lib.scaled_dot_product_attention(Q / 4, K, V, scale=1.0)
    assert_close(folded, lib.scaled_dot_product_attention(Q, K, V))
