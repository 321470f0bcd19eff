"""Judges of gradients and of attention without the table: torch's own attention and autograd."""

import numpy as np
import torch
import torch.nn.functional as F

from tests.course_lib.cases import Case
from tests.course_lib.checked import course_lib
from tests.course_lib.judges_attention import grouped, masked_qkv, qkv, sdpa
from tests.course_lib.loops import each


def _grouped_with_cotangent(s, r):
    arguments = grouped(s, r)
    return arguments | {"cotangent": r(*arguments["query"].shape[:-1], s.d_v)}


def _vjp(function, inputs, cotangent):
    with torch.enable_grad():
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        output = function(*leaves)
        if not output.requires_grad:  # torch's shortcut for empty outputs
            return tuple(torch.zeros_like(x) for x in leaves)
        return torch.autograd.grad(output, leaves, cotangent)


def _sdpa_vjp(query, key, value, cotangent, **options):
    return _vjp(lambda *QKV: sdpa(*QKV, **options), (query, key, value), cotangent)


def _gradient_at_an_added_mask(query, key, value, cotangent, attn_mask):
    shape = (*query.shape[:-1], key.shape[-2])
    added = torch.zeros(shape, dtype=query.dtype).masked_fill(~attn_mask, -torch.inf)
    return _vjp(lambda B: sdpa(query, key, value, B), (added,), cotangent)[0].nan_to_num(0)


def _linear_vjp(X, W, cotangent):
    bias = W.new_zeros(W.shape[1])
    return _vjp(lambda X, W, b: F.linear(X, W.T, b), (X, W, bias), cotangent)


def _squares(x):
    """For a square the central difference is exact, whatever the step."""
    return (x * x).sum()


GRADIENTS = [
    Case(
        "central_difference",
        "batch n",
        lambda s, r: {
            "f": lambda x: x * x,
            "x": r(*s.batch, s.n),
            "direction": r(*s.batch, s.n),
        },
        lambda f, x, direction, step: torch.func.vjp(f, x)[1](direction)[0],
        "torch.func.vjp of squares",
        {"step": (0.5, 1.0)},
    ),
    Case(
        "numerical_gradient",
        "batch n",
        lambda s, r: {"f": _squares, "x": r(*s.batch, s.n)},
        lambda f, x, step: torch.func.grad(f)(x),
        "torch.func.grad of a square",
        {"step": (0.5, 1.0)},
    ),
    Case(
        "attention_vjp",
        "batch groups sharing>0 n_q n_k d_k d_v",
        _grouped_with_cotangent,
        _sdpa_vjp,
        "torch.autograd of SDPA",
        {"scale": (None, 0.7)},
        differentiable=False,
    ),
    Case(
        "reversed_attention",
        "batch n_q n_k d_k d_v",
        lambda s, r: masked_qkv(s, r) | {"cotangent": r(*s.batch, s.n_q, s.d_v)},
        _gradient_at_an_added_mask,
        "torch.autograd of SDPA",
        differentiable=False,
    ),
    Case(
        "projection_vjp",
        "batch n d_in d_out",
        lambda s, r: {
            "X": r(*s.batch, s.n, s.d_in),
            "W": r(s.d_in, s.d_out),
            "cotangent": r(*s.batch, s.n, s.d_out),
        },
        _linear_vjp,
        "torch.autograd of F.linear",
        differentiable=False,
    ),
]


def _block_sizes(arguments, s):
    return arguments | {"block_q": s.block_q, "block_k": s.block_k}


def _without_blocks(judge):
    return lambda block_q, block_k, **arguments: judge(**arguments)


def _online_by_torch(scores, values):
    largest, raw = scores.amax(-1, keepdim=True), scores.exp()
    unit = largest.exp()
    return largest, raw.sum(-1, keepdim=True) / unit, raw @ values / unit


def _online_update_by_torch(state, scores, values):
    before = state.largest.exp()
    largest, total, weighted = _online_by_torch(scores, values)
    now, after = largest.exp(), torch.maximum(largest, state.largest).exp()
    return (
        after.log(),
        (state.total * before + total * now) / after,
        (state.weighted * before + weighted * now) / after,
    )


def _state(s, r):
    return course_lib.OnlineSoftmax(
        r(*s.batch, s.n_q, 1), r.weights(*s.batch, s.n_q, 1), r(*s.batch, s.n_q, s.d_v)
    )


def _scores_values(s, r):
    return {"scores": r(*s.batch, s.n_q, s.n_k), "values": r(*s.batch, s.n_k, s.d_v)}


