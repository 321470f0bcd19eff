"""Judges of dynamics and of the measures of reading."""

import torch
import torch.nn.functional as F

from tests.course_lib.cases import Case
from tests.course_lib.checked import course_lib

MultiHeadWeights = course_lib.MultiHeadWeights


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


def _with_one_visible(s, r):
    x = r(*s.batch, s.n)
    hidden = ~r.bools(*s.batch, s.n)
    hidden[..., 0] = False
    x[hidden] = -torch.inf
    return {"x": x}


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
        "n d>0",
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
        "batch n>0 d",
        lambda s, r: {"X": r(*s.batch, s.n, s.d)},
        lambda X: (
            torch.linalg.matrix_norm(X - X.mean(-2, keepdim=True)) / torch.linalg.matrix_norm(X)
        ).nan_to_num(0),
        "torch.linalg.matrix_norm",
        differentiable=False,
    ),
    Case(
        "hopfield_update",
        "batch n_q n d",
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
        _with_one_visible,
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
        "batch n_q>0 n_k",
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
        "batch n_q n_k d_v",
        lambda s, r: {
            "weights": r.weights(*s.batch, s.n_q, s.n_k),
            "values": r(*s.batch, s.n_k, s.d_v),
        },
        lambda weights, values: torch.linalg.vector_norm(values, dim=-1).unsqueeze(-2) * weights,
        "torch.linalg.vector_norm",
    ),
]
