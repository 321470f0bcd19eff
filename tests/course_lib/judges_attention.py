"""Judges of attention in all its forms: torch's own operations, its modules and its autograd."""

import math

import torch
import torch.nn.functional as F
from array_api_compat import array_namespace

from tests.course_lib.cases import Case
from tests.course_lib.checked import course_lib
from tests.course_lib.loops import squared_distance

sdpa = F.scaled_dot_product_attention
MultiHeadWeights = course_lib.MultiHeadWeights


def qkv(s, r):
    return {
        "query": r(*s.batch, s.n_q, s.d_k),
        "key": r(*s.batch, s.n_k, s.d_k),
        "value": r(*s.batch, s.n_k, s.d_v),
    }


def _letters(s, r):
    return dict(zip("QKV", qkv(s, r).values(), strict=True))


def _weights_by_sdpa(query, key, **options):
    """The weights are what attention returns when the values are the rows of the identity."""
    n_k = key.shape[-2]
    identity = torch.eye(n_k, dtype=key.dtype).expand(*key.shape[:-2], n_k, n_k)
    return sdpa(query, key, identity, **options)


def masked_qkv(s, r):
    return qkv(s, r) | {"attn_mask": r.bools(s.n_q, s.n_k)}


def grouped(s, r):
    heads = s.groups * s.sharing
    return {
        "query": r(*s.batch, heads, s.n_q, s.d_k),
        "key": r(*s.batch, s.groups, s.n_k, s.d_k),
        "value": r(*s.batch, s.groups, s.n_k, s.d_v),
        "attn_mask": r.bools(heads, s.n_q, s.n_k),
        "enable_gqa": True,
    }


def _projections(s, r):
    return {"W_Q": r(s.d_a, s.d_k), "W_K": r(s.d_b, s.d_k), "W_V": r(s.d_b, s.d_v)}


def _cross_by_linear(X_q, X_kv, W_Q, W_K, W_V):
    Q, K, V = F.linear(X_q, W_Q.T), F.linear(X_kv, W_K.T), F.linear(X_kv, W_V.T)
    return sdpa(Q, K, V), _weights_by_sdpa(Q, K)


