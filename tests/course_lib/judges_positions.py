"""Judges of positions, masks shuffled along, and kernels."""

import cmath
import math

import torch
import torch.nn.functional as F

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


def _heat_by_waves(n, bandwidth, like):
    """Sum over waves instead of images: both sides of Poisson's formula."""
    angle = 2 * math.pi / n * (torch.arange(n).unsqueeze(1) - torch.arange(n)).double()
    waves = [math.exp(-((k * bandwidth) ** 2) / 2) * torch.cos(k * angle) for k in range(1, 60)]
    return F.normalize(1 + 2 * sum(waves), p=1, dim=-1).to(like.dtype)


KERNELS = [
    Case(
        "heat_kernel_on_circle",
        "n>0",
        lambda s, r: {"n": s.n},
        _heat_by_waves,
        "sum over waves",
        {"bandwidth": (0.3, 1.0, 2.5)},
        differentiable=False,
        takes_like=True,
    ),
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
