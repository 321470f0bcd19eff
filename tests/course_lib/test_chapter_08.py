"""Chapter 8, complexity: what has a closed form. C-numbers are claims."""

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from tests.course_lib.cases import judges
from tests.course_lib.checked import course_lib as lib


def _count(*products):
    """Let torch count explicit products on meta tensors."""
    with FlopCounterMode(display=False) as counter:
        for left, right in products:
            torch.matmul(torch.empty(left, device="meta"), torch.empty(right, device="meta"))
    return counter.get_total_flops()


SIZES = st.integers(1, 7)


@judges("layer_flops", by="FlopCounterMode")
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(SIZES, SIZES, SIZES, SIZES, st.sampled_from((2, 3)))
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


@judges(
    "decode_flops",
    "decoder_layer_flops",
    "linear_attention_flops",
    "matmul_flops",
    by="FlopCounterMode",
)
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(SIZES, SIZES, SIZES, SIZES)
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


@judges("attention_flops", by="True entries counted")
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(SIZES, SIZES, SIZES, SIZES, SIZES)
def test_causal_counts_are_counts_of_visible_pairs(n_q, n_k, d_k, d_v, heads):
    r"""$N = \sum_i \min(i, n_k)$: count the True entries of the mask."""
    visible = int(lib.causal_from_start(n_q, n_k).sum())
    expected = (2 * heads * visible * d_k, 2 * heads * visible * d_v)
    assert lib.attention_flops(n_q, n_k, d_k, d_v, heads, is_causal=True) == expected


@judges("training_flops", by="FlopCounterMode")
def test_training_costs_three_forward_passes():
    """C112: the counter on a product, forward and backward, with the gradient at the input."""
    X, W = torch.ones(5, 3, requires_grad=True), torch.ones(3, 7, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        (X @ W).sum().backward()
    assert counter.get_total_flops() == lib.training_flops(lib.matmul_flops(5, 3, 7))


@pytest.mark.parametrize(("n", "printed"), [(16, 41779200), (64, 181272576), (256, 951582720)])
def test_six_n_t_and_what_it_leaves_out(n, printed):
    """C112: three layers, d = 64, vocabulary 1000, batch 2."""
    parameters = 3 * (lib.attention_parameters(64) + lib.ffn_parameters(64, 256)) + 64 * 1000
    assert lib.model_training_flops(2 * n, parameters, 3, n, 64) == printed


@judges("model_training_flops", by="FlopCounterMode")
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(SIZES, SIZES, SIZES, SIZES, SIZES)
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


@judges("crossover", by="equality of both sides")
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


@judges("decoder_crossover", by="equality of both sides")
def test_a_decoder_layer_crosses_at_four_d():
    """C111(d): equal lengths, feed-forward of width 4 d."""
    assert lib.decoder_crossover(64, 256) == 256
    layer = lib.decoder_layer_flops(256, 256, 64, 256)
    assert layer.attention == layer.total - layer.attention


@judges("attention_bytes", "blockwise_bytes", "cache_bytes", by="the ledger")
def test_bytes_of_weights_and_caches():
    """C114, C115, C130: 1 MiB, 144 MiB, 4.5 GiB, 2 GiB, 64 MiB."""
    assert lib.attention_bytes(512, 512) == 2**20 == torch.empty(512, 512).nbytes
    assert lib.attention_bytes(512, 512, 12, 12) == 144 * 2**20
    assert lib.attention_bytes(512, 512, 12, 12, batch=32) == 4.5 * 2**30
    assert lib.cache_bytes(4096, 128, 32, 32) == 2 * 2**30
    assert lib.cache_bytes(4096, 128, 1, 32) == 64 * 2**20
    assert lib.blockwise_bytes(1024, 512, 8192, 64) * 40 < lib.attention_bytes(8192, 8192)


def test_bytes_are_those_of_arrays_of_that_shape():
    """All sizes different, so that none stands for another."""

    def nbytes(*shape):
        return torch.empty(shape, dtype=torch.float16).nbytes

    assert lib.attention_bytes(2, 3, 5, 7, 11, itemsize=2) == nbytes(2, 3, 5, 7, 11)
    assert lib.cache_bytes(2, 3, 5, 7, 11) == nbytes(2, 2, 3, 5, 7, 11)
    held = nbytes(3, 5) + nbytes(7, 11) + nbytes(7) + nbytes(7)
    assert lib.blockwise_bytes(3, 5, 7, 11, itemsize=2) == held


@judges("ffn_parameters", "score_parameters", by="the ledger")
@judges("attention_parameters", by="torch parameters")
def test_parameters():
    """C017, C095, C157, C159."""
    counts = {"dot": 0, "multiplicative": 4096, "additive": 8256}
    assert counts == {kind: lib.score_parameters(kind, 64, 64, 64) for kind in counts}
    assert lib.attention_parameters(512) == 1048576
    assert lib.attention_parameters(12, bias=True) == sum(
        p.numel() for p in torch.nn.MultiheadAttention(12, 3).parameters()
    )
    assert lib.ffn_parameters(512, 2048) == 2097152
    assert lib.ffn_parameters(512, 2048, bias=True) == 2099712
