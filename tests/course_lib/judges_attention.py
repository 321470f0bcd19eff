"""Judges of attention in all its forms: torch's own operations, its modules and its autograd."""

import torch
import torch.nn.functional as F
from array_api_compat import array_namespace

from tests.course_lib.cases import Case
from tests.course_lib.checked import course_lib
from tests.course_lib.loops import each, squared_distance

sdpa = F.scaled_dot_product_attention
MultiHeadWeights = course_lib.MultiHeadWeights


def _qkv(s, r):
    return {
        "query": r(*s.batch, s.n_q, s.d_k),
        "key": r(*s.batch, s.n_k, s.d_k),
        "value": r(*s.batch, s.n_k, s.d_v),
    }


def _letters(s, r):
    return dict(zip("QKV", _qkv(s, r).values(), strict=True))


def _weights_by_sdpa(query, key, **options):
    """The weights are what attention returns when the values are the rows of the identity."""
    n_k = key.shape[-2]
    identity = torch.eye(n_k, dtype=key.dtype).expand(*key.shape[:-2], n_k, n_k)
    return sdpa(query, key, identity, **options)


def _masked_qkv(s, r):
    return _qkv(s, r) | {"attn_mask": r.bools(s.n_q, s.n_k)}


def _grouped(s, r):
    heads = s.groups * s.sharing
    return {
        "query": r(*s.batch, heads, s.n_q, s.d_k),
        "key": r(*s.batch, s.groups, s.n_k, s.d_k),
        "value": r(*s.batch, s.groups, s.n_k, s.d_v),
        "attn_mask": r.bools(heads, s.n_q, s.n_k),
        "enable_gqa": True,
    }


def _grouped_with_cotangent(s, r):
    arguments = _grouped(s, r)
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


def _projections(s, r):
    return {"W_Q": r(s.d_a, s.d_k), "W_K": r(s.d_b, s.d_k), "W_V": r(s.d_b, s.d_v)}


def _cross_by_linear(X_q, X_kv, W_Q, W_K, W_V):
    Q, K, V = F.linear(X_q, W_Q.T), F.linear(X_kv, W_K.T), F.linear(X_kv, W_V.T)
    return sdpa(Q, K, V), _weights_by_sdpa(Q, K)


