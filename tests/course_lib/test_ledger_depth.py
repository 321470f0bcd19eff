"""Values and properties of chapters 11 to 14 that have a closed form; C-numbers are claims."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from course_lib.island import VALUES, hand, scores
from tests.course_lib.cases import judges
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import CENTRAL_DIFFERENCE, assert_close, assert_digits


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


# Chapter 11


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


@judges("central_difference", by="vjp by hand")
def test_projections_have_gradients():
    r"""C147: $dW = X^\top u$ and $dX = u W^\top$, by central differences."""
    X, W, u, direction = normal(2, 5, 3), normal(3, 4), normal(2, 5, 4), normal(3, 4, seed=5)
    dX, dW, db = lib.projection_vjp(X, W, u)
    slope = lib.central_difference(lambda W: np.sum(u * lib.project(X, W)), W, direction)
    assert slope == pytest.approx(np.sum(dW * direction), rel=CENTRAL_DIFFERENCE)
    assert_close(db, u.sum((0, 1)))
    assert_close(dX, u @ W.T)


@judges("numerical_gradient", by="a known derivative")
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


# Chapter 12


def test_layer_norm_forgets_shift_and_scale():
    r"""C160: length $\sqrt d$; without eps, LN(x + 3) = LN(5x) = LN(x)."""
    X = normal(3, 512)
    found = lib.layer_norm(X)
    assert_digits(np.linalg.norm(found, axis=-1), [22.63] * 3, 2)
    plain = lib.layer_norm(X, eps=0.0)
    assert_close(plain.mean(-1), np.zeros(3))
    assert_close(plain.var(-1), np.ones(3))
    assert_close(lib.layer_norm(X + 3, eps=0.0), plain)
    assert_close(lib.layer_norm(5 * X, eps=0.0), plain)


def test_epsilon_stands_under_the_root_and_the_variance_is_biased():
    r"""$(1, -1) / \sqrt{1 + 3}$ for eps = 3: not $\sqrt 1 + 3$, not the variance 2 of a sample."""
    assert_close(lib.layer_norm(np.array([[1.0, -1.0]]), eps=3.0), np.array([[0.5, -0.5]]))


def test_feed_forward_does_not_mix_tokens():
    r"""C158: $\mathrm{FFN}(PX) = P\,\mathrm{FFN}(X)$."""
    weights = lib.FeedForwardWeights(normal(3, 7), normal(7, 3), normal(7), normal(3))
    X, order = normal(5, 3), [4, 2, 0, 1, 3]
    assert_close(lib.feed_forward(X[order], weights), lib.feed_forward(X, weights)[order])


def test_the_decoder_does_not_see_later_targets():
    """C163: output t changes with every source token and no later target."""
    layer = nn.TransformerDecoderLayer(12, 3, 20, batch_first=True, dtype=torch.float64)
    weights = lib.decoder_from_torch(layer)
    X, source = torch.from_numpy(normal(5, 12)), torch.from_numpy(normal(4, 12, seed=1))

    def outputs(X, source):
        return lib.decoder_block(X, source, weights, 3)

    to_target, to_source = torch.func.jacrev(outputs, (0, 1))(X, source)
    assert torch.equal(to_target.abs().amax((1, 3)) > 0, torch.ones(5, 5, dtype=torch.bool).tril())
    assert torch.all(to_source.abs().amax((1, 3)) > 0)


def test_silent_sublayers_leave_the_identity():
    """C164: pre-norm blocks whose output matrices are zero change nothing."""
    layer = nn.TransformerEncoderLayer(12, 3, 20, batch_first=True, dtype=torch.float64)
    weights = lib.encoder_from_torch(layer)
    silent = weights._replace(
        attention=weights.attention._replace(W_O=weights.attention.W_O * 0, b_O=None),
        feed_forward=weights.feed_forward._replace(W_2=weights.feed_forward.W_2 * 0, b_2=None),
    )
    X = torch.from_numpy(normal(2, 5, 12))
    assert_close(lib.encoder_stack(X, [silent] * 3, 3, norm_first=True), X)


@judges("decoder_from_torch", by="torch TransformerDecoderLayer")
@judges("encoder_from_torch", by="torch TransformerEncoderLayer")
@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_come_out_of_torch(norm_first):
    """Weights read from torch's layers, gelu inside, give torch's outputs."""
    options = {"batch_first": True, "dropout": 0.0, "norm_first": norm_first, "activation": "gelu"}
    encoder = nn.TransformerEncoderLayer(12, 3, 20, dtype=torch.float64, **options)
    decoder = nn.TransformerDecoderLayer(12, 3, 20, dtype=torch.float64, **options)
    X, source = torch.from_numpy(normal(2, 5, 12)), torch.from_numpy(normal(2, 7, 12))
    options = {"norm_first": norm_first, "activation": lib.gelu}
    found = lib.encoder_block(X, lib.encoder_from_torch(encoder), 3, **options)
    assert_close(found, encoder(X))
    weights = lib.decoder_from_torch(decoder)
    found = lib.decoder_block(X, source, weights, 3, is_causal=False, **options)
    assert_close(found, decoder(X, source))


@judges("multi_head_from_torch", "multi_head_to_torch", by="torch MultiheadAttention")
@pytest.mark.parametrize("d_keys", [None, 5])
@pytest.mark.parametrize("bias", [True, False])
def test_weights_go_to_torch_and_back(bias, d_keys):
    """Into a module of the same sizes from NumPy, and out again, bit by bit."""
    options = {"bias": bias, "kdim": d_keys, "vdim": d_keys, "batch_first": True}
    first, second = (nn.MultiheadAttention(12, 3, **options) for _ in range(2))
    weights = lib.multi_head_from_torch(first)
    as_numpy = lib.MultiHeadWeights(*(W if W is None else W.detach().numpy() for W in weights))
    lib.multi_head_to_torch(as_numpy, second)
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)
    query, key = torch.randn(2, 5, 12), torch.randn(2, 7, d_keys or 12)
    output, attended = lib.multi_head_attention(query, key, key, weights, 3)
    expected = first(query, key, key, average_attn_weights=False)
    assert_close((output, attended), expected, "float32")


def test_gradients_reach_the_module_the_weights_came_from():
    """The weights are views of the parameters: a loss on the formula trains the module."""
    module = nn.MultiheadAttention(12, 3, batch_first=True, dtype=torch.float64)
    X = torch.from_numpy(normal(2, 5, 12))
    found, expected = [], []
    for gradients, output in (
        (found, lib.multi_head_attention(X, X, X, lib.multi_head_from_torch(module), 3)[0]),
        (expected, module(X, X, X)[0]),
    ):
        gradients += torch.autograd.grad((output**2).sum(), list(module.parameters()))
    assert_close(tuple(found), tuple(expected))


def test_shaped_attention_keeps_the_rank_and_plain_attention_loses_it():
    """C157, C165: n = 32, d = 64, random projections, tokens normed before each layer."""
    rng = np.random.default_rng(0)
    plain = shaped = rng.standard_normal((32, 64))
    for _ in range(4):
        W_Q, W_K, W_V = (rng.standard_normal((64, 64)) / 8 for _ in range(3))
        plain, shaped = lib.layer_norm(plain), lib.layer_norm(shaped)
        A = lib.softmax(lib.scaled_dot_scores(plain @ W_Q, plain @ W_K))
        plain = A @ plain @ W_V
        shaped = lib.shaped_weights(shaped @ W_Q, shaped @ W_K, temperature=64.0) @ shaped @ W_V
    assert lib.distance_to_consensus(plain) < 0.6 < 0.9 < lib.distance_to_consensus(shaped)


# Chapter 13


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


# Chapter 14


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
