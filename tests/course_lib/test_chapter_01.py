"""Chapter 1, weighted average: what has a closed form. C-numbers are claims."""

import numpy as np

from course_lib.island import KEYS, VALUES, hand
from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


def test_the_answer_stays_between_the_values():
    r"""C001: $\min_j v_{jc} \le o_c \le \max_j v_{jc}$."""
    V = normal(7, 3)
    output, _ = lib.attend(normal(101, 5, seed=1), normal(7, 5, seed=2), V)
    assert np.all(output >= V.min(0)) and np.all(output <= V.max(0))


def test_one_hand_four_radios():
    r"""The island: weights (1/2, 1/4, 1/8, 1/8), answer (4, 2.5)."""
    output, weights = lib.attend(hand(0.0)[None], KEYS, VALUES)
    assert_close(weights, np.array([[1 / 2, 1 / 4, 1 / 8, 1 / 8]]))
    assert_close(output, np.array([[4.0, 2.5]]))


def test_a_weight_depends_on_all_keys():
    r"""C005: scores (1, 0) give 0.731, scores (1, 3) give 0.119."""
    assert_digits(lib.softmax(np.array([[1.0, 0.0], [1.0, 3.0]]))[:, 0], [0.731, 0.119], 3)


def test_an_affine_value_map_commutes_with_averaging():
    r"""C008: $\sum_j \alpha_j (v_j W + b) = (\sum_j \alpha_j v_j) W + b$, and not so for tanh."""
    Q, K, V, W, b = (
        normal(3, 5),
        normal(7, 5, seed=1),
        normal(7, 2, seed=2),
        normal(2, 3),
        normal(3),
    )
    plain, _ = lib.attend(Q, K, V)
    mapped, _ = lib.attend(Q, K, V, value_map=lambda V: V @ W + b)
    assert_close(mapped, plain @ W + b)
    squashed, _ = lib.attend(Q, K, V, value_map=np.tanh)
    assert np.abs(squashed - np.tanh(plain)).max() > 0.01


def test_equal_values_come_back():
    r"""C010: if $v_j = c$ for all j then $o = c$."""
    output, _ = lib.attend(normal(3, 5), normal(7, 5, seed=1), np.tile([2.0, -3.0], (7, 1)))
    assert_close(output, np.tile([2.0, -3.0], (3, 1)))


def test_additive_scores_are_bounded_and_odd():
    r"""C015, C018: $|f| \le \sum |v|$, and $f(-q, -k) = -f(q, k)$ without a bias."""
    Q, K, W_Q, W_K, v = normal(2, 3), normal(7, 5), normal(3, 11), normal(5, 11), normal(11)
    far = lib.additive_scores(1000 * Q, 1000 * K, W_Q, W_K, v)
    assert np.all(np.abs(far) <= np.abs(v).sum() + 1e-9)
    near = lib.additive_scores(Q, K, W_Q, W_K, v)
    assert_close(lib.additive_scores(-Q, -K, W_Q, W_K, v), -near)
    with_bias = lib.additive_scores(0 * Q, 0 * K, W_Q, W_K, v, b=np.ones(11))
    assert_close(with_bias, np.full((2, 7), np.tanh(1.0) * v.sum()))


def test_both_written_forms_of_the_additive_score_agree():
    r"""C016: $v \cdot \tanh(W[q; k]) = v \cdot \tanh(W_1 q + W_2 k)$."""
    Q, K, W, v, b = normal(2, 3), normal(7, 5), normal(8, 11), normal(11), normal(11, seed=3)
    apart = lib.additive_scores(Q, K, W[:3], W[3:], v, b)
    assert_close(lib.additive_scores_concatenated(Q, K, W, v, b), apart)


def test_projected_dot_product_is_low_rank_multiplicative():
    r"""C020: $q W k^\top = (q W_Q)(k W_K)^\top$ with $W = W_Q W_K^\top$."""
    Q, K, W_Q, W_K = normal(2, 5), normal(7, 11), normal(5, 3), normal(11, 3)
    projected = lib.dot_scores(lib.project(Q, W_Q), lib.project(K, W_K))
    assert_close(lib.multiplicative_scores(Q, K, W_Q @ W_K.T), projected)


def test_a_long_key_beats_an_aligned_one():
    r"""C023: cosines 1 and 0.6, dots 1 and 3, weights 0.119 and 0.881."""
    q, K = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [3.0, 4.0]])
    assert_close(lib.cosine_scores(q, K), np.array([[1.0, 0.6]]))
    assert_digits(lib.softmax(lib.dot_scores(q, K)), [[0.119, 0.881]], 3)


def test_orthogonal_and_opposite_keys_get_weight():
    r"""C026, C027: scores (1, 0, -1) and (-1, -2, -3) give (0.6652, 0.2447, 0.0900)."""
    weights = lib.softmax(np.array([[1.0, 0.0, -1.0], [-1.0, -2.0, -3.0]]))
    assert_digits(weights, [[0.6652, 0.2447, 0.0900]] * 2, 4)
