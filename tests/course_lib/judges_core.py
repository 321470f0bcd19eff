"""Judges of the softmax family, the scores and the masks."""

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.course_lib.cases import Case
from tests.course_lib.loops import each, squared_distance, table


def _softmax_jacobian(p):
    rows = p.log().reshape(-1, p.shape[-1])
    jacobian = torch.func.vmap(torch.func.jacrev(lambda x: torch.softmax(x, -1)))
    return jacobian(rows).reshape(*p.shape, -1) if len(rows) else p.new_zeros(*p.shape, p.shape[-1])


def _softmax_vjp(p, u):
    with torch.enable_grad():
        x = p.log().detach().requires_grad_()
        return torch.autograd.grad(torch.softmax(x, -1), x, u)[0]


def _limit_or_softmax(x, temperature):
    if temperature == 0:
        top = (x == x.amax(-1, keepdim=True)).to(x.dtype)
        return top / top.sum(-1, keepdim=True)
    if temperature == math.inf:
        return torch.full_like(x, 1 / x.shape[-1])
    return torch.softmax(x / temperature, -1)


def _with_hidden(s, r):
    x = r(*s.batch, s.n)
    x[~r.bools(*s.batch, s.n)] = -math.inf
    return {"x": x}


SOFTMAX = [
    Case(
        "softmax",
        "batch n>0 m>0",
        lambda s, r: {"x": 3 * r(*s.batch, s.m, s.n)},
        lambda x, axis: torch.softmax(x, axis),
        "torch.softmax",
        {"axis": (-1, -2)},
    ),
    Case(
        "softmax_or_zeros",
        "batch n",
        _with_hidden,
        lambda x: torch.softmax(x, -1).nan_to_num(0),
        "torch.softmax, NaN for zero",
        differentiable=False,
    ),
    Case(
        "log_softmax",
        "batch n>0 m>0",
        lambda s, r: {"x": 3 * r(*s.batch, s.m, s.n)},
        lambda x, axis: torch.log_softmax(x, axis),
        "torch.log_softmax",
        {"axis": (-1, -2)},
    ),
    Case(
        "logsumexp",
        "batch n>0 m>0",
        lambda s, r: {"x": 3 * r(*s.batch, s.m, s.n)},
        lambda x, axis: torch.logsumexp(x, axis),
        "torch.logsumexp",
        {"axis": (-1, -2)},
    ),
    Case(
        "softmax_at",
        "batch n>0",
        lambda s, r: {"x": r(*s.batch, s.n).round(1)},
        _limit_or_softmax,
        "torch.softmax(x/t) and both limits",
        {"temperature": (0.0, 0.25, 1.0, 7.0, math.inf)},
        differentiable=False,
    ),
    Case(
        "softmax_jacobian",
        "batch n>0",
        lambda s, r: {"p": r.weights(*s.batch, s.n)},
        _softmax_jacobian,
        "torch.func.jacrev",
        differentiable=False,
    ),
    Case(
        "softmax_vjp",
        "batch n",
        lambda s, r: {"p": r.weights(*s.batch, s.n), "u": r(*s.batch, s.n)},
        _softmax_vjp,
        "torch.autograd",
        differentiable=False,
    ),
    Case(
        "entropy",
        "batch n",
        lambda s, r: {"p": r.weights(*s.batch, s.n) if s.n else r(*s.batch, 0)},
        lambda p: torch.special.entr(p).sum(-1),
        "torch.special.entr",
    ),
    Case(
        "entropy_of_scores",
        "batch n>0",
        lambda s, r: {"x": 3 * r(*s.batch, s.n)},
        lambda x: torch.special.entr(torch.softmax(x, -1)).sum(-1),
        "torch.special.entr",
    ),
]


def _query_and_key(s, r):
    return {"Q": r(*s.batch, s.n_q, s.d_k), "K": r(*s.batch[-1:], s.n_k, s.d_k)}


