"""The choices a formula leaves open, each written down once."""

import math

import numpy as np
import pytest
import torch

from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close

NAN, INF = math.nan, math.inf
SDPA_FORMS = (lib.scaled_dot_product_attention, lib.blockwise_attention)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtype_in_is_dtype_out(dtype):
    """Also in the parts of a tuple, also where float32 was used on the way."""
    Q = normal(3, 4).astype(dtype)
    for part in (*lib.attention_with_weights(Q, Q, Q), *lib.attention_vjp(Q, Q, Q, Q)):
        assert part.dtype == Q.dtype


def test_half_precision_is_computed_in_single_precision():
    """A sum of 4,096 equal weights is one in float16, where 1/4096 added up in float16 stalls."""
    x = np.zeros(4096, np.float16)
    assert lib.softmax(x).astype(np.float64).sum() == 1
    assert lib.logsumexp(x) == np.float16(math.log(4096))


@pytest.mark.parametrize("attend", SDPA_FORMS)
def test_scale_zero_is_uniform_over_what_may_be_seen(attend):
    r"""$c = 0$: the mean of the visible values."""
    Q, K, V = normal(3, 4), normal(5, 4), normal(5, 2)
    visible = np.array([[True, True, False, True, False]])
    found = attend(Q, K, V, attn_mask=visible, scale=0.0)
    assert_close(found, np.tile(V[visible[0]].mean(0), (3, 1)))


@pytest.mark.parametrize("library", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
@pytest.mark.parametrize("attend", SDPA_FORMS)
def test_a_query_that_may_see_nothing_gets_zeros(attend, library):
    """Boolean or minus infinity, with zero gradients and no NaN; softmax itself gives NaN."""
    Q, K, V = (library(normal(3, 4, seed=seed)) for seed in range(3))
    mask = np.ones((3, 3), bool)
    mask[1] = False
    for attn_mask in (mask, np.where(mask, 0.0, -INF)):
        output = attend(Q, K, V, attn_mask=library(attn_mask))
        assert not output[1].any() and output[0].any()
        dQ, dK, dV = lib.attention_vjp(Q, K, V, V, attn_mask=library(attn_mask))
        assert not dQ[1].any()
        assert np.isfinite(np.asarray(dK)).all() and np.isfinite(np.asarray(dV)).all()


def test_autograd_through_an_empty_row_is_zero():
    """Where torch.softmax has gradient NaN."""
    Q = torch.from_numpy(normal(3, 4)).requires_grad_()
    mask = torch.tensor([[True], [False], [True]]).expand(3, 3)
    for attend in SDPA_FORMS:
        (gradient,) = torch.autograd.grad(attend(Q, Q, Q, attn_mask=mask).sum(), Q)
        assert torch.isfinite(gradient).all()


def test_softmax_of_nothing_visible_is_nan():
    """As in torch; NumPy says so by a warning."""
    row = torch.full((3,), -INF)
    assert lib.softmax(row).isnan().all() and torch.softmax(row, 0).isnan().all()
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert np.isnan(lib.softmax(row.numpy())).all()
    assert not lib.softmax_or_zeros(row).any()
    assert lib.logsumexp(row) == -INF


def test_infinite_scores_as_in_torch():
    """logsumexp of plus infinity is plus infinity."""
    x = torch.tensor([[1.0, INF, 2.0], [-INF, 0.0, 1.0]])
    assert_close(lib.logsumexp(x), torch.logsumexp(x, -1), "float32")
    assert_close(lib.softmax_or_zeros(x), torch.softmax(x, -1), "float32")


def test_a_nan_in_a_hidden_value_is_not_hidden():
    r"""$0 \cdot \mathrm{NaN} = \mathrm{NaN}$, as in torch: a mask hides keys, not numbers."""
    V = np.array([[1.0], [NAN]])
    mask = np.array([[True, False]])
    assert np.isnan(lib.scaled_dot_product_attention(normal(1, 2), normal(2, 2), V, mask)).all()


@pytest.mark.parametrize("attend", SDPA_FORMS)
def test_a_nan_in_a_hidden_key_is_hidden_by_truth_values_only(attend):
    """They replace a score, where torch's kernels disagree; numbers are added, as in torch."""
    Q, V, K = normal(2, 3), normal(2, 1), normal(2, 3)
    K[1] = NAN
    hidden = np.array([[True, False]])
    assert_close(attend(Q, K, V, hidden), np.tile(V[0], (2, 1)))
    assert_close(attend(Q, K, V, is_causal=True)[0], V[0])
    assert np.isnan(attend(Q, K, V, np.where(hidden, 0.0, -INF))).all()


def test_causal_is_counted_from_the_start_or_to_the_end():
    """n_q = 2, n_k = 4; C090."""
    assert lib.causal_from_start(2, 4).astype(int).tolist() == [[1, 0, 0, 0], [1, 1, 0, 0]]
    assert lib.causal_to_end(2, 4).astype(int).tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]


