"""Judges of the Transformer block and its parts: torch's own layers."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

from tests.course_lib.cases import Case
from tests.course_lib.checked import course_lib

MultiHeadWeights = course_lib.MultiHeadWeights


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


BLOCK = "b n heads>0 d_head>0 d_ff>0"
PRE_AND_POST = {"norm_first": (False, True)}

BLOCKS = [
    Case(
        "layer_norm",
        "batch n d_model>0",
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
        "batch n heads d_head d_ff",
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
        BLOCK + " n_source",
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
        BLOCK + " n_source",
        lambda s, r: _two_layers(_decoder(s, r), s, r),
        _stack_by_torch,
        "torch TransformerDecoderLayer",
        PRE_AND_POST,
    ),
    Case(
        "shaped_weights",
        "batch n>0 d_k",
        lambda s, r: {"Q": r(*s.batch, s.n, s.d_k), "K": r(*s.batch, s.n, s.d_k)},
        lambda Q, K, temperature: (
            torch.softmax(Q @ K.mT / (temperature * max(Q.shape[-1], 1) ** 0.5), -1)
            - 1 / Q.shape[-2]
            + torch.diag(torch.ones(Q.shape[-2], dtype=Q.dtype))
        ),
        "torch.softmax",
        {"temperature": (0.5, 4.0)},
    ),
]
