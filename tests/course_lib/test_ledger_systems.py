"""Values and properties of chapters 7 to 10 that have a closed form; C-numbers are claims."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from course_lib.island import KEYS, VALUES, scores
from tests.course_lib.cases import judges
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


# Chapter 7

ORDER = [3, 0, 4, 1, 2]


def test_a_permutation_matrix_reorders_rows():
    r"""$(PX)_i = X_{\pi(i)}$."""
    X = normal(5, 3)
    assert_close(lib.permutation_matrix(ORDER) @ X, X[ORDER])


def test_attention_follows_queries_and_ignores_the_order_of_keys():
    r"""C099: $\mathrm{Attention}(P_m Q, P_n K, P_n V) = P_m \mathrm{Attention}(Q, K, V)$."""
    Q, K, V = normal(3, 2), normal(5, 2, seed=1), normal(5, 7)
    expected = lib.scaled_dot_product_attention(Q, K, V)[[2, 0, 1]]
    shuffled = lib.scaled_dot_product_attention(Q[[2, 0, 1]], K[ORDER], V[ORDER])
    assert_close(shuffled, expected)
    torn = lib.scaled_dot_product_attention(Q[[2, 0, 1]], K[ORDER], V)
    assert np.abs(torn - expected).max() > 0.1


def test_a_mask_must_be_shuffled_with_its_tokens():
    r"""C101: $\mathrm{SA}_{PMP^\top}(PX) = P\,\mathrm{SA}_M(X)$."""
    X, M = normal(5, 3), lib.causal_from_start(5, 5)

    def layer(X, M):
        return lib.scaled_dot_product_attention(X, X, X, attn_mask=M)

    assert_close(layer(X[ORDER], lib.permute_mask(M, ORDER)), layer(X, M)[ORDER])
    P = lib.permutation_matrix(ORDER)
    assert_close(lib.permute_mask(M, ORDER), P @ M @ P.T == 1)
    assert np.abs(layer(X[ORDER], M) - layer(X, M)[ORDER]).max() > 0.1


def test_sinusoids_are_the_printed_ones():
    r"""C103: $\mathrm{PE}(0), \mathrm{PE}(1)$ for d = 8; scores by offset for d = 512."""
    PE = lib.sinusoidal_positions(2, 8)
    assert_digits(PE[0], [0, 1] * 4, 4)
    assert_digits(PE[1], [0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 1.0000, 0.0010, 1.0000], 4)
    wide = lib.sinusoidal_positions(51, 512)
    by_offset = (wide @ wide[0])[[0, 1, 2, 5, 10, 50]]
    assert_digits(by_offset, [256.0, 249.1, 231.7, 189.6, 173.8, 131.1], 1)


def test_sinusoids_know_only_offsets():
    r"""C103: $\mathrm{PE}_{p+k} = \mathrm{PE}_p R_k$, and the Gram matrix is Toeplitz."""
    PE = lib.sinusoidal_positions(20, 8)
    assert_close(PE[7:], PE[:-7] @ lib.sinusoid_shift(7.0, 8))
    gram = PE @ PE.T
    assert_close(gram[1:, 1:], gram[:-1, :-1])


@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_rotary_scores_see_the_offset_only(layout):
    r"""C105: places (3, 1), (10, 8), (102, 100) give one score; lengths are kept."""
    q, k = normal(1, 8), normal(1, 8, seed=1)
    found = [
        lib.rotary(q, a, layout) @ lib.rotary(k, b, layout).T
        for a, b in ((3, 1), (10, 8), (102, 100))
    ]
    assert_close(np.array(found), np.array([found[0]] * 3))
    assert_close(np.linalg.norm(lib.rotary(q, 5, layout)), np.linalg.norm(q))
    assert_close(lib.rotary(q, 0, layout), q)


def test_the_two_rotary_layouts_differ_by_a_reordering():
    """Features (0, 1, 2, 3) of "pairs" are features (0, 2, 1, 3) of "halves"."""
    X, reorder = normal(5, 8), [0, 2, 4, 6, 1, 3, 5, 7]
    assert_close(lib.rotary(X, 3)[:, reorder], lib.rotary(X[:, reorder], 3, "halves"))


def test_alibi_slopes_are_powers_of_two():
    """Eight heads: 1/2, 1/4, ..., 1/256."""
    assert_close(-lib.alibi_bias(8, 1, 2)[:, 0, 1], 0.5 ** np.arange(1, 9))


# Chapter 8


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


@judges("model_training_flops", by="the ledger")
@pytest.mark.parametrize(("n", "printed"), [(16, 41779200), (64, 181272576), (256, 951582720)])
def test_six_n_t_and_what_it_leaves_out(n, printed):
    """C112: three layers, d = 64, vocabulary 1000, batch 2."""
    parameters = 3 * (lib.attention_parameters(64) + lib.ffn_parameters(64, 256)) + 64 * 1000
    assert lib.model_training_flops(2 * n, parameters, 3, n, 64) == printed


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


# Chapter 9


def test_online_softmax_of_the_island():
    """Dia, Cem, Bo, Ada in turn: the table of chapter 9, in units of ln 2."""
    order, rows, state = [3, 2, 1, 0], [], None
    for j in order:
        arguments = scores()[None, j : j + 1], VALUES[j : j + 1]
        state = (
            lib.online_start(*arguments) if state is None else lib.online_update(state, *arguments)
        )
        rows.append((*(np.ravel(part) for part in state), lib.online_answer(state)[0]))
    largest, total, weighted, answers = (np.stack(column) for column in zip(*rows, strict=True))
    assert_close(largest[:, 0] / math.log(2), np.array([0.0, 0, 1, 2]))
    assert_close(total[:, 0], np.array([1.0, 2, 2, 2]))
    assert_close(weighted, np.array([[1.0, 7], [10, 14], [14, 8], [8, 5]]))
    assert_close(answers, np.array([[1.0, 7], [5, 7], [7, 4], [4, 2.5]]))


def test_online_softmax_survives_what_is_hidden_first():
    """C129: a block of only minus infinity, before and after."""
    nothing, V = np.full((1, 2), -np.inf), VALUES[:2]
    state = lib.online_start(nothing, V)
    assert_close(lib.online_answer(state), np.zeros((1, 2)))
    state = lib.online_update(lib.online_update(state, scores()[None], VALUES), nothing, V)
    assert_close(lib.online_answer(state), np.array([[4.0, 2.5]]))


@pytest.mark.parametrize("block", [1, 7, 32, 64])
def test_blocks_of_any_size_agree(block):
    """C129."""
    Q, K, V = normal(64, 5), normal(64, 5, seed=1), normal(64, 3)
    found = lib.blockwise_attention(Q, K, V, block_q=block, block_k=block)
    assert_close(found, lib.scaled_dot_product_attention(Q, K, V))


@pytest.mark.parametrize("n", [256, 2048])
def test_blockwise_attention_never_holds_the_table(n):
    """Peak memory of forward and backward beside input and output, against one table."""
    import tracemalloc

    Q, K, V, u = (normal(n, 2, seed=seed).astype(np.float32) for seed in range(4))
    for run in (
        lambda: lib.blockwise_attention(Q, K, V),
        lambda: lib.blockwise_attention(Q, K, V, is_causal=True),
        lambda: lib.blockwise_attention_vjp(Q, K, V, u),
    ):
        run()
        tracemalloc.start()
        run()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        small_change = 40_000 + 12 * Q.nbytes
        assert peak < lib.attention_bytes(n, n) / 10 + small_change, f"{peak} bytes"


def test_counts_of_sparse_patterns():
    """C123 to C125, n = 256."""
    assert lib.sliding_window(256, 256, 8, 8).sum() == 4280
    assert lib.sliding_window(256, 256, 32, 32).sum() == 15584
    window = lib.sliding_window(256, 256, 8, 8) | lib.global_tokens(256, 256, 4)
    assert window.sum() == 6244
    assert np.all(window.astype(int) @ window > 0)
    assert lib.same_block(256, 256, 32).sum() == 8192
    strided = lib.strided_causal(256, 256, 16).astype(int)
    assert strided.sum() == 5896
    assert np.array_equal(strided @ strided > 0, lib.causal_from_start(256, 256))


def test_a_sliding_window_reaches_further_in_every_layer():
    """C125: window 2 on both sides, five layers: 21 places; chunks never."""
    reach = np.linalg.matrix_power(lib.sliding_window(64, 64, 2, 2).astype(int), 5) > 0
    assert reach[32].sum() == 21
    chunks = lib.same_block(64, 64, 32).astype(int)
    assert np.array_equal(np.linalg.matrix_power(chunks, 5) > 0, chunks > 0)


def test_linear_attention_is_low_rank():
    """C126: the weights of linear attention have rank at most the number of features."""
    Q, K = normal(64, 4), normal(64, 4, seed=1)
    weights = lib.linear_attention(Q, K, np.eye(64))
    assert np.linalg.matrix_rank(weights) == 4
    assert_close(weights.sum(-1), np.ones(64))


@judges("random_directions", by="unbiasedness")
def test_random_features_are_unbiased_for_the_kernel():
    r"""C126: $E[\phi(x) \cdot \phi(y)] = e^{x \cdot y}$, within four standard errors."""
    X, W = normal(2, 3) / 3, lib.random_directions(200_000, 3, seed=1)
    x, y = lib.positive_random_features(X, W) * math.sqrt(len(W))
    products = x * y
    standard_error = products.std() / math.sqrt(len(W))
    assert abs(products.mean() - np.exp(X[0] @ X[1])) < 4 * standard_error


def test_random_feature_attention_comes_closer_with_more_features():
    """C126: entries of deviation 0.5; 4096 features are nearer than 16."""
    Q, K, V = normal(64, 16) / 2, normal(64, 16, seed=1) / 2, normal(64, 3)
    exact = lib.scaled_dot_product_attention(Q, K, V)
    errors = [
        np.abs(
            lib.random_feature_attention(Q, K, V, lib.random_directions(m, 16, seed=2)) - exact
        ).mean()
        for m in (16, 4096)
    ]
    assert errors[1] < errors[0] / 4


# Chapter 10


def test_a_tied_kernel_is_positive_semidefinite_and_reversible():
    r"""C134: $\exp(x \cdot y)$ has no negative eigenvalue; $\lambda(A) \in [0, 1]$."""
    X = normal(12, 4)
    for kernel in (lib.dot_scores, lib.exponential_kernel, lib.gaussian_kernel):
        assert lib.is_positive_semidefinite(lib.gram(kernel, X))
    G = lib.gram(lib.exponential_kernel, X)
    A = lib.row_normalised(G)
    assert_close(A, lib.softmax(lib.dot_scores(X, X)))
    eigenvalues = np.linalg.eigvals(A)
    assert_close(eigenvalues.imag, np.zeros(12))
    assert eigenvalues.real.min() > 0 and eigenvalues.real.max() < 1 + 1e-12
    assert np.abs(A - A.T).max() > 0.01


def test_symmetric_is_not_enough():
    r"""C135: $e^{-xy}$ on $\{1, -1\}$ has eigenvalues -2.350 and 3.086."""
    G = lib.gram(lambda X, Y: lib.exponential_kernel(X, -Y), np.array([[1.0], [-1.0]]))
    assert_digits(np.linalg.eigvalsh(G), [-2.350, 3.086], 3)
    assert not lib.is_positive_semidefinite(G)


@judges("is_positive_semidefinite", by="matrices built to be")
@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(st.integers(0, 7), st.integers(0, 3), st.integers(0, 2**32 - 1), st.floats(-8, 8))
def test_semidefiniteness_is_told_at_every_scale(n, rank, seed, power):
    r"""$BB^\top$ is; with one eigenvalue of $-10^{-6}$ of the largest it is not."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, rank)) * 10**power
    G = B @ B.T
    assert lib.is_positive_semidefinite(G)
    assert lib.is_positive_semidefinite(torch.from_numpy(G))
    if n > 1:
        outside = G - 1e-6 * (np.trace(G) + 10**power) * np.eye(n)
        smallest = np.linalg.eigvalsh(outside)[0]
        assert lib.is_positive_semidefinite(outside) == (smallest > 0)
        assert not lib.is_positive_semidefinite(G + 10**power * np.triu(np.ones((n, n)), 1))