def test_a_mask_and_is_causal_both_hold():
    """Where torch refuses one of the two."""
    Q, mask = normal(5, 3), np.random.default_rng(0).random((5, 5)) < 0.6
    both = lib.all_of(mask, lib.causal_from_start(5, 5))
    for attend in SDPA_FORMS:
        assert_close(attend(Q, Q, Q, mask, is_causal=True), attend(Q, Q, Q, both))


def test_masks_are_converted_both_ways():
    """Boolean to numbers and back; a mask built for torch is of torch."""
    mask = lib.causal_from_start(3, 5)
    additive = lib.additive_mask(mask, like=np.zeros(1, np.float32))
    assert additive.dtype == np.float32 and set(np.unique(additive)) == {-INF, 0}
    assert np.array_equal(lib.boolean_mask(additive), mask)
    assert lib.causal_from_start(3, 5, like=torch.zeros(1)).dtype == torch.bool


def test_true_means_may_attend_in_multi_head_attention_too():
    """The opposite of torch's module, the same as torch's function."""
    module = torch.nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
    X, mask = torch.from_numpy(normal(1, 3, 4)), torch.eye(3, dtype=torch.bool)
    found, _ = lib.multi_head_attention(X, X, X, lib.multi_head_from_torch(module), 2, mask)
    assert_close(found, module(X, X, X, attn_mask=~mask)[0])


def test_causal_multi_head_attention_is_its_mask():
    """Self-attention, cross-attention and several heads take the same mask."""
    X, W = normal(5, 6), [normal(6, 6, seed=seed) for seed in range(4)]
    past, weights = lib.causal_from_start(5, 5), lib.MultiHeadWeights(*W)
    masked = lib.multi_head_attention(X, X, X, weights, 2, past)
    assert_close(lib.multi_head_attention(X, X, X, weights, 2, is_causal=True), masked)
    one_head = lib.multi_head_attention(X, X, X, weights._replace(W_O=np.eye(6)), 1, past)[0]
    assert_close(lib.self_attention(X, *W[:3], past)[0], one_head)
    assert_close(lib.cross_attention(X, X, *W[:3], past)[0], one_head)


def test_dropout_of_weights_reaches_every_head():
    """With p = 1 only the bias of the output is left."""
    X, weights = normal(5, 6), lib.MultiHeadWeights(*[normal(6, 6)] * 4, b_O=normal(6))
    output, attended = lib.multi_head_attention(X, X, X, weights, 2, dropout_p=1.0)
    assert_close(output, np.tile(normal(6), (5, 1)))
    assert not attended.any()


def test_a_query_that_sees_nothing_gets_the_output_bias():
    """Where torch's module gives NaN."""
    module = torch.nn.MultiheadAttention(4, 2, batch_first=True, dtype=torch.float64)
    torch.nn.init.normal_(module.out_proj.bias)
    X, mask = torch.from_numpy(normal(1, 3, 4)), torch.zeros(3, 3, dtype=torch.bool)
    found, _ = lib.multi_head_attention(X, X, X, lib.multi_head_from_torch(module), 2, mask)
    assert_close(found, module.out_proj.bias.expand(1, 3, 4))


