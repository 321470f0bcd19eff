"""Judges of positions, kernels, blocks, dynamics and the measures of reading."""

import cmath
import functools
import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.course_lib.cases import Case
from tests.course_lib.checked import course_lib
from tests.course_lib.loops import squared_distance, table

MultiHeadWeights = course_lib.MultiHeadWeights


def _sinusoids_by_loops(n, d_model, like):
    def entry(p, e):
        wave = cmath.exp(1j * p * 10_000 ** (-(e - e % 2) / d_model))
        return torch.tensor(wave.real if e % 2 else wave.imag, dtype=like.dtype)

    return table(n, d_model, entry, like)


def _shift_by_blocks(offset, d_model, like):
    angles = [offset / 10_000 ** (2 * i / d_model) for i in range(d_model // 2)]
    blocks = [[[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]] for a in angles]
    return torch.block_diag(*(torch.tensor(block, dtype=like.dtype) for block in blocks))


def _rotary_by_complex_numbers(X, start, layout):
    """A pair of features is a complex number; turning it is a multiplication."""
    n, d = X.shape[-2:]
    pairs = X.unflatten(-1, (d // 2, 2) if layout == "pairs" else (2, d // 2))
    pairs = pairs if layout == "pairs" else pairs.mT
    angles = torch.outer(
        torch.arange(start, start + n).double(), 10_000 ** (-torch.arange(0, d, 2).double() / d)
    )
    turned = torch.complex(*pairs.double().unbind(-1)) * torch.polar(
        torch.ones_like(angles), angles
    )
    turned = torch.stack([turned.real, turned.imag], -1)
    return (turned if layout == "pairs" else turned.mT).flatten(-2).to(X.dtype)


def _alibi_by_loops(heads, n_q, n_k, start, like):
    def one(h):
        slope = 2 ** (-8 * (h + 1) / heads)
        return table(
            n_q, n_k, lambda i, j: torch.tensor(-slope * abs(start + i - j), dtype=like.dtype), like
        )

    return torch.stack([one(h) for h in range(heads)])


POSITIONS = [
    Case(
        "permutation_matrix",
        "n",
        lambda s, r: {"order": r.order(s.n)},
        lambda order, like: F.one_hot(torch.tensor(order, dtype=torch.long), len(order) or 1)[
            :, : len(order)
        ].to(like.dtype),
        "F.one_hot",
        differentiable=False,
        takes_like=True,
    ),
    Case(
        "permute_mask",
        "batch n",
        lambda s, r: {"may_attend": r.bools(*s.batch, s.n, s.n), "order": r.order(s.n)},
        lambda may_attend, order: may_attend[..., order, :][..., :, order],
        "torch indexing",
        differentiable=False,
    ),
    Case(
        "sinusoidal_positions",
        "n d_model:even",
        lambda s, r: {"n": s.n, "d_model": s.d_model},
        _sinusoids_by_loops,
        "complex exponentials",
        differentiable=False,
        takes_like=True,
    ),
    Case(
        "sinusoid_shift",
        "d_model:even",
        lambda s, r: {"d_model": s.d_model},
        _shift_by_blocks,
        "torch.block_diag",
        {"offset": (-3.0, 0.0, 1.0, 50.0)},
        differentiable=False,
        takes_like=True,
    ),
    Case(
        "rotary",
        "batch n d_k:even",
        lambda s, r: {"X": r(*s.batch, s.n, s.d_k)},
        _rotary_by_complex_numbers,
        "complex multiplication",
        {"start": (0, 5), "layout": ("pairs", "halves")},
    ),
    Case(
        "alibi_bias",
        "heads>0 n_q n_k",
        lambda s, r: {"heads": s.heads, "n_q": s.n_q, "n_k": s.n_k},
        _alibi_by_loops,
        "loop over entries",
        {"start": (0, 4)},
        differentiable=False,
        takes_like=True,
    ),
]


def _two_sets(s, r):
    return {"X": r(*s.batch, s.n, s.d) / 2, "Y": r(*s.batch, s.m, s.d) / 2}


def _equal_lengths(Q, K):
    lengths = torch.linalg.vector_norm(K, dim=-1, keepdim=True)
    missing = lengths.amax(-2, keepdim=True) ** 2 - lengths**2
    return F.pad(Q, (0, 1)), torch.cat([K, missing.clamp(min=0).sqrt()], -1)


def _quotient(at, values_at, points, values, bandwidth, log_density):
    kernel = torch.exp(-squared_distance(at, points) / (2 * bandwidth**2)) * log_density.exp()
    return (kernel @ values / kernel.sum(-1) - values_at) / (bandwidth**2 / 2)


KERNELS = [
    Case(
        "exponential_kernel",
        "batch n m d",
        _two_sets,
        lambda X, Y: torch.exp(torch.einsum("...ie,...je->...ij", X, Y)),
        "torch.einsum",
    ),
    Case(
        "gaussian_kernel",
        "batch n m d",
        _two_sets,
        lambda X, Y, bandwidth: torch.exp(-squared_distance(X, Y) / (2 * bandwidth**2)),
        "loop over points",
        {"bandwidth": (0.5, 2.0)},
    ),
    Case(
        "gram",
        "n d",
        lambda s, r: {"kernel": course_lib.exponential_kernel, "X": r(s.n, s.d) / 2},
        lambda kernel, X: torch.exp(torch.einsum("ie,je->ij", X, X)),
        "torch.einsum",
    ),
    Case(
        "row_normalised",
        "batch n m",
        lambda s, r: {"G": abs(r(*s.batch, s.n, s.m))},
        lambda G: F.normalize(G, p=1, dim=-1),
        "F.normalize",
    ),
    Case(
        "symmetric_and_skew",
        "batch n",
        lambda s, r: {"M": r(*s.batch, s.n, s.n)},
        lambda M: (torch.stack([M, M.mT]).mean(0), torch.stack([M, -M.mT]).mean(0)),
        "torch.mean",
    ),
    Case(
        "equal_length_keys",
        "batch n_q n_k>0 d",
        lambda s, r: {"Q": r(*s.batch, s.n_q, s.d), "K": r(*s.batch, s.n_k, s.d)},
        _equal_lengths,
        "torch.linalg.vector_norm",
        differentiable=False,
    ),
    Case(
        "diffusion_quotient",
        "m n>0 d",
        lambda s, r: {
            "at": r(s.m, s.d),
            "values_at": r(s.m),
            "points": r(s.n, s.d),
            "values": r(s.n),
            "log_density": r(s.n),
        },
        _quotient,
        "the kernel written out",
        {"bandwidth": (0.7, 2.0)},
    ),
]


def _feed_forward_weights(s, r):
    d = s.heads * s.d_head
    return course_lib.FeedForwardWeights(r(d, s.d_ff), r(s.d_ff, d), r(s.d_ff), r(d))


def _multi_head_weights(s, r):
    d = s.heads * s.d_head
    return MultiHeadWeights(*(r(d, d) / d**0.5 for _ in range(4)), *(r(d) for _ in range(4)))


def _norm(s, r):
    d = s.heads * s.d_head
    return course_lib.NormWeights(r(d), r(d), 1e-3)


def _encoder(s, r):
    return {
        "X": r(s.b, s.n, s.heads * s.d_head),
        "weights": course_lib.EncoderWeights(
            _multi_head_weights(s, r), _feed_forward_weights(s, r), _norm(s, r), _norm(s, r)
        ),
        "heads": s.heads,
    }


def _decoder(s, r):
    return {
        "X": r(s.b, s.n, s.heads * s.d_head),
        "source": r(s.b, s.n_source, s.heads * s.d_head),
        "weights": course_lib.DecoderWeights(
            _multi_head_weights(s, r),
            _multi_head_weights(s, r),
            _feed_forward_weights(s, r),
            *(_norm(s, r) for _ in range(3)),
        ),
        "heads": s.heads,
    }


def _attention_state(name, w):
    return {
        f"{name}.in_proj_weight": torch.cat([w.W_Q.T, w.W_K.T, w.W_V.T]),
        f"{name}.in_proj_bias": torch.cat([w.b_Q, w.b_K, w.b_V]),
        f"{name}.out_proj.weight": w.W_O.T,
        f"{name}.out_proj.bias": w.b_O,
    }


def _state(weights):
    """Spell out where torch's layers keep what; parameters go in as rows of outputs."""
    fed = weights.feed_forward
    state = _attention_state("self_attn", weights.attention)
    state |= {"linear1.weight": fed.W_1.T, "linear1.bias": fed.b_1}
    state |= {"linear2.weight": fed.W_2.T, "linear2.bias": fed.b_2}
    for name in ("norm_1", "norm_2", "norm_3"):
        if norm := getattr(weights, name, None):
            place = name.replace("_", "")
            state |= {f"{place}.weight": norm.gain, f"{place}.bias": norm.bias}
    if hasattr(weights, "cross_attention"):
        state |= _attention_state("multihead_attn", weights.cross_attention)
    return state


@functools.cache
def _empty_layer(kind, d_model, heads, d_ff, norm_first, dtype):
    options = {"norm_first": norm_first, "layer_norm_eps": 1e-3, "dtype": dtype}
    return kind(d_model, heads, d_ff, dropout=0.0, batch_first=True, **options)


def _layer(kind, weights, heads, norm_first):
    W_1 = weights.feed_forward.W_1
    layer = _empty_layer(kind, len(W_1), heads, W_1.shape[1], norm_first, W_1.dtype)
    return functools.partial(_call, layer, _state(weights))


def _call(layer, state, *arguments, **options):
    return torch.func.functional_call(layer, state, arguments, options)


def _encoder_by_torch(X, weights, heads, norm_first):
    return _layer(nn.TransformerEncoderLayer, weights, heads, norm_first)(X)


def _decoder_by_torch(X, source, weights, heads, norm_first):
    n = X.shape[-2]
    future = torch.ones(n, n, dtype=torch.bool).triu(1)
    return _layer(nn.TransformerDecoderLayer, weights, heads, norm_first)(
        X, source, tgt_mask=future
    )


def _two_layers(arguments, s, r):
    again = _encoder(s, r) if "source" not in arguments else _decoder(s, r)
    layers = [arguments.pop("weights"), again["weights"]]
    return arguments | {"layers": _Layers(*layers), "final_norm": _norm(s, r)}


class _Layers(tuple):
    """A sequence of layers whose arrays the machinery of the cases finds."""

    _fields = ("first", "second")

    def __new__(cls, *layers):
        return super().__new__(cls, layers)


def _stack_by_torch(X, layers, heads, final_norm, norm_first, source=None):
    for weights in layers:
        if source is None:
            X = _encoder_by_torch(X, weights, heads, norm_first)
        else:
            X = _decoder_by_torch(X, source, weights, heads, norm_first)
    return F.layer_norm(X, X.shape[-1:], final_norm.gain, final_norm.bias, final_norm.eps)


BLOCK = "b>0 n>0 heads>0 d_head>0 d_ff>0"
PRE_AND_POST = {"norm_first": (False, True)}

BLOCKS = [
    Case(
        "layer_norm",
        "batch n d_model>1",
        lambda s, r: {"X": r(*s.batch, s.n, s.d_model), "gain": r(s.d_model), "bias": r(s.d_model)},
        lambda X, gain, bias, eps: F.layer_norm(X, X.shape[-1:], gain, bias, eps),
        "F.layer_norm",
        {"eps": (1e-5, 1e-2)},
    ),
    Case("relu", "batch n", lambda s, r: {"x": r(*s.batch, s.n)}, lambda x: F.relu(x), "F.relu"),
    Case(
        "gelu", "batch n", lambda s, r: {"x": 2 * r(*s.batch, s.n)}, lambda x: F.gelu(x), "F.gelu"
    ),
    Case(
        "silu", "batch n", lambda s, r: {"x": 9 * r(*s.batch, s.n)}, lambda x: F.silu(x), "F.silu"
    ),
    Case(
        "feed_forward",
        "batch n heads>0 d_head>0 d_ff",
        lambda s, r: {
            "X": r(*s.batch, s.n, s.heads * s.d_head),
            "weights": _feed_forward_weights(s, r),
        },
        lambda X, weights: F.linear(
            F.relu(F.linear(X, weights.W_1.T, weights.b_1)), weights.W_2.T, weights.b_2
        ),
        "F.linear and F.relu",
    ),
    Case(
        "gated_feed_forward",
        "batch n d d_ff",
        lambda s, r: {
            "X": r(*s.batch, s.n, s.d),
            "weights": course_lib.GatedWeights(r(s.d, s.d_ff), r(s.d, s.d_ff), r(s.d_ff, s.d)),
        },
        lambda X, weights: F.linear(
            F.silu(F.linear(X, weights.W_gate.T)) * F.linear(X, weights.W_up.T), weights.W_down.T
        ),
        "F.linear and F.silu",
    ),
    Case(
        "encoder_block",
        BLOCK,
        _encoder,
        _encoder_by_torch,
        "torch TransformerEncoderLayer",
        PRE_AND_POST,
    ),
    Case(
        "decoder_block",
        BLOCK + " n_source>0",
        _decoder,
        _decoder_by_torch,
        "torch TransformerDecoderLayer",
        PRE_AND_POST,
    ),
    Case(
        "encoder_stack",
        BLOCK,
        lambda s, r: _two_layers(_encoder(s, r), s, r),
        _stack_by_torch,
        "torch TransformerEncoderLayer",
        PRE_AND_POST,
    ),
    Case(
        "decoder_stack",
        BLOCK + " n_source>0",
        lambda s, r: _two_layers(_decoder(s, r), s, r),
        _stack_by_torch,
        "torch TransformerDecoderLayer",
        PRE_AND_POST,
    ),
    Case(
        "shaped_weights",
        "batch n>0 d_k>0",
        lambda s, r: {"Q": r(*s.batch, s.n, s.d_k), "K": r(*s.batch, s.n, s.d_k)},
        lambda Q, K, temperature: (
            torch.softmax(Q @ K.mT / (temperature * Q.shape[-1] ** 0.5), -1)
            - 1 / Q.shape[-2]
            + torch.diag(torch.ones(Q.shape[-2], dtype=Q.dtype))
        ),
        "torch.softmax",
        {"temperature": (0.5, 4.0)},
    ),
]


def _sphere(s, r):
    X = r(s.n, s.d)
    return X / abs(X).max(-1, keepdims=True)


def _velocity_by_loops(X, beta):
    rows = []
    for x in X:
        pull = torch.softmax(beta * torch.stack([torch.dot(x, y) for y in X]), 0)
        towards = sum(a * y for a, y in zip(pull, X, strict=True))
        rows.append(towards - torch.dot(x, towards) * x)
    return torch.stack(rows) if rows else X


def _flow_by_loops(X, beta, step, steps):
    places = [X]
    for _ in range(steps):
        places.append(F.normalize(places[-1] + step * _velocity_by_loops(places[-1], beta), dim=-1))
    return torch.stack(places)


def _sparsemax_by_bisection(x):
    """tau lies between max - 1 and max, and the sum of what is above it falls as it grows."""
    high = x.amax(-1, keepdim=True)
    low = high - 1
    for _ in range(80):
        middle = (low + high) / 2
        enough = (x - middle).clamp(min=0).sum(-1, keepdim=True) > 1
        low, high = torch.where(enough, middle, low), torch.where(enough, high, middle)
    return (x - low).clamp(min=0)


def _sinkhorn_by_sums(scores, iterations):
    A = scores.exp()
    for _ in range(iterations):
        A = A / A.sum(-1, keepdim=True)
        A = A / A.sum(-2, keepdim=True)
    return A


DYNAMICS = [
    Case(
        "flow_velocity",
        "n d",
        lambda s, r: {"X": _sphere(s, r) if s.d else r(s.n, 0)},
        _velocity_by_loops,
        "loop over tokens",
        {"beta": (0.0, 1.0, 9.0)},
    ),
    Case(
        "token_flow",
        "n>0 d>0",
        lambda s, r: {"X": _sphere(s, r)},
        _flow_by_loops,
        "loop over tokens",
        {"beta": (1.0, 4.0), "step": (0.1,), "steps": (0, 1, 5)},
    ),
    Case(
        "flow_energy",
        "n>0 d",
        lambda s, r: {"X": r(s.n, s.d) / 2},
        lambda X, beta: (
            sum(torch.exp(beta * torch.dot(x, y)) for x in X for y in X) / (2 * beta * len(X) ** 2)
        ),
        "loop over pairs",
        {"beta": (-1.0, 1.0, 2.0)},
    ),
    Case(
        "distance_to_consensus",
        "batch n>0 d>0",
        lambda s, r: {"X": r(*s.batch, s.n, s.d)},
        lambda X: (
            torch.linalg.matrix_norm(X - X.mean(-2, keepdim=True)) / torch.linalg.matrix_norm(X)
        ),
        "torch.linalg.matrix_norm",
        differentiable=False,
    ),
    Case(
        "hopfield_update",
        "batch n_q n d>0",
        lambda s, r: {"state": r(*s.batch, s.n_q, s.d), "patterns": r(*s.batch, s.n, s.d)},
        lambda state, patterns, beta: F.scaled_dot_product_attention(
            state, patterns, patterns, scale=beta
        ),
        "torch SDPA",
        {"beta": (0.0, 1.0, 8.0)},
    ),
    Case(
        "sparsemax",
        "batch n>0",
        lambda s, r: {"x": r(*s.batch, s.n)},
        _sparsemax_by_bisection,
        "bisection",
        differentiable=False,
    ),
    Case(
        "sinkhorn",
        "batch n>0",
        lambda s, r: {"scores": r(*s.batch, s.n, s.n)},
        _sinkhorn_by_sums,
        "sums in turn",
        {"iterations": (1, 5)},
    ),
]


def _self_weights(s, r):
    return {"weights": r.weights(*s.batch, s.n, s.n) if s.n else r(*s.batch, 0, 0)}


def _induction_by_loops(weights, tokens):
    n = len(tokens)
    repeated = [i for i in range(n) if tokens[i] in tokens[:i]]
    found = weights.new_zeros(weights.shape[:-2])
    for i in repeated:
        for j in range(1, i + 1):
            if tokens[j - 1] == tokens[i]:
                found = found + weights[..., i, j]
    return found / max(len(repeated), 1)


READING = [
    Case(
        "attention_rollout",
        "layers n",
        lambda s, r: {"weights": r.weights(s.layers, s.n, s.n) if s.n else r(s.layers, 0, 0)},
        lambda weights, residual: torch.linalg.multi_dot(
            [
                residual * torch.eye(weights.shape[-1], dtype=weights.dtype) + (1 - residual) * A
                for A in weights.flip(0)
            ]
            + [torch.eye(weights.shape[-1], dtype=weights.dtype)] * 2
        ),
        "torch.linalg.multi_dot",
        {"residual": (0.0, 0.5, 1.0)},
    ),
    Case(
        "head_entropy",
        "batch n_q>0 n_k>0",
        lambda s, r: {"weights": r.weights(*s.batch, s.n_q, s.n_k)},
        lambda weights: torch.special.entr(weights).sum(-1).mean(-1),
        "torch.special.entr",
    ),
    Case(
        "attention_distance",
        "batch n>0",
        _self_weights,
        lambda weights: (
            sum(
                abs(k) * weights.diagonal(k, -2, -1).sum(-1)
                for k in range(-weights.shape[-1] + 1, weights.shape[-1])
            )
            / weights.shape[-1]
        ),
        "sum over diagonals",
    ),
    Case(
        "previous_token_score",
        "batch n>1",
        _self_weights,
        lambda weights: weights.diagonal(-1, -2, -1).mean(-1),
        "torch.diagonal",
    ),
    Case(
        "induction_score",
        "batch n",
        lambda s, r: _self_weights(s, r) | {"tokens": r.rng.integers(0, 3, s.n)},
        _induction_by_loops,
        "loop over pairs",
    ),
    Case(
        "value_weighted",
        "batch n_q n_k>0 d_v>0",
        lambda s, r: {
            "weights": r.weights(*s.batch, s.n_q, s.n_k),
            "values": r(*s.batch, s.n_k, s.d_v),
        },
        lambda weights, values: torch.linalg.vector_norm(values, dim=-1).unsqueeze(-2) * weights,
        "torch.linalg.vector_norm",
    ),
]