def test_untied_projections_give_a_directed_kernel():
    r"""C131, C133: the score has rank $d_k$ and a skew part."""
    X = normal(50, 16)
    S = lib.dot_scores(X @ normal(16, 4, seed=1), X @ normal(16, 4, seed=2))
    assert np.linalg.matrix_rank(S) == 4
    symmetric, skew = lib.symmetric_and_skew(S)
    assert_close(symmetric + skew, S)
    assert np.abs(skew).max() > 1 and np.linalg.eigvalsh(symmetric)[0] < -1


def test_exponential_kernel_factors():
    r"""C136: $e^{q \cdot k} = e^{|q|^2/2} e^{-|q - k|^2/2} e^{|k|^2/2}$."""
    Q, K = normal(3, 4) / 2, normal(5, 4, seed=1) / 2
    left, right = (np.exp((X**2).sum(-1) / 2) for X in (Q, K))
    factored = left[:, None] * lib.gaussian_kernel(Q, K) * right
    assert_close(lib.exponential_kernel(Q, K), factored)


def test_metric_attention_is_dot_product_attention_for_equal_keys():
    r"""C141: with $s^2 = \sqrt{d_k}$, after one more coordinate or on the dial."""
    Q, K, V = normal(3, 4), normal(7, 4, seed=1), normal(7, 2)
    expected = lib.scaled_dot_product_attention(Q, K, V)
    s = 4**0.25
    assert_close(lib.nadaraya_watson(*lib.equal_length_keys(Q, K), V, s), expected)
    assert np.abs(lib.nadaraya_watson(Q, K, V, s) - expected).max() > 0.01
    dial = normal(3, 2)
    expected = lib.scaled_dot_product_attention(dial, KEYS, VALUES)
    assert_close(lib.nadaraya_watson(dial, KEYS, VALUES, 2**0.25), expected)


