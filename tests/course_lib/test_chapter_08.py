"""Chapter 8, complexity: what has a closed form. C-numbers are claims."""

import math
from fractions import Fraction

import pytest
import torch
from hypothesis import strategies as st
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from tests.course_lib.cases import generated, judges
from tests.course_lib.checked import course_lib as lib


def _count(*products):
    """Let torch count explicit products on meta tensors."""
    return _counted(lambda: [_empty(*left) @ _empty(*right) for left, right in products])


def _empty(*shape):
    return torch.empty(shape, device="meta", requires_grad=True)


def _counted(work):
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


def _numbers(module):
    return sum(p.numel() for p in module.parameters())


SIZES = st.integers(1, 7)


@judges("layer_flops", by="FlopCounterMode")
@generated(SIZES, SIZES, SIZES, SIZES, st.sampled_from((2, 3)))
def test_layer_counts_agree_with_torchs_counter(n, heads, d_head, d_ff, ffn_matrices):
    """C106 to C109: FlopCounterMode on the explicit products of one layer."""
    d = heads * d_head
    found = lib.layer_flops(n, d, heads, d_ff, ffn_matrices)
    assert found.projections == _count(*[((n, d), (d, d))] * 4)
    assert found.scores == _count(((heads, n, d_head), (heads, d_head, n)))
    assert found.values == _count(((heads, n, n), (heads, n, d_head)))
    ways = [((n, d), (d, d_ff))] * (ffn_matrices - 1) + [((n, d_ff), (d_ff, d))]
    assert found.ffn == _count(*ways)
    assert found.total == found.projections + found.attention + found.ffn
    without = lib.layer_flops(n, d, heads, d_ff, ffn_matrices, output_projection=False)
    assert without.projections == _count(*[((n, d), (d, d))] * 3)


@pytest.mark.parametrize(
    ("n", "n_source", "heads", "d_head", "d_ff"),
    [(5, 7, 3, 2, 11), (1, 1, 1, 1, 1), (7, 2, 1, 5, 3), (2, 5, 4, 1, 7), (64, 32, 2, 16, 128)],
)
def test_torchs_own_layers_cost_what_is_counted(n, n_source, heads, d_head, d_ff):
    """An encoder and a decoder layer of torch, forward, and forward with backward."""
    d, options = heads * d_head, {"batch_first": True, "dropout": 0.0, "device": "meta"}
    encoder = nn.TransformerEncoderLayer(d, heads, d_ff, **options)
    decoder = nn.TransformerDecoderLayer(d, heads, d_ff, **options)
    X, source = _empty(1, n, d), _empty(1, n_source, d)
    one, other = lib.layer_flops(n, d, heads, d_ff), lib.decoder_layer_flops(n, n_source, d, d_ff)
    assert _counted(lambda: encoder(X)) == one.total
    assert _counted(lambda: decoder(X, source)) == other.total
    assert _counted(lambda: encoder(X).sum().backward()) == lib.training_flops(one.total)
    assert _counted(lambda: decoder(X, source).sum().backward()) == 3 * other.total
    weights = lib.encoder_from_torch(encoder)
    assert _counted(lambda: lib.encoder_block(X, weights, heads)) == one.total


@judges(
    "decode_flops",
    "decoder_layer_flops",
    "linear_attention_flops",
    "matmul_flops",
    by="FlopCounterMode",
)
@generated(SIZES, SIZES, SIZES, SIZES)
def test_decoder_and_linear_counts_agree_with_torchs_counter(n, n_source, d, d_ff):
    """C111, C162, C128."""
    found = lib.decoder_layer_flops(n, n_source, d, d_ff)
    assert found.projections == _count(*[((n, d), (d, d))] * 6, *[((n_source, d), (d, d))] * 2)
    assert found.scores == _count(((n, d), (d, n)), ((n, d), (d, n_source)))
    assert found.values == _count(((n, n), (n, d)), ((n, n_source), (n_source, d)))
    assert found.ffn == _count(((n, d), (d, d_ff)), ((n, d_ff), (d_ff, d)))
    assert lib.linear_attention_flops(n, d_ff, d) == _count(
        ((d_ff, n), (n, d)), ((n, d_ff), (d_ff, d))
    )
    assert lib.matmul_flops(n, d, d_ff) == _count(((n, d), (d, d_ff)))
    assert lib.decode_flops(n, d) == _count(((1, d), (d, n)), ((1, n), (n, d)))