EFFICIENT = [
    Case(
        "online_start",
        "batch n_q n_k>0 d_v",
        _scores_values,
        _online_by_torch,
        "exponentials without a shift",
    ),
    Case(
        "online_update",
        "batch n_q n_k>0 d_v",
        lambda s, r: _scores_values(s, r) | {"state": _state(s, r)},
        _online_update_by_torch,
        "exponentials without a shift",
    ),
    Case(
        "online_answer",
        "batch n_q d_v",
        lambda s, r: {"state": _state(s, r)},
        lambda state: torch.div(state.weighted, state.total),
        "torch.div",
    ),
    Case(
        "blockwise_attention",
        "batch groups sharing>0 n_q n_k d_k d_v block_q>0 block_k>0",
        lambda s, r: _block_sizes(grouped(s, r), s),
        _without_blocks(sdpa),
        "torch SDPA",
        {"scale": (None, 0.7)},
    ),
    Case(
        "blockwise_attention_vjp",
        "batch groups sharing>0 n_q n_k d_k d_v block_q>0 block_k>0",
        lambda s, r: _block_sizes(_grouped_with_cotangent(s, r), s),
        _without_blocks(_sdpa_vjp),
        "torch.autograd of SDPA",
        {"scale": (None, 0.7)},
        differentiable=False,
    ),
    Case(
        "sliding_window_attention",
        "batch n d_k d_v",
        lambda s, r: {
            "query": r(*s.batch, s.n, s.d_k),
            "key": r(*s.batch, s.n, s.d_k),
            "value": r(*s.batch, s.n, s.d_v),
        },
        lambda query, key, value, left, right, scale: sdpa(
            query,
            key,
            value,
            torch.ones(query.shape[-2], query.shape[-2], dtype=torch.bool).triu(-left).tril(right),
            scale=scale,
        ),
        "torch SDPA with a band",
        {"left": (0, 1, 4), "right": (0, 2), "scale": (None, 0.0, 0.3)},
    ),
]


def _linear_kernel(query, key):
    return (F.elu(query) + 1) @ (F.elu(key) + 1).mT


def _linear_by_table(query, key, value):
    kernel = _linear_kernel(query, key)
    return (kernel @ value / kernel.sum(-1, keepdim=True)).nan_to_num(0)


def _causal_linear_by_table(query, key, value):
    kernel = _linear_kernel(query, key).tril()
    return kernel @ value / kernel.sum(-1, keepdim=True)


def _features_by_rows(X, directions):
    def one(X):
        rows = [torch.exp(directions @ x - torch.dot(x, x) / 2) for x in X]
        scale = len(directions) ** -0.5
        return torch.stack(rows) * scale if rows else X.new_zeros(0, len(directions))

    return each(one)(X)


def _random_feature_by_table(query, key, value, directions):
    root = query.shape[-1] ** 0.25
    asked, offered = (
        _features_by_rows(query / root, directions),
        _features_by_rows(key / root, directions),
    )
    kernel = asked @ offered.mT
    return (kernel @ value / kernel.sum(-1, keepdim=True)).nan_to_num(0)


def _normal_by_generator(count, d, seed, like):
    draws = np.random.Generator(np.random.PCG64(seed)).normal(0.0, 1.0, size=(count, d))
    return torch.from_numpy(draws).to(like.dtype)


LINEAR = [
    Case(
        "random_directions",
        "count d",
        lambda s, r: {"count": s.count, "d": s.d},
        _normal_by_generator,
        "numpy Generator.normal",
        {"seed": (0, 1, 2**31)},
        differentiable=False,
        takes_like=True,
    ),
    Case(
        "elu_plus_one",
        "batch n d",
        lambda s, r: {"X": r(*s.batch, s.n, s.d)},
        lambda X: F.elu(X) + 1,
        "F.elu",
    ),
    Case(
        "linear_attention",
        "batch n_q n_k d_k>0 d_v",
        qkv,
        _linear_by_table,
        "the table of its kernel",
    ),
    Case(
        "causal_linear_attention",
        "batch n d_k>0 d_v",
        lambda s, r: qkv(type(s)(batch=s.batch, n_q=s.n, n_k=s.n, d_k=s.d_k, d_v=s.d_v), r),
        _causal_linear_by_table,
        "the table of its kernel",
    ),
    Case(
        "positive_random_features",
        "batch n d m>0",
        lambda s, r: {"X": r(*s.batch, s.n, s.d) / 2, "directions": r(s.m, s.d)},
        _features_by_rows,
        "loop over rows",
    ),
    Case(
        "random_feature_attention",
        "batch n_q n_k d_k d_v m>0",
        lambda s, r: qkv(s, r) | {"directions": r(s.m, s.d_k)},
        _random_feature_by_table,
        "the table of its kernel",
    ),
]