@pytest.mark.parametrize("attend", SDPA_FORMS)
def test_sizes_zero_and_one(attend):
    """One key gets all; no keys give zeros; no queries no rows; keys of width 0 tie."""
    assert_close(attend(normal(3, 4), normal(1, 4), normal(1, 2)), np.tile(normal(1, 2), (3, 1)))
    assert_close(attend(normal(3, 4), normal(0, 4), normal(0, 2)), np.zeros((3, 2)))
    assert attend(normal(0, 4), normal(3, 4), normal(3, 2)).shape == (0, 2)
    assert attend(normal(0, 3, 4), normal(0, 3, 4), normal(0, 3, 2)).shape == (0, 3, 2)
    no_heads = normal(2, 0, 3, 4)
    assert attend(no_heads, no_heads, no_heads, enable_gqa=True).shape == (2, 0, 3, 4)
    assert_close(
        attend(normal(2, 0), normal(3, 0), normal(3, 1)), np.full((2, 1), normal(3, 1).mean())
    )
    assert lib.softmax(np.zeros((0, 3))).shape == (0, 3)
    assert lib.softmax(np.array([7.0])) == 1
    assert_close(lib.softmax_jacobian(np.array([1.0])), np.zeros((1, 1)))


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("attend", SDPA_FORMS)
def test_masks_broadcast(attend, n):
    """One entry for all, a column, a row, a row without its axis; also block by block."""
    Q, rng = normal(n, 3), np.random.default_rng(n)
    for shape in ((), (1, 1), (n, 1), (1, n), (n,), (n, n)):
        mask = np.asarray(rng.random(shape) < 0.6)
        expected = lib.scaled_dot_product_attention(Q, Q, Q, np.broadcast_to(mask, (n, n)).copy())
        assert_close(attend(Q, Q, Q, mask), expected)
        found = lib.blockwise_attention(Q, Q, Q, mask, block_q=1, block_k=1)
        assert_close(found, expected)


@pytest.mark.parametrize("axes", [((2, 1), (3,), ()), ((), (3,), (2, 1)), ((1,), (2, 1), (3,))])
def test_leading_axes_broadcast(axes):
    """(2, 1) beside (3,) beside none, at whichever of the three; forward as in torch, and back."""
    Q, K, V = (
        normal(*lead, *own) for lead, own in zip(axes, ((5, 4), (7, 4), (7, 2)), strict=True)
    )
    leaves = [torch.from_numpy(x).requires_grad_() for x in (Q, K, V)]
    expected = torch.nn.functional.scaled_dot_product_attention(*leaves)
    assert expected.shape == (2, 3, 5, 2)
    for attend in SDPA_FORMS:
        assert_close(attend(Q, K, V), expected)
    assert_close(lib.attend(Q, K, V)[0], expected)
    u = normal(2, 3, 5, 2)
    gradients = torch.autograd.grad(expected, leaves, torch.from_numpy(u))
    for vjp in (lib.attention_vjp, lib.blockwise_attention_vjp):
        assert_close(vjp(Q, K, V, u), gradients)
    spread = [np.broadcast_to(x, (2, 3, *x.shape[-2:])) for x in (Q, K, V)]
    assert_close(lib.reversed_attention(Q, K, V, u), lib.reversed_attention(*spread, u))


def test_inputs_of_a_public_update_are_not_overwritten():
    """Blocks are computed in place, but not in the caller's memory."""
    S, V = normal(2, 3), normal(3, 1)
    before = S.copy()
    lib.online_update(lib.online_start(S, V), S, V)
    assert np.array_equal(S, before)


def test_zero_vectors_have_cosine_zero():
    assert_close(lib.cosine_scores(np.zeros((1, 2)), normal(3, 2)), np.zeros((1, 3)))
    Q = torch.zeros(1, 2, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(lib.cosine_scores(Q, torch.ones(3, 2).double()).sum(), Q)
    assert torch.isfinite(gradient).all()


def test_rotary_layout_is_named():
    """ "pairs" turns features 0 and 1 together, "halves" features 0 and d/2."""
    X = np.array([[1.0, 0.0, 0.0, 0.0]])
    assert np.flatnonzero(lib.rotary(X, 1, "pairs")).tolist() == [0, 1]
    assert np.flatnonzero(lib.rotary(X, 1, "halves")).tolist() == [0, 2]