def _two_widths(s, r):
    return {"Q": r(*s.batch, s.n_q, s.d_q), "K": r(*s.batch[-1:], s.n_k, s.d_k)}


def _additive(s, r):
    weights = {"W_Q": r(s.d_q, s.d_a), "W_K": r(s.d_k, s.d_a), "v": r(s.d_a)}
    return _two_widths(s, r) | weights | {"b": r(s.d_a) if s.d_a % 2 else None}


def _additive_concatenated(s, r):
    weights = {"W": r(s.d_q + s.d_k, s.d_a), "v": r(s.d_a)}
    return _two_widths(s, r) | weights | {"b": r(s.d_a) if s.d_a % 2 else None}


def _additive_by_loops(Q, K, W_Q, W_K, v, b=None):
    b = torch.zeros_like(v) if b is None else b

    def one(Q, K):
        return table(
            len(Q),
            len(K),
            lambda i, j: torch.dot(v, torch.tanh(W_Q.T @ Q[i] + W_K.T @ K[j] + b)),
            Q,
        )

    return each(one)(Q, K)


def _concatenated_by_loops(Q, K, W, v, b=None):
    b = torch.zeros_like(v) if b is None else b

    def one(Q, K):
        return table(
            len(Q),
            len(K),
            lambda i, j: torch.dot(v, torch.tanh(W.T @ torch.cat([Q[i], K[j]]) + b)),
            Q,
        )

    return each(one)(Q, K)


def _symmetric(s, r):
    A, B = r(s.d, s.d), r(s.d, s.d)
    return {"mu_q": r(s.d), "Sigma_q": A @ A.T, "mu_k": r(s.d), "Sigma_k": B @ B.T}


def _second_moment_less_square_of_mean(mu_q, Sigma_q, mu_k, Sigma_k):
    second = (Sigma_q + torch.outer(mu_q, mu_q)) * (Sigma_k + torch.outer(mu_k, mu_k))
    return (second.sum() - torch.dot(mu_q, mu_k) ** 2) / len(mu_q)


PAIR = "batch n_q n_k d_k"

SCORES = [
    Case(
        "dot_scores",
        PAIR,
        _query_and_key,
        lambda Q, K: torch.einsum("...ie,...je->...ij", Q, K),
        "torch.einsum",
    ),
    Case(
        "scaled_dot_scores",
        "batch n_q n_k d_k",
        _query_and_key,
        lambda Q, K, scale: (
            torch.einsum("...ie,...je->...ij", Q, K)
            * (max(Q.shape[-1], 1) ** -0.5 if scale is None else scale)
        ),
        "torch.einsum",
        {"scale": (None, 0.0, 0.3)},
    ),
    Case(
        "cosine_scores",
        "batch n_q n_k d_k",
        _query_and_key,
        lambda Q, K: F.cosine_similarity(Q[..., :, None, :], K[..., None, :, :], dim=-1),
        "F.cosine_similarity",
    ),
    Case(
        "gaussian_scores",
        PAIR,
        _query_and_key,
        lambda Q, K, bandwidth: -squared_distance(Q, K) / (2 * bandwidth**2),
        "loop over keys",
        {"bandwidth": (0.5, 1.0, 3.0)},
    ),
    Case(
        "multiplicative_scores",
        "batch n_q n_k d_q d_k",
        lambda s, r: _two_widths(s, r) | {"W": r(s.d_q, s.d_k)},
        lambda Q, K, W: torch.einsum("...ie,ef,...jf->...ij", Q, W, K),
        "torch.einsum",
    ),
    Case(
        "additive_scores",
        "batch n_q n_k d_q d_k d_a",
        _additive,
        _additive_by_loops,
        "loop over pairs",
    ),
    Case(
        "additive_scores_concatenated",
        "batch n_q n_k d_q d_k d_a",
        _additive_concatenated,
        _concatenated_by_loops,
        "loop over pairs",
    ),
    Case("score_variance", "d>0", _symmetric, _second_moment_less_square_of_mean, "second moments"),
]


