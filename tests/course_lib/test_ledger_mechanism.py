"""Values and properties of chapters 1 to 6 that have a closed form; C-numbers are claims."""

import math

import numpy as np
import pytest
import torch

from course_lib.island import KEYS, SHARPNESS, VALUES, hand, scores
from course_lib.worked_examples import DOG_ATE_DINNER, THREE_TOKENS
from tests.course_lib.cases import judges
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


# Chapter 1


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


# Chapter 2


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


# Chapter 3


def test_softmax_of_one_two_three():
    r"""C064, C070: (0.0900, 0.2447, 0.6652); ten times sharper and ten times flatter."""
    x = np.array([1.0, 2.0, 3.0])
    assert_digits(lib.softmax(x), [0.0900, 0.2447, 0.6652], 4)
    assert_digits(lib.softmax_at(x, 0.1)[2], 0.99995, 5)
    assert_digits(lib.softmax_at(x, 10.0), [0.3006, 0.3322, 0.3672], 4)


@pytest.mark.parametrize(
    ("dtype", "zero_from", "one_from"),
    [
        (torch.float64, 745.2, 36.8),
        (torch.float32, 104.0, 16.7),
        (torch.float16, 17.4, 8.4),
        (torch.bfloat16, 92.8, 6.3),
    ],
)
def test_where_weights_reach_zero_and_one(dtype, zero_from, one_from):
    r"""C066: gaps at which the smaller of two weights is exactly 0, the larger exactly 1."""
    gaps = torch.arange(0.0, 800.0, 0.125, dtype=torch.float64)
    pairs = torch.stack([torch.zeros_like(gaps), -gaps], -1).to(dtype)
    large, small = lib.softmax(pairs).unbind(-1)
    gaps = pairs[:, 1].double().neg()
    assert abs(float(gaps[large == 1].min()) - one_from) <= 0.25
    assert abs(float(gaps[small == 0].min()) - zero_from) <= 0.25


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_softmax_does_not_overflow(dtype):
    r"""C068: $\mathrm{softmax}(x + c) = \mathrm{softmax}(x)$ beyond the range of exp."""
    x = np.array([[0.0, -1.0], [1000.0, 999.0], [-1000.0, -1001.0]], dtype)
    assert_close(lib.softmax(x), np.tile(lib.softmax(x[0]), (3, 1)))
    assert_close(lib.log_softmax(x), np.tile(lib.log_softmax(x[0]), (3, 1)))
    assert_close(lib.entropy_of_scores(x), np.tile(lib.entropy_of_scores(x[0]), 3))


def test_both_temperature_limits_share_among_ties():
    r"""C028: $t \to 0$ is uniform on the largest, $t \to \infty$ on all that is visible."""
    x = np.array([1.0, 1.0, 0.0, -np.inf])
    assert_close(lib.softmax_at(x, 0.0), np.array([1 / 2, 1 / 2, 0, 0]))
    assert_close(lib.softmax_at(x, math.inf), np.array([1 / 3, 1 / 3, 1 / 3, 0]))
    for tiny in (5e-324, 1e-308, 1e-200):
        assert_close(lib.softmax_at(x, tiny), np.array([1 / 2, 1 / 2, 0, 0]))
        assert_close(lib.softmax_at(x.astype(np.float32), tiny), np.array([0.5, 0.5, 0, 0]))
    assert_close(lib.softmax_at(x.astype(np.float32), 1e300), np.array([1, 1, 1, 0]) / 3, "float32")
    assert_close(lib.softmax_at(np.array([1e10, 0.0]), 1e-300), np.array([1.0, 0.0]))
    heights = [lib.softmax_at(np.array([2.0, 1.0, 0.5]), t).max() for t in (10.0, 1.0, 0.1)]
    assert_digits(heights, [0.362, 0.629, 1.000], 3)


def test_entropy_runs_from_certain_to_uniform():
    r"""C069: $H = \ln n$ for uniform weights, 0 for one choice, never below."""
    assert_close(lib.entropy(np.full(8, 1 / 8)), np.log(8))
    certain = lib.entropy_of_scores(np.array([1e4, 0.0, -1e4]))
    assert certain == 0 and not np.signbit(certain)
    assert_close(lib.entropy(np.array([0.0, 1.0])), np.array(0.0))
    assert_close(lib.entropy_of_scores(np.array([3.0, -np.inf, 3.0])), np.log(2))
    assert_close(lib.entropy_of_scores(scores()) / math.log(2), np.array(7 / 4))
    assert_close(lib.entropy_of_scores(scores() + 1e4), np.array(7 / 4 * math.log(2)), "float32")


