"""Scaled dot-product attention against torch's, over every combination of its arguments."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from array_api_compat import array_namespace

from tests.course_lib.checked import course_lib
from tests.course_lib.comparing import CENTRAL_DIFFERENCE, assert_close

N_Q, D_K, D_V, HEADS, BATCH = 5, 3, 11, 6, 2
LENGTHS = {"fewer keys": 3, "as many": 5, "more keys": 7}
MASKS = {
    "no mask": lambda rng, n_k: None,
    "boolean": lambda rng, n_k: rng.random((N_Q, n_k)) < 0.6,
    "boolean per head": lambda rng, n_k: rng.random((BATCH, HEADS, N_Q, n_k)) < 0.6,
    "padding": lambda rng, n_k: np.arange(n_k) < np.array([1, 2])[:, None, None, None],
    "an empty row": lambda rng, n_k: np.arange(N_Q)[:, None] != np.full(n_k, 2),
    "numbers": lambda rng, n_k: rng.standard_normal((HEADS, N_Q, n_k)),
    "numbers and -inf": lambda rng, n_k: np.where(
        rng.random((N_Q, n_k)) < 0.5, rng.standard_normal((N_Q, n_k)), -np.inf
    ),
}
GRID = list(itertools.product(LENGTHS, MASKS, (False, True), (None, 0.0, 0.3), (False, True)))


def _any_score(Q, K, V, attn_mask, is_causal, scale, enable_gqa):
    """The general form, given this score; what it does not know is done before."""
    if enable_gqa:
        K, V = (course_lib.repeat_groups(X, HEADS) for X in (K, V))

    def score(Q, K):
        scores = course_lib.scaled_dot_scores(Q, K, scale)
        past = course_lib.causal_from_start(N_Q, K.shape[-2], like=Q) if is_causal else None
        return course_lib.mask_scores(scores, past)

    return course_lib.attend(Q, K, V, score, attn_mask=attn_mask)[0]


def _several_heads(Q, K, V, attn_mask, is_causal, scale, enable_gqa):
    """Projections that change nothing but the scale, and the heads side by side."""
    tokens = [course_lib.merge_heads(X) for X in (Q, K, V)]
    eyes = [_eye_like(X, X.shape[-1]) for X in tokens]
    eyes[0] = eyes[0] * _rescaled(scale)
    weights = course_lib.MultiHeadWeights(*eyes, _eye_like(Q, HEADS * D_V))
    output, _ = course_lib.multi_head_attention(*tokens, weights, HEADS, attn_mask, is_causal)
    return course_lib.split_heads(output, HEADS)


def _cross(Q, K, V, attn_mask, is_causal, scale, enable_gqa):
    """One sequence holds keys and values side by side, and the projections take them apart."""
    K, V, attn_mask = _spelled_out(Q, K, V, attn_mask, is_causal, enable_gqa)
    both, eye = array_namespace(Q).concat([K, V], axis=-1), _eye_like(Q, D_K + D_V)
    W_Q = _eye_like(Q, D_K) * _rescaled(scale)
    return course_lib.cross_attention(Q, both, W_Q, eye[:, :D_K], eye[:, D_K:], attn_mask)[0]


def _self(Q, K, V, attn_mask, is_causal, scale, enable_gqa):
    """One sequence holds queries, too; the three must be equally long."""
    K, V, attn_mask = _spelled_out(Q, K, V, attn_mask, is_causal, enable_gqa)
    X, eye = array_namespace(Q).concat([Q, K, V], axis=-1), _eye_like(Q, 2 * D_K + D_V)
    W_Q, W_K, W_V = eye[:, :D_K] * _rescaled(scale), eye[:, D_K : 2 * D_K], eye[:, 2 * D_K :]
    return course_lib.self_attention(X, W_Q, W_K, W_V, attn_mask)[0]


def _weights(Q, K, V, enable_gqa, **options):
    r"""The weights that come beside the output, applied here: $n_k \le d_v$, so none can hide."""
    _, A = course_lib.attention_with_weights(Q, K, V, enable_gqa=enable_gqa, **options)
    return A @ (course_lib.repeat_groups(V, HEADS) if enable_gqa else V)


def _spelled_out(Q, K, V, attn_mask, is_causal, enable_gqa):
    """Keys and values for each head, and one mask that says all."""
    if enable_gqa:
        K, V = (course_lib.repeat_groups(X, HEADS) for X in (K, V))
    if is_causal:
        past = course_lib.causal_from_start(N_Q, K.shape[-2], like=Q)
        scores = course_lib.mask_scores(Q @ K.mT * 0, attn_mask)
        attn_mask = course_lib.mask_scores(scores, past)
    return K, V, attn_mask


def _rescaled(scale):
    """What queries are to be multiplied by where no other scale can be asked for."""
    return 1 if scale is None else scale * D_K**0.5


def _eye_like(X, n):
    return array_namespace(X).eye(n, dtype=X.dtype)


FORMS = {
    "any score": _any_score,
    "several heads": _several_heads,
    "cross-attention": _cross,
    "self-attention": _self,
    "formula": lambda *QKV, **options: course_lib.scaled_dot_product_attention(*QKV, **options),
    "with weights": lambda *QKV, **options: course_lib.attention_with_weights(*QKV, **options)[0],
    "weights": _weights,
    "blocks": lambda *QKV, **options: course_lib.blockwise_attention(*QKV, **options),
    "uneven blocks": lambda *QKV, **options: course_lib.blockwise_attention(
        *QKV, **options, block_q=3, block_k=2
    ),
}
VJPS = {
    "formula": course_lib.attention_vjp,
    "blocks": course_lib.blockwise_attention_vjp,
}


def _inputs(lengths, mask, is_causal, scale, enable_gqa):
    n_k, rng = LENGTHS[lengths], np.random.default_rng(0)
    groups = 2 if enable_gqa else HEADS
    query = rng.standard_normal((BATCH, HEADS, N_Q, D_K))
    key, value = (rng.standard_normal((BATCH, groups, n_k, d)) for d in (D_K, D_V))
    options = {
        "attn_mask": MASKS[mask](rng, n_k),
        "is_causal": is_causal,
        "scale": scale,
        "enable_gqa": enable_gqa,
    }
    return (query, key, value), options


def _to_torch(arrays, options, dtype=torch.float64):
    mask = options["attn_mask"]
    mask = None if mask is None else torch.from_numpy(mask)
    mask = mask.to(dtype) if mask is not None and mask.is_floating_point() else mask
    return [torch.from_numpy(x).to(dtype) for x in arrays], options | {"attn_mask": mask}


def _by_torch(QKV, options):
    """Attend as torch does; it refuses a mask together with is_causal, so they are joined here."""
    mask, is_causal = options["attn_mask"], options["is_causal"]
    if is_causal and mask is not None:
        past = torch.ones(N_Q, QKV[1].shape[-2], dtype=torch.bool).tril()
        mask = mask & past if mask.dtype == torch.bool else mask.masked_fill(~past, -torch.inf)
        options = options | {"attn_mask": mask, "is_causal": False}
    return F.scaled_dot_product_attention(*QKV, **options)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("form", "lengths"),
    [pair for pair in itertools.product(FORMS, LENGTHS) if pair[0] != "self-attention"]
    + [("self-attention", "as many")],
)
def test_agrees_with_torch_for_every_combination(form, dtype, lengths):
    r"""$\mathrm{Attention}(Q, K, V)$ equals torch's, whatever mask, scale, grouping and lengths."""
    for combination in (point for point in GRID if point[0] == lengths):
        arrays, options = _inputs(*combination)
        QKV, torch_options = _to_torch(arrays, options, getattr(torch, dtype))
        expected = _by_torch(*_to_torch(arrays, options))
        assert_close(FORMS[form](*QKV, **torch_options), expected, dtype)
        arrays = [x.astype(dtype) for x in arrays]
        assert_close(FORMS[form](*arrays, **options), expected, dtype)