@judges("attention_flops", by="FlopCounterMode")
@generated(SIZES, SIZES, SIZES, SIZES, SIZES)
def test_attention_counts_all_pairs_or_the_visible_ones(n_q, n_k, d_k, d_v, heads):
    r"""$N = n_q n_k$, or $N = \sum_i \min(i, n_k)$: query by query, with the keys it sees."""
    scores = _count(((heads, n_q, d_k), (heads, d_k, n_k)))
    values = _count(((heads, n_q, n_k), (heads, n_k, d_v)))
    assert lib.attention_flops(n_q, n_k, d_k, d_v, heads) == (scores, values)
    seen = [min(i + 1, n_k) for i in range(n_q)]
    scores = _count(*[((heads, 1, d_k), (heads, d_k, m)) for m in seen])
    values = _count(*[((heads, 1, m), (heads, m, d_v)) for m in seen])
    found = lib.attention_flops(n_q, n_k, d_k, d_v, heads, is_causal=True)
    assert found == (scores, values)


@judges("training_flops", by="FlopCounterMode")
@generated(SIZES, SIZES, SIZES)
def test_training_costs_three_forward_passes(rows, inner, columns):
    """C112: the counter on a product, forward and backward, with the gradient at the input."""
    X, W = _empty(rows, inner), _empty(inner, columns)
    counted = _counted(lambda: (X @ W).sum().backward())
    assert counted == lib.training_flops(_count(((rows, inner), (inner, columns))))


@pytest.mark.parametrize(("n", "printed"), [(16, 41779200), (64, 181272576), (256, 951582720)])
def test_six_n_t_and_what_it_leaves_out(n, printed):
    """C112: three layers, d = 64, vocabulary 1000, batch 2."""
    parameters = 3 * (lib.attention_parameters(64) + lib.ffn_parameters(64, 256)) + 64 * 1000
    assert lib.model_training_flops(2 * n, parameters, 3, n, 64) == printed


@judges("model_training_flops", by="FlopCounterMode")
@generated(SIZES, SIZES, SIZES, SIZES, SIZES)
def test_training_counts_agree_with_torchs_counter(n, d, d_ff, layers, vocabulary):
    """C112: three times the explicit forward products of a stack and its output matrix."""
    layer = [((n, d), (d, d))] * 4 + [((n, d), (d, n)), ((n, n), (n, d))]
    layer += [((n, d), (d, d_ff)), ((n, d_ff), (d_ff, d))]
    expected = 3 * _count(*layer * layers, ((n, d), (d, vocabulary)))
    parameters = layers * (lib.attention_parameters(d) + lib.ffn_parameters(d, d_ff))
    parameters += d * vocabulary
    assert lib.model_training_flops(n, parameters, layers, n, d) == expected


def test_island_of_numbers_of_chapter_8():
    """C106, C107, C117: single counts of the ledger."""
    assert lib.matmul_flops(3, 4, 5) == 120
    layer = lib.layer_flops(64, 64)
    assert (layer.projections, layer.attention) == (2097152, 1048576)
    assert sum(lib.decode_flops(t, 64) for t in range(1, 101)) == 1292800
    assert (
        lib.decoder_layer_flops(128, 128, 64, 256).total
        - lib.decoder_layer_flops(128, 128, 64, 256).attention
        == 16777216
    )


@judges("crossover", by="FlopCounterMode on both sides")
@generated(SIZES, st.integers(0, 9), st.sampled_from((2, 3)), st.booleans(), st.booleans())
def test_counts_cross_at_the_crossover(d, d_ff, matrices, is_causal, output_projection):
    r"""Pairs cost at most the rest for $n \le n^*$, more for the next length; equal at $n^*$."""
    crossing = lib.crossover(d, d_ff, matrices, is_causal, output_projection)

    def pairs_less_rest(n):
        seen = range(1, n + 1) if is_causal else [n] * n
        pairs = _count(*[((1, d), (d, m)) for m in seen], *[((1, m), (m, d)) for m in seen])
        ways = [((n, d), (d, d))] * (3 + output_projection) + [((n, d), (d, d_ff))] * matrices
        return pairs - _count(*ways)

    below = math.floor(crossing)
    assert pairs_less_rest(below + 1) > 0 >= pairs_less_rest(below)
    assert (pairs_less_rest(below) == 0) == (crossing == below)