def _truth(rule):
    """A judge of masks: a truth table filled from a rule in plain Python."""

    def judge(n_q, n_k, like, **options):
        table = [[rule(i, j, n_q, n_k, **options) for j in range(n_k)] for i in range(n_q)]
        return torch.tensor(table, dtype=torch.bool).reshape(n_q, n_k)

    return judge


def _mask_case(name, rule, **options):
    return Case(
        name,
        "n_q n_k",
        lambda s, r: {"n_q": s.n_q, "n_k": s.n_k},
        _truth(rule),
        "truth table",
        options,
        differentiable=False,
        takes_like=True,
    )


def _sum_of_logs_mask(scores, attn_mask):
    if attn_mask is None:
        return scores
    return (
        scores + attn_mask.to(scores.dtype).log()
        if attn_mask.dtype == torch.bool
        else scores + attn_mask
    )


def _dropout_by_torch(weights, p, seed):
    kept = torch.from_numpy(np.asarray(np.random.default_rng(seed).random(weights.shape) >= p))
    return torch.ops.aten.native_dropout_backward(weights, kept, 1 / (1 - p))


def _scores_and_mask(s, r):
    shape = (*s.batch, s.n_q, s.n_k)
    mask = r.bools(s.n_q, s.n_k) if s.seed_bit else r(*s.batch, 1, s.n_k)
    return {"scores": r(*shape), "attn_mask": mask}


MASKS = [
    _mask_case("causal_from_start", lambda i, j, n_q, n_k: j <= i),
    _mask_case("causal_to_end", lambda i, j, n_q, n_k: n_q - i <= n_k - j),
    _mask_case(
        "sliding_window",
        lambda i, j, n_q, n_k, left, right: j in range(i - left, i + right + 1),
        left=(0, 1, 3),
        right=(0, 2),
    ),
    _mask_case(
        "same_block",
        lambda i, j, n_q, n_k, size: divmod(i, size)[0] == divmod(j, size)[0],
        size=(1, 2, 3),
    ),
    _mask_case(
        "strided_causal",
        lambda i, j, n_q, n_k, stride: j <= i and (i < j + stride or i % stride == j % stride),
        stride=(1, 2, 3),
    ),
    _mask_case("global_tokens", lambda i, j, n_q, n_k, count: min(i, j) < count, count=(0, 1, 2)),
    Case(
        "not_padding",
        "b n_k",
        lambda s, r: {"lengths": r.rng.integers(0, s.n_k + 1, s.b).tolist(), "n_k": s.n_k},
        lambda lengths, n_k, like: torch.tensor(
            [[[True] * length + [False] * (n_k - length)] for length in lengths], dtype=torch.bool
        ).reshape(len(lengths), 1, n_k),
        "truth table",
        differentiable=False,
        takes_like=True,
    ),
    Case(
        "additive_mask",
        "batch n_q n_k",
        lambda s, r: {"may_attend": r.bools(*s.batch, s.n_q, s.n_k)},
        lambda may_attend, like: may_attend.to(like.dtype).log(),
        "torch.log",
        differentiable=False,
        takes_like=True,
    ),
    Case(
        "boolean_mask",
        "batch n",
        lambda s, r: {"additive": _with_hidden(s, r)["x"]},
        lambda additive: ~additive.isneginf(),
        "torch.isneginf",
        differentiable=False,
    ),
    Case(
        "dropout",
        "batch n_q n_k",
        lambda s, r: {"weights": r(*s.batch, s.n_q, s.n_k)},
        _dropout_by_torch,
        "torch native_dropout, same draws",
        {"p": (0.0, 0.25, 0.5), "seed": (0, 7)},
    ),
    Case(
        "mask_scores",
        "batch n_q n_k seed_bit",
        _scores_and_mask,
        _sum_of_logs_mask,
        "logarithm of the mask, added",
        differentiable=False,
    ),
]
