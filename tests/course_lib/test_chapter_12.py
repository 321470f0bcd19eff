"""Chapter 12, the Transformer block: what has a closed form. C-numbers are claims."""

import numpy as np
import torch
from hypothesis import strategies as st
from torch import nn

from tests.course_lib.cases import generated, judges, normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


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


def _mask(rng, n_q, n_k):
    """Everybody sees somebody: torch's module gives NaN to a query that sees nothing."""
    mask = torch.from_numpy(rng.random((n_q, n_k)) < 0.6)
    mask[:, 0] = True
    return mask


SIZES = st.integers(1, 5)
SEEDS = st.integers(0, 2**32 - 1)


@judges("decoder_from_torch", by="torch TransformerDecoderLayer")
@judges("encoder_from_torch", by="torch TransformerEncoderLayer")
@generated(SIZES, SIZES, SIZES, SIZES, SIZES, st.booleans(), st.booleans(), SEEDS)
def test_layers_come_out_of_torch(n, n_source, heads, d_head, d_ff, bias, norm_first, seed):
    """Weights read from torch's layers give torch's outputs; gelu inside, masks on all sides."""
    torch.manual_seed(seed)
    rng, d = np.random.default_rng(seed), heads * d_head
    options = {"batch_first": True, "dropout": 0.0, "norm_first": norm_first, "bias": bias}
    options |= {"activation": "gelu", "dtype": torch.float64}
    encoder = nn.TransformerEncoderLayer(d, heads, d_ff, **options)
    decoder = nn.TransformerDecoderLayer(d, heads, d_ff, **options)
    for parameter in (*encoder.parameters(), *decoder.parameters()):
        nn.init.normal_(parameter)  # torch's norms begin all alike
    X, source = (torch.from_numpy(rng.standard_normal((2, k, d))) for k in (n, n_source))
    own, other = _mask(rng, n, n), _mask(rng, n, n_source)
    options = {"norm_first": norm_first, "activation": lib.gelu}
    weights = lib.encoder_from_torch(encoder)
    found = lib.encoder_block(X, weights, heads, own, **options)
    assert_close(found, encoder(X, src_mask=~own))
    weights = lib.decoder_from_torch(decoder)
    found = lib.decoder_block(X, source, weights, heads, own, other, is_causal=False, **options)
    assert_close(found, decoder(X, source, tgt_mask=~own, memory_mask=~other))


@judges("multi_head_from_torch", "multi_head_to_torch", by="torch MultiheadAttention")
@generated(SIZES, SIZES, SIZES, SIZES, st.sampled_from((None, 1, 5)), st.booleans(), SEEDS)
def test_weights_go_to_torch_and_back(n_q, n_k, heads, d_head, d_keys, bias, seed):
    """Into a module of the same sizes from NumPy, and out again, bit by bit."""
    torch.manual_seed(seed)
    d, options = heads * d_head, {"bias": bias, "kdim": d_keys, "vdim": d_keys}
    options |= {"batch_first": True, "dtype": torch.float64}
    first, second = (nn.MultiheadAttention(d, heads, **options) for _ in range(2))
    for parameter in first.parameters():
        nn.init.normal_(parameter)
    weights = lib.multi_head_from_torch(first)
    as_numpy = lib.MultiHeadWeights(*(W if W is None else W.detach().numpy() for W in weights))
    lib.multi_head_to_torch(as_numpy, second)
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(one, other)
    query, key = torch.randn(2, n_q, d).double(), torch.randn(2, n_k, d_keys or d).double()
    output, attended = lib.multi_head_attention(query, key, key, weights, heads)
    expected = first(query, key, key, average_attn_weights=False)
    assert_close((output, attended), expected)


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