def test_the_jacobian_of_the_island():
    r"""$64 J$ in whole numbers; C153: rows of sum 0, $|J|_2 \le 1/2$."""
    J = lib.softmax_jacobian(lib.softmax(scores()))
    assert_close(64 * J, [[16, -8, -4, -4], [-8, 12, -2, -2], [-4, -2, 7, -1], [-4, -2, -1, 7]])
    assert_digits(np.linalg.eigvalsh(J), [0, 0.125, 0.1759, 0.3554], 4)
    half = lib.softmax_jacobian(np.array([0.5, 0.5]))
    assert_close(np.linalg.norm(half, 2), np.array(1 / 2))


# Chapter 4


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


# Chapter 5


def test_masking_is_zeroing_and_renormalising():
    r"""C081: $A_{ij} \propto M_{ij} e^{S_{ij}}$."""
    S, M = normal(5, 7), np.random.default_rng(1).random((5, 7)) < 0.6
    M[:, 0] = True
    expected = lib.softmax(S) * M
    masked = lib.softmax(lib.mask_scores(S, M))
    assert_close(masked, expected / expected.sum(-1, keepdims=True))


def test_no_output_depends_on_the_future():
    r"""C082, C083: $\partial o_i/\partial x_j = 0$ exactly for $j > i$."""
    X = torch.from_numpy(normal(5, 3))

    def layer(X):
        return lib.scaled_dot_product_attention(X, X, X, is_causal=True)

    J = torch.func.jacrev(layer)(X).abs().amax((1, 3))
    assert torch.equal(J > 0, torch.ones(5, 5, dtype=torch.bool).tril())


def test_a_mask_of_ones_and_infinities_changes_nothing():
    r"""C085: adding 1 to all visible scores of a row is a shift."""
    S, M = normal(5, 5), lib.causal_from_start(5, 5)
    ones = lib.additive_mask(M, like=S) + 1
    assert_close(lib.softmax(S + ones), lib.softmax(S + lib.additive_mask(M, like=S)))


def test_hidden_keys_change_nothing_and_get_no_gradient():
    r"""C087: $\partial L/\partial k_j = \partial L/\partial v_j = 0$ exactly for hidden j."""
    Q, K, V, u = normal(3, 5), normal(7, 5, seed=1), normal(7, 2), normal(3, 2, seed=2)
    M = np.array([True, False, True, True, False, True, True])
    expected = lib.scaled_dot_product_attention(Q, K[M], V[M])
    assert_close(lib.scaled_dot_product_attention(Q, K, V, attn_mask=M[None]), expected)
    _, dK, dV = lib.attention_vjp(Q, K, V, u, attn_mask=M[None])
    assert not dK[~M].any() and not dV[~M].any()


def test_padding_changes_nothing():
    r"""C088: a padded batch with its mask equals the sequences without padding."""
    X = normal(2, 7, 3)
    mask = lib.not_padding([5, 7], 7)
    padded = lib.scaled_dot_product_attention(X, X, X, attn_mask=mask)
    assert_close(padded[0, :5], lib.scaled_dot_product_attention(*[X[0, :5]] * 3))
    assert_close(padded[1], lib.scaled_dot_product_attention(*[X[1]] * 3))


@judges("dropout", by="mean and deviation")
def test_dropout_keeps_the_mean_and_spreads_the_sum():
    r"""C091, C092: $E[\tilde A] = A$; row sums have deviation $\sqrt{p/(1-p) \sum a^2}$."""
    A, p = lib.softmax(normal(4, 6)), 0.25
    dropped = lib.dropout(np.broadcast_to(A, (20_000, 4, 6)).copy(), p, seed=0)
    assert np.abs(dropped.mean(0) - A).max() < 0.01
    expected = np.sqrt(p / (1 - p) * (A**2).sum(-1))
    np.testing.assert_allclose(dropped.sum(-1).std(0), expected, rtol=0.03)
    kept = dropped[dropped != 0] / np.broadcast_to(A, dropped.shape)[dropped != 0]
    assert_close(kept, np.full(kept.shape, 1 / (1 - p)))