ATTENTION = [
    Case(
        "attend",
        "batch n_q n_k d_k d_v",
        lambda s, r: _letters(s, r) | {"value_map": lambda V: array_namespace(V).tanh(V)},
        lambda Q, K, V, value_map: (sdpa(Q, K, torch.tanh(V)), _weights_by_sdpa(Q, K)),
        "torch SDPA",
    ),
    Case(
        "nadaraya_watson",
        "batch n_q n_k d d_v",
        lambda s, r: {
            "at": r(*s.batch, s.n_q, s.d),
            "points": r(*s.batch, s.n_k, s.d),
            "values": r(*s.batch, s.n_k, s.d_v),
        },
        lambda at, points, values, bandwidth: (
            torch.softmax(-squared_distance(at, points) / (2 * bandwidth**2), -1) @ values
        ),
        "torch.softmax of distances",
        {"bandwidth": (0.5, 2.0)},
    ),
    Case(
        "scaled_dot_product_attention",
        "batch groups sharing>0 n_q n_k d_k d_v",
        grouped,
        sdpa,
        "torch SDPA",
        {"scale": (None, 0.0, 0.7)},
    ),
    Case(
        "attention_with_weights",
        "batch n_q n_k d_k d_v",
        masked_qkv,
        lambda query, key, value, attn_mask: (
            sdpa(query, key, value, attn_mask),
            _weights_by_sdpa(query, key, attn_mask=attn_mask),
        ),
        "torch SDPA",
    ),
    Case(
        "project",
        "batch n d_in d_out",
        lambda s, r: {"X": r(*s.batch, s.n, s.d_in), "W": r(s.d_in, s.d_out), "b": r(s.d_out)},
        lambda X, W, b: F.linear(X, W.T, b),
        "F.linear",
    ),
    Case(
        "cross_attention",
        "batch n_q n_k d_a d_b d_k d_v",
        lambda s, r: (
            {"X_q": r(*s.batch, s.n_q, s.d_a), "X_kv": r(*s.batch, s.n_k, s.d_b)}
            | _projections(s, r)
        ),
        _cross_by_linear,
        "F.linear and torch SDPA",
    ),
    Case(
        "self_attention",
        "batch n d_model d_k d_v",
        lambda s, r: {
            "X": r(*s.batch, s.n, s.d_model),
            "W_Q": r(s.d_model, s.d_k),
            "W_K": r(s.d_model, s.d_k),
            "W_V": r(s.d_model, s.d_v),
        },
        lambda X, W_Q, W_K, W_V: _cross_by_linear(X, X, W_Q, W_K, W_V),
        "F.linear and torch SDPA",
    ),
    Case(
        "repeat_groups",
        "batch groups>0 sharing>0 n d",
        lambda s, r: {"X": r(*s.batch, s.groups, s.n, s.d), "heads": s.groups * s.sharing},
        lambda X, heads: X.repeat_interleave(heads // X.shape[-3], -3),
        "torch.repeat_interleave",
    ),
]


def _multi_head_weights(s, r):
    d_model = s.heads * s.d_head
    W = [r(d, d_model) for d in (d_model, s.d_keys, s.d_values, d_model)]
    return MultiHeadWeights(*W, *(r(d_model) for _ in range(4)))


def _multi_head(s, r):
    return {
        "query": r(*s.batch, s.n_q, s.heads * s.d_head),
        "key": r(*s.batch, s.n_k, s.d_keys),
        "value": r(*s.batch, s.n_k, s.d_values),
        "weights": _multi_head_weights(s, r),
        "heads": s.heads,
        "attn_mask": _with_one_visible(r.bools(s.n_q, s.n_k)),
    }


def _with_one_visible(mask):
    """torch's module gives NaN for a query that sees nothing; ours is judged elsewhere there."""
    mask[:, :1] = True
    return mask


def _multi_head_by_torch(query, key, value, weights, heads, attn_mask):
    """torch's module in its functional form: True in its mask means hidden, tokens come first."""
    batch, n_q = query.shape[:-2], query.shape[-2]
    Q, K, V = (
        x.reshape(math.prod(batch), *x.shape[-2:]).transpose(0, 1) for x in (query, key, value)
    )
    output, attended = F.multi_head_attention_forward(
        Q, K, V, Q.shape[-1], heads, None,
        torch.cat([weights.b_Q, weights.b_K, weights.b_V]),
        None, None, False, 0.0, weights.W_O.T, weights.b_O,
        training=False, attn_mask=~attn_mask, average_attn_weights=False,
        use_separate_proj_weight=True, q_proj_weight=weights.W_Q.T,
        k_proj_weight=weights.W_K.T, v_proj_weight=weights.W_V.T,
    )  # fmt: skip
    return (
        output.transpose(0, 1).reshape(*batch, n_q, output.shape[-1]),
        attended.reshape(*batch, heads, n_q, key.shape[-2]),
    )


def _contributions_by_heads(attended, value, weights):
    """Concatenate with all heads but one silenced."""
    heads = attended.shape[-3]
    V = F.linear(value, weights.W_V.T, weights.b_V).chunk(heads, -1)
    blocks = weights.W_O.chunk(heads, 0)
    return torch.stack([attended[..., h, :, :] @ V[h] @ blocks[h] for h in range(heads)], -3)


HEADS = [
    Case(
        "split_heads",
        "batch n heads>0 d",
        lambda s, r: {"X": r(*s.batch, s.n, s.heads * s.d), "heads": s.heads},
        lambda X, heads: torch.stack(torch.tensor_split(X, heads, -1), -3),
        "torch.tensor_split",
    ),
    Case(
        "merge_heads",
        "batch heads n d",
        lambda s, r: {"X": r(*s.batch, s.heads, s.n, s.d)},
        lambda X: torch.cat([*X.unbind(-3), X.new_zeros(*X.shape[:-3], X.shape[-2], 0)], -1),
        "torch.cat",
    ),
    Case(
        "multi_head_attention",
        "b n_q n_k heads>0 d_head>0 d_keys d_values",
        lambda s, r: _multi_head(_with_batch(s), r),
        _multi_head_by_torch,
        "torch MultiheadAttention",
    ),
    Case(
        "head_contributions",
        "batch n_q n_k heads>0 d_head>0 d_keys d_values",
        lambda s, r: {
            "attended": r(*s.batch, s.heads, s.n_q, s.n_k),
            "value": r(*s.batch, s.n_k, s.d_values),
            "weights": _multi_head_weights(s, r),
        },
        _contributions_by_heads,
        "loop over heads",
    ),
]


def _with_batch(s):
    s.batch = (s.b,) if s.b else (2, 3)
    return s