@pytest.mark.parametrize("form", VJPS)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_gradients_agree_with_autograd_for_every_combination(form, lengths):
    r"""$(dQ, dK, dV)$ equal autograd's through torch's own function."""
    for combination in (point for point in GRID if point[0] == lengths):
        arrays, options = _inputs(*combination)
        QKV, torch_options = _to_torch(arrays, options)
        leaves = [x.requires_grad_() for x in QKV]
        u = np.random.default_rng(1).standard_normal((BATCH, HEADS, N_Q, D_V))
        output = _by_torch(leaves, torch_options)
        expected = torch.autograd.grad(output, leaves, torch.from_numpy(u))
        assert_close(VJPS[form](*arrays, u, **options), tuple(expected))


@pytest.mark.parametrize("lengths", LENGTHS)
def test_gradients_at_the_scores_agree_with_autograd_for_every_combination(lengths):
    r"""$dS$ is the gradient at an added mask, that is all of torch's masks written as numbers."""
    for combination in (point for point in GRID if point[0] == lengths and not point[4]):
        (Q, K, V), options = _inputs(*combination)
        u = np.random.default_rng(1).standard_normal((BATCH, HEADS, N_Q, D_V))
        del options["enable_gqa"]
        found = course_lib.reversed_attention(Q, K, V, u, **options)
        scores = course_lib.mask_scores(
            np.zeros((BATCH, HEADS, N_Q, K.shape[-2])), options["attn_mask"]
        )
        if options["is_causal"]:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        added = torch.from_numpy(scores).requires_grad_()
        QKV = [torch.from_numpy(x) for x in (Q, K, V)]
        output = F.scaled_dot_product_attention(*QKV, added, scale=options["scale"])
        (expected,) = torch.autograd.grad(output, added, torch.from_numpy(u))
        assert_close(found, expected.nan_to_num(0))


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("mask", MASKS)
def test_gradients_agree_with_central_differences_for_every_combination(mask, lengths):
    r"""$\langle dQ, d\rangle = (L(Q + hd) - L(Q - hd))/2h$ and likewise for K and V."""
    rng = np.random.default_rng(2)
    u = rng.standard_normal((BATCH, HEADS, N_Q, D_V))
    for combination in (point for point in GRID if point[:2] == (lengths, mask)):
        arrays, options = _inputs(*combination)
        found = [vjp(*arrays, u, **options) for vjp in VJPS.values()]
        for i, x in enumerate(arrays):
            direction = rng.standard_normal(x.shape)

            def loss(x, i=i, arrays=arrays, options=options):
                moved = [*arrays[:i], x, *arrays[i + 1 :]]
                return np.sum(u * course_lib.scaled_dot_product_attention(*moved, **options))

            slope = course_lib.central_difference(loss, x, direction)
            for gradients in found:
                expected = np.sum(gradients[i] * direction)
                assert slope == pytest.approx(expected, rel=CENTRAL_DIFFERENCE), combination