def test_dropout_in_attention_follows_torchs_generator():
    """The same seed of torch gives the same weights; another gives others."""
    Q = torch.from_numpy(normal(2, 5, 3))
    outputs = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed)
        outputs.append(lib.scaled_dot_product_attention(Q, Q, Q, dropout_p=0.5))
    assert torch.equal(outputs[0], outputs[1]) and not torch.equal(outputs[0], outputs[2])
    assert not lib.scaled_dot_product_attention(Q, Q, Q, dropout_p=1.0).any()


def test_dropout_with_a_seed_is_the_same_everywhere():
    """NumPy, torch, any dtype."""
    A = lib.softmax(normal(4, 6))
    dropped = lib.dropout(A, 0.5, seed=3)
    assert_close(lib.dropout(torch.from_numpy(A), 0.5, seed=3), dropped)
    for p in (0.0, 0.5, 1.0):
        assert lib.dropout(A.astype(np.float16), p, seed=3).dtype == np.float16
    assert_close(lib.dropout(A, 0.0), A)


# Chapter 6


def _multi_head(seed=0, d_model=12):
    rng = np.random.default_rng(seed)
    W = [rng.standard_normal((d_model, d_model)) / 3 for _ in range(4)]
    return lib.MultiHeadWeights(*W, *(rng.standard_normal(d_model) for _ in range(4)))


def test_contributions_of_the_heads_add_up():
    r"""C094: $\mathrm{Concat}(head_h) W_O = \sum_h head_h W_O^{(h)}$."""
    X, Y, weights = normal(2, 5, 12), normal(2, 7, 12, seed=1), _multi_head()
    output, attended = lib.multi_head_attention(X, Y, Y, weights, 3)
    contributions = lib.head_contributions(attended, Y, weights)
    assert_close(contributions.sum(-3) + weights.b_O, output)


def test_the_order_of_heads_is_free():
    r"""C094: heads and their blocks of $W_Q, W_K, W_V, W_O$ in another order: same output."""
    X, weights = normal(5, 12), _multi_head()
    order = np.concatenate([np.arange(4) + 4 * h for h in (2, 0, 1)])
    columns = {
        name: getattr(weights, name)[..., order]
        for name in ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")
    }
    shuffled = weights._replace(**columns, W_O=weights.W_O[order])
    expected = lib.multi_head_attention(X, X, X, weights, 3)[0]
    assert_close(lib.multi_head_attention(X, X, X, shuffled, 3)[0], expected)


def test_split_keeps_tokens_whole_and_merge_undoes_it():
    r"""C095: $X^{(h)}_{ie} = X_{i, hd + e}$."""
    X = np.arange(2.0 * 5 * 6).reshape(2, 5, 6)
    split = lib.split_heads(X, 3)
    assert split[1, 2, 4, 1] == X[1, 4, 5]
    assert_close(lib.merge_heads(split), X)


def test_scores_of_a_head_have_low_rank():
    r"""C096: $\mathrm{rank}(S) \le d_k$."""
    assert np.linalg.matrix_rank(lib.dot_scores(normal(50, 4), normal(50, 4, seed=1))) == 4


def test_one_group_is_the_same_keys_for_all():
    """Multi-query: one key-value head, said or spelled out."""
    Q, K, V = normal(2, 6, 5, 3), normal(2, 1, 7, 3), normal(2, 1, 7, 2)
    shared = lib.scaled_dot_product_attention(Q, K, V, enable_gqa=True)
    spelled = lib.scaled_dot_product_attention(Q, np.repeat(K, 6, 1), np.repeat(V, 6, 1))
    assert_close(shared, spelled)
    narrow = _multi_head()._replace(
        W_K=normal(12, 4), W_V=normal(12, 4, seed=1), b_K=normal(4), b_V=normal(4)
    )
    X = normal(5, 12, seed=2)
    wide = narrow._replace(
        **{
            name: np.concatenate([getattr(narrow, name)] * 3, -1)
            for name in ("W_K", "W_V", "b_K", "b_V")
        }
    )
    assert_close(
        lib.multi_head_attention(X, X, X, narrow, 3)[0],
        lib.multi_head_attention(X, X, X, wide, 3)[0],
    )


def test_the_sharpness_of_the_island_is_two_ln_two():
    assert math.log(4) == SHARPNESS