@pytest.mark.parametrize(
    ("options", "factor"),
    [
        ({"output_projection": False}, Fraction(3, 2)),
        ({}, 2),
        ({"d_ff": 4 * 192}, 6),
        ({"d_ff": 8 * 192 // 3, "ffn_matrices": 3}, 6),
        ({"d_ff": 4 * 192, "ffn_matrices": 3}, 8),
    ],
)
def test_the_crossovers_come_out_of_the_counts(options, factor):
    """C110, C111: 1.5 d, 2 d, 6 d, 6 d, 8 d; over causal pairs twice that, less one."""
    n = lib.crossover(192, **options)
    assert n == factor * 192
    assert lib.crossover(192, **options, is_causal=True) == 2 * n - 1
    layer = lib.layer_flops(int(n), 192, **options)
    assert layer.attention == layer.total - layer.attention
    causal = lib.layer_flops(int(2 * n - 1), 192, **options, is_causal=True)
    assert causal.attention == causal.total - causal.attention


@judges("decoder_crossover", by="FlopCounterMode on both sides")
@generated(SIZES, st.integers(0, 9))
def test_counts_of_a_decoder_layer_cross_too(d, d_ff):
    """Source as long as the target."""
    crossing = lib.decoder_crossover(d, d_ff)

    def pairs_less_rest(n):
        pairs = _count(*[((n, d), (d, n)), ((n, n), (n, d))] * 2)
        return pairs - _count(*[((n, d), (d, d))] * 8, *[((n, d), (d, d_ff))] * 2)

    below = math.floor(crossing)
    assert pairs_less_rest(below + 1) > 0 >= pairs_less_rest(below)
    assert (pairs_less_rest(below) == 0) == (crossing == below)


def test_a_decoder_layer_crosses_at_four_d():
    """C111(d): equal lengths, feed-forward of width 4 d."""
    assert lib.decoder_crossover(64, 256) == 256
    layer = lib.decoder_layer_flops(256, 256, 64, 256)
    assert layer.attention == layer.total - layer.attention


def test_bytes_of_weights_and_caches():
    """C114, C115, C130: 1 MiB, 144 MiB, 4.5 GiB, 2 GiB, 64 MiB."""
    assert lib.attention_bytes(512, 512) == 2**20 == torch.empty(512, 512).nbytes
    assert lib.attention_bytes(512, 512, 12, 12) == 144 * 2**20
    assert lib.attention_bytes(512, 512, 12, 12, batch=32) == 4.5 * 2**30
    assert lib.cache_bytes(4096, 128, 32, 32) == 2 * 2**30
    assert lib.cache_bytes(4096, 128, 1, 32) == 64 * 2**20
    assert lib.blockwise_bytes(1024, 512, 8192, 64) * 40 < lib.attention_bytes(8192, 8192)


@judges("attention_bytes", "blockwise_bytes", "cache_bytes", by="torch.Tensor.nbytes")
@generated(*[st.integers(0, 11)] * 5, st.sampled_from(("float16", "float32", "float64")))
def test_bytes_are_those_of_arrays_of_that_shape(a, b, c, d, e, dtype):
    """The tables; keys and values; a block, and the output with m and l."""

    def nbytes(*shape):
        return torch.empty(shape, dtype=getattr(torch, dtype), device="meta").nbytes

    size = nbytes(1)
    assert lib.attention_bytes(a, b, c, d, e, size) == nbytes(e, d, c, a, b)
    assert lib.cache_bytes(a, b, c, d, e, size) == 2 * nbytes(e, d, c, a, b)
    held = nbytes(a, b) + nbytes(c, d) + 2 * nbytes(c, 1)
    assert lib.blockwise_bytes(a, b, c, d, size) == held


@judges("attention_parameters", "ffn_parameters", "score_parameters", by="torch parameters")
@generated(SIZES, SIZES, SIZES, SIZES, st.booleans())
def test_parameters_are_those_of_torchs_modules(heads, d_head, d_ff, d_k, bias):
    """MultiheadAttention, Linear, Bilinear."""
    d = heads * d_head
    module = nn.MultiheadAttention(d, heads, bias=bias, device="meta")
    assert lib.attention_parameters(d, bias) == _numbers(module)

    def linear(rows, columns, bias=False):
        return nn.Linear(rows, columns, bias=bias, device="meta")

    two = nn.Sequential(linear(d, d_ff, bias), linear(d_ff, d, bias))
    assert lib.ffn_parameters(d, d_ff, bias=bias) == _numbers(two)
    gated = nn.Sequential(linear(d, d_ff), linear(d, d_ff), linear(d_ff, d))
    assert lib.ffn_parameters(d, d_ff, matrices=3) == _numbers(gated)
    scores = {
        "dot": nn.Identity(),
        "multiplicative": nn.Bilinear(d, d_k, 1, bias=False, device="meta"),
        "additive": nn.Sequential(linear(d, d_ff), linear(d_k, d_ff), linear(d_ff, 1)),
    }
    for kind, module in scores.items():
        assert lib.score_parameters(kind, d, d_k, d_ff) == _numbers(module)


def test_parameters_of_the_ledger():
    """C017, C095, C157, C159."""
    counts = {"dot": 0, "multiplicative": 4096, "additive": 8256}
    assert counts == {kind: lib.score_parameters(kind, 64, 64, 64) for kind in counts}
    assert lib.attention_parameters(512) == 1048576
    assert lib.attention_parameters(12, bias=True) == sum(
        p.numel() for p in torch.nn.MultiheadAttention(12, 3).parameters()
    )
    assert lib.ffn_parameters(512, 2048) == 2097152
    assert lib.ffn_parameters(512, 2048, bias=True) == 2099712
