"""Scaled dot-product attention against torch's, over every combination of its arguments."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F

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
FORMS = {
    "formula": lambda *QKV, **options: course_lib.scaled_dot_product_attention(*QKV, **options),
    "with weights": lambda *QKV, **options: course_lib.attention_with_weights(*QKV, **options)[0],
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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lengths", LENGTHS)
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


@pytest.mark.parametrize("form", VJPS)
@pytest.mark.parametrize("mask", MASKS)
def test_gradients_agree_with_central_differences(form, mask):
    r"""$\langle dQ, d\rangle = (L(Q + hd) - L(Q - hd))/2h$ and likewise for K and V."""
    arrays, options = _inputs("more keys", mask, False, 0.3, True)
    rng = np.random.default_rng(2)
    u = rng.standard_normal((BATCH, HEADS, N_Q, D_V))
    gradients = VJPS[form](*arrays, u, **options)
    for i, gradient in enumerate(gradients):
        direction = rng.standard_normal(arrays[i].shape)

        def loss(x, i=i):
            moved = [*arrays[:i], x, *arrays[i + 1 :]]
            return np.sum(u * course_lib.scaled_dot_product_attention(*moved, **options))

        slope = course_lib.central_difference(loss, arrays[i], direction)
        assert slope == pytest.approx(np.sum(gradient * direction), rel=CENTRAL_DIFFERENCE)
