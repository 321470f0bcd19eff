"""Chapter 2, queries, keys, values: what has a closed form. C-numbers are claims."""

import numpy as np

from course_lib.worked_examples import DOG_ATE_DINNER, THREE_TOKENS
from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


def test_dog_ate_dinner():
    """C057 to C060: every printed digit, or the corrected one."""
    _, X, W_Q, W_K, W_V = DOG_ATE_DINNER
    Q, K, V = (lib.project(X, W) for W in (W_Q, W_K, W_V))
    assert_digits(Q, [[-0.10, 2.00], [-0.05, 1.00], [1.15, 0.30]], 2)
    assert_digits(K, [[0.90, 1.40], [0.45, 0.70], [0.25, 1.25]], 2)
    assert_digits(V, [[1.00, 3.50], [0.50, 1.75], [1.95, 1.30]], 2)
    assert_digits(
        lib.dot_scores(Q, K),
        [[2.71, 1.355, 2.475], [1.355, 0.6775, 1.2375], [1.455, 0.7275, 0.6625]],
        4,
    )
    output, weights = lib.self_attention(X, W_Q, W_K, W_V)
    A = [[0.44833, 0.17198, 0.37969], [0.39376, 0.24388, 0.36236], [0.46108, 0.27565, 0.26327]]
    assert_digits(weights, A, 5)
    assert_digits(weights[0], [0.448, 0.172, 0.380], 3)
    assert_digits(output, [[1.27471, 2.36371], [1.22231, 2.27601], [1.11228, 2.43841]], 5)
    causal = lib.scaled_dot_product_attention(Q, K, V, is_causal=True)
    assert_digits(causal, [[1.0, 3.5], [0.80876, 2.83067], [1.11228, 2.43841]], 5)
    unscaled = lib.scaled_dot_product_attention(Q, K, V, scale=1.0)
    assert_digits(unscaled[0], [1.304, 2.431], 3)


def test_three_tokens_corrected():
    """C061: the tables as they should have been printed."""
    _, X, W_Q, W_K, W_V = THREE_TOKENS
    Q, K, V = (lib.project(X, W) for W in (W_Q, W_K, W_V))
    assert_digits(Q, [[1.18, 0.78], [0.62, 0.59], [0.66, 0.71]], 2)
    assert_digits(K, [[0.83, 0.71], [0.53, 0.66], [0.76, 0.41]], 2)
    assert_digits(V, [[1.02, 1.07], [0.52, 0.93], [0.79, 0.56]], 2)
    assert_digits(
        lib.dot_scores(Q, K), [[1.53, 1.14, 1.22], [0.93, 0.72, 0.71], [1.05, 0.82, 0.79]], 2
    )
    scaled = [[1.08, 0.81, 0.86], [0.66, 0.51, 0.50], [0.74, 0.58, 0.56]]
    assert_digits(lib.scaled_dot_scores(Q, K), scaled, 2)
    output, weights = lib.self_attention(X, W_Q, W_K, W_V)
    A = [[0.39111, 0.29622, 0.31266], [0.36841, 0.31634, 0.31525], [0.37309, 0.31630, 0.31061]]
    assert_digits(weights, A, 5)
    assert_digits(output, [[0.79998, 0.86907], [0.78932, 0.86494], [0.79041, 0.86731]], 5)


def test_a_key_bias_changes_no_weight():
    r"""C031: $q \cdot (k_j + b) = q \cdot k_j + q \cdot b$, the same for all j."""
    Q, K, b = normal(3, 5), normal(7, 5, seed=1), normal(5, seed=2)
    weights = lib.softmax(lib.scaled_dot_scores(Q, K))
    assert_close(lib.softmax(lib.scaled_dot_scores(Q, K + b)), weights)
    assert np.abs(lib.softmax(lib.scaled_dot_scores(Q + b, K)) - weights).max() > 0.01


def test_only_the_product_of_the_projections_acts():
    r"""C033: $(QG)(KG^{-\top})^\top = QK^\top$ for any invertible G."""
    Q, K, G = normal(3, 5), normal(7, 5, seed=1), normal(5, 5, seed=2) + 3 * np.eye(5)
    assert_close(lib.dot_scores(Q @ G, K @ np.linalg.inv(G).T), lib.dot_scores(Q, K))


def test_self_attention_is_cross_attention_with_itself():
    r"""C052: $X_q = X_{kv}$."""
    X, W = normal(7, 5), normal(3, 5, 2)
    assert_close(lib.self_attention(X, *W), lib.cross_attention(X, X, *W))