ATTENTION = [
    Case(
        "attend",
        "batch n_q n_k d_k>0 d_v",
        lambda s, r: _letters(s, r) | {"value_map": lambda V: array_namespace(V).tanh(V)},
        lambda Q, K, V, value_map: (sdpa(Q, K, torch.tanh(V)), _weights_by_sdpa(Q, K)),
        "torch SDPA",
    ),
    Case(
        "nadaraya_watson",
        "batch n_q n_k>0 d d_v",
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
        "batch groups>0 sharing>0 n_q n_k d_k>0 d_v",
        _grouped,
        sdpa,
        "torch SDPA",
        {"scale": (None, 0.0, 0.7)},
    ),
    Case(
        "attention_with_weights",
        "batch n_q n_k d_k>0 d_v",
        _masked_qkv,
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
        "batch n_q n_k d_a>0 d_b>0 d_k>0 d_v",
        lambda s, r: (
            {"X_q": r(*s.batch, s.n_q, s.d_a), "X_kv": r(*s.batch, s.n_k, s.d_b)}
            | _projections(s, r)
        ),
        _cross_by_linear,
        "F.linear and torch SDPA",
    ),
    Case(
        "self_attention",
        "batch n d_model>0 d_k>0 d_v",
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
    mask[:, 0] = True
    return mask


def _multi_head_by_torch(query, key, value, weights, heads, attn_mask):
    """torch's module in its functional form: True in its mask means hidden, tokens come first."""
    Q, K, V = (x.reshape(-1, *x.shape[-2:]).transpose(0, 1) for x in (query, key, value))
    output, attended = F.multi_head_attention_forward(
        Q, K, V, Q.shape[-1], heads, None,
        torch.cat([weights.b_Q, weights.b_K, weights.b_V]),
        None, None, False, 0.0, weights.W_O.T, weights.b_O,
        training=False, attn_mask=~attn_mask, average_attn_weights=False,
        use_separate_proj_weight=True, q_proj_weight=weights.W_Q.T,
        k_proj_weight=weights.W_K.T, v_proj_weight=weights.W_V.T,
    )  # fmt: skip
    batch, n_q = query.shape[:-2], query.shape[-2]
    return (
        output.transpose(0, 1).reshape(*batch, n_q, -1),
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
        "b n_q>0 n_k>0 heads>0 d_head>0 d_keys>0 d_values>0",
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


def _linear_vjp(X, W, cotangent):
    bias = W.new_zeros(W.shape[1])
    return _vjp(lambda X, W, b: F.linear(X, W.T, b), (X, W, bias), cotangent)


GRADIENTS = [
    Case(
        "attention_vjp",
        "batch groups>0 sharing>0 n_q n_k d_k>0 d_v",
        _grouped_with_cotangent,
        _sdpa_vjp,
        "torch.autograd of SDPA",
        {"scale": (None, 0.7)},
        differentiable=False,
    ),
    Case(
        "reversed_attention",
        "batch n_q n_k>0 d_k>0 d_v",
        lambda s, r: _masked_qkv(s, r) | {"cotangent": r(*s.batch, s.n_q, s.d_v)},
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
        "batch groups>0 sharing>0 n_q n_k d_k>0 d_v block_q>0 block_k>0",
        lambda s, r: _block_sizes(_grouped(s, r), s),
        _without_blocks(sdpa),
        "torch SDPA",
        {"scale": (None, 0.7)},
    ),
    Case(
        "blockwise_attention_vjp",
        "batch groups>0 sharing>0 n_q n_k d_k>0 d_v block_q>0 block_k>0",
        lambda s, r: _block_sizes(_grouped_with_cotangent(s, r), s),
        _without_blocks(_sdpa_vjp),
        "torch.autograd of SDPA",
        {"scale": (None, 0.7)},
        differentiable=False,
    ),
    Case(
        "sliding_window_attention",
        "batch n d_k>0 d_v",
        lambda s, r: {
            "query": r(*s.batch, s.n, s.d_k),
            "key": r(*s.batch, s.n, s.d_k),
            "value": r(*s.batch, s.n, s.d_v),
        },
        lambda query, key, value, left, right: sdpa(
            query,
            key,
            value,
            torch.ones(query.shape[-2], query.shape[-2], dtype=torch.bool).triu(-left).tril(right),
        ),
        "torch SDPA with a band",
        {"left": (0, 1, 4), "right": (0, 2)},
    ),
]


def _linear_kernel(query, key):
    return (F.elu(query) + 1) @ (F.elu(key) + 1).mT


def _linear_by_table(query, key, value):
    kernel = _linear_kernel(query, key)
    return kernel @ value / kernel.sum(-1, keepdim=True)


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
    return kernel @ value / kernel.sum(-1, keepdim=True)


LINEAR = [
    Case(
        "elu_plus_one",
        "batch n d",
        lambda s, r: {"X": r(*s.batch, s.n, s.d)},
        lambda X: F.elu(X) + 1,
        "F.elu",
    ),
    Case(
        "linear_attention",
        "batch n_q n_k>0 d_k>0 d_v",
        _qkv,
        _linear_by_table,
        "the table of its kernel",
    ),
    Case(
        "causal_linear_attention",
        "batch n>0 d_k>0 d_v",
        lambda s, r: _qkv(type(s)(batch=s.batch, n_q=s.n, n_k=s.n, d_k=s.d_k, d_v=s.d_v), r),
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
        "batch n_q n_k>0 d_k>0 d_v m>0",
        lambda s, r: _qkv(s, r) | {"directions": r(s.m, s.d_k)},
        _random_feature_by_table,
        "the table of its kernel",
    ),
]