@pytest.mark.parametrize(("s", "printed"), [(0.3, -1.54404), (0.1, -1.69428), (0.03, -1.71311)])
def test_narrow_attention_is_drift_and_diffusion(s, printed):
    r"""C142: $\rho = N(0, 1)$, $f = \sin$, $x = 0.7$; the limit is $f'' + 2(\log\rho)' f'$."""
    grid = np.linspace(-8, 8, 40_001)
    found = lib.diffusion_quotient(
        np.array([[0.7]]), np.sin([0.7]), grid[:, None], np.sin(grid), s, log_density=-(grid**2) / 2
    )
    assert_digits(found, [printed], 5)
    assert_digits(-np.sin(0.7) - 2 * 0.7 * np.cos(0.7), -1.71500, 5)


@judges("heat_kernel_on_circle", by="its eigenvalues")
def test_the_circle_carries_the_heat_kernel():
    r"""C143: $A_s \cos kx = e^{-k^2 s^2/2} \cos kx$ and $A_s A_s = A_{s\sqrt2}$."""
    A, angle = lib.heat_kernel_on_circle(400, 0.2), 2 * np.pi * np.arange(400) / 400
    for k, printed in ((1, 0.980199), (3, 0.835270), (5, 0.606531)):
        assert_close(A @ np.cos(k * angle), np.exp(-(k**2) * 0.02) * np.cos(k * angle))
        assert_digits(np.exp(-(k**2) * 0.02), printed, 6)
    assert_close(A @ A, lib.heat_kernel_on_circle(400, 0.2 * math.sqrt(2)))
    wide = lib.heat_kernel_on_circle(16, 1.5, images=2)
    assert_close(wide, wide.T)


@judges("all_of", by="NumPy's conjunction")
def test_all_masks_are_their_conjunction():
    """None allows everything; no mask at all is None."""
    rng = np.random.default_rng(0)
    masks = [rng.random((3, 5)) < 0.7 for _ in range(3)]
    for chosen in itertools.product([None, *masks], repeat=2):
        given_masks = [mask for mask in chosen if mask is not None]
        found = lib.all_of(*chosen)
        expected = np.logical_and.reduce(given_masks) if given_masks else None
        assert found is expected is None or np.array_equal(found, expected)
