r"""Masks: who may look at whom. True means may attend; an additive mask holds 0 and $-\infty$."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device, is_torch_array
from jaxtyping import Bool, Float

from course_lib._door import (
    Array,
    check,
    enter,
    leave,
    must_be_of_one_library,
    name_of,
    shape_of,
)


def causal_from_start(n_q: int, n_k: int, like: Array = None) -> Bool[Array, "n_q n_k"]:
    r"""Query i sees keys 0 to i: the first query stands beside the first key, as in torch.

    $M_{ij} = [\,j \le i\,]$  -- Exercise 5.1.
    """
    i, j = _positions(n_q, n_k, like)
    return j <= i


def causal_to_end(n_q: int, n_k: int, like: Array = None) -> Bool[Array, "n_q n_k"]:
    r"""The last query sees all keys: the queries are the end of the keys, as in decoding.

    $M_{ij} = [\,j \le i + n_k - n_q\,]$  -- Exercise 5.1.
    """
    i, j = _positions(n_q, n_k, like)
    return j <= i + (n_k - n_q)


def sliding_window(
    n_q: int, n_k: int, left: int, right: int = 0, like: Array = None
) -> Bool[Array, "n_q n_k"]:
    r"""Query i sees `left` keys before its own place and `right` after it.

    $M_{ij} = [\,-\mathrm{left} \le j - i \le \mathrm{right}\,]$  -- Eq. (9.15).
    """
    check(left >= 0 and right >= 0, f"left is {left} and right {right}; expected 0 or more")
    i, j = _positions(n_q, n_k, like)
    return (j >= i - left) & (j <= i + right)


def same_block(n_q: int, n_k: int, size: int, like: Array = None) -> Bool[Array, "n_q n_k"]:
    r"""Query i sees the keys of its own chunk and nothing beyond its border.

    $M_{ij} = [\,\lfloor i/b \rfloor = \lfloor j/b \rfloor\,]$ for chunks of size $b$
    -- Eq. (9.16).
    """
    check(size > 0, f"size is {size}; expected at least 1")
    i, j = _positions(n_q, n_k, like)
    return i // size == j // size


def strided_causal(n_q: int, n_k: int, stride: int, like: Array = None) -> Bool[Array, "n_q n_k"]:
    r"""Query i sees the `stride` keys up to itself and before them one key in every stride.

    $M_{ij} = [\,j \le i\,]\,[\,i - j < s \ \text{or}\ i \equiv j \bmod s\,]$  -- Eq. (9.1);
    Child et al. 2019.
    """
    check(stride > 0, f"stride is {stride}; expected at least 1")
    i, j = _positions(n_q, n_k, like)
    return (j <= i) & ((i - j < stride) | ((i - j) % stride == 0))


def global_tokens(n_q: int, n_k: int, count: int, like: Array = None) -> Bool[Array, "n_q n_k"]:
    r"""The first tokens see all and are seen by all; to be joined to a window by `|`.

    $M_{ij} = [\,i < g \ \text{or}\ j < g\,]$  -- Eq. (9.2); Beltagy, Peters and Cohan 2020.
    """
    check(count >= 0, f"count is {count}; expected 0 or more")
    i, j = _positions(n_q, n_k, like)
    return (i < count) | (j < count)


def not_padding(lengths: Sequence[int], n_k: int, like: Array = None) -> Bool[Array, "batch 1 n_k"]:
    r"""Every query of sequence b sees its first `lengths[b]` keys; the rest are padding.

    $M_{b1j} = [\,j < \ell_b\,]$  -- Chapter 5.
    """
    wrong = [length for length in lengths if not 0 <= length <= n_k or length % 1]
    check(not wrong, f"lengths holds {wrong[:1]}; expected whole numbers from 0 to n_k = {n_k}")
    xp, where = _library_of(like)
    ends = xp.asarray(list(lengths), dtype=xp.int64, device=where)
    return xp.arange(n_k, device=where) < ends[:, None, None]


def all_of(*masks: Bool[Array, "..."] | None) -> Bool[Array, "..."] | None:
    r"""May attend only where every mask allows it; None allows everything.

    $M = M_1 \wedge M_2 \wedge \dots$  -- Chapter 5.
    """
    given = [mask for mask in masks if mask is not None]
    for mask in given:
        enter(all_of, masks=mask)
    return functools.reduce(lambda a, b: a & b, given) if given else None


def additive_mask(may_attend: Bool[Array, "..."], like: Float[Array, "..."]) -> Float[Array, "..."]:
    r"""Turn a boolean mask into numbers to be added to scores, in the dtype of `like`.

    $0$ where $M_{ij}$, $-\infty$ elsewhere  -- Eq. (5.1).
    """
    xp, dtype, may_attend, like = enter(additive_mask, may_attend=may_attend, like=like)
    nothing = xp.zeros(may_attend.shape, dtype=dtype, device=device(like))
    return xp.where(may_attend, nothing, -math.inf)


def boolean_mask(additive: Float[Array, "..."]) -> Bool[Array, "..."]:
    r"""Turn an additive mask back: a key may be attended unless $-\infty$ is added to it.

    $M_{ij} = [\,B_{ij} \ne -\infty\,]$  -- Eq. (5.1).

    Finite numbers are lost: a bias is no mask.
    """
    _, _, additive = enter(boolean_mask, additive=additive)
    return additive != -math.inf


def mask_scores(
    scores: Float[Array, "*#batch n_q n_k"],
    attn_mask: Bool[Array, "..."] | Float[Array, "..."] | None,
) -> Float[Array, "*batch n_q n_k"]:
    r"""Hide keys from queries: a boolean mask sets $-\infty$, a mask of numbers is added.

    $S_{ij} + B_{ij}$, or $S_{ij}$ where $M_{ij}$ and $-\infty$ elsewhere  -- Eq. (5.1);
    Vaswani et al. 2017, Sec. 3.2.3.

    A hidden score is replaced, be it NaN; to a NaN, $-\infty$ is added in vain.
    """
    xp, dtype, scores = enter(mask_scores, scores=scores)
    if attn_mask is None:
        return scores
    check_mask(attn_mask, shape_of(scores), scores=scores)
    if xp.isdtype(attn_mask.dtype, "bool"):
        return leave(xp.where(attn_mask, scores, -math.inf), dtype)
    return leave(scores + xp.astype(attn_mask, scores.dtype, copy=False), dtype)


def dropout(
    weights: Float[Array, "*batch n_q n_k"], p: float, seed: int | None = None
) -> Float[Array, "*batch n_q n_k"]:
    r"""Set each weight to zero with probability p and stretch the others: the mean is kept.

    $\tilde a_{ij} = a_{ij} z_{ij} / (1 - p)$ with $P(z_{ij} = 1) = 1 - p$  -- Eq. (5.3).

    Rows no longer sum to one. Without a seed, torch tensors draw from torch's own generator.
    """
    xp, dtype, weights = enter(dropout, weights=weights)
    check(0 <= p <= 1, f"p is {p}; expected a probability from 0 to 1")
    if p in (0, 1):
        return leave(weights * (1 - p), dtype)
    if seed is None and is_torch_array(weights):
        draws = xp.rand(weights.shape, device=device(weights))
    else:
        draws = np.random.default_rng(seed).random(weights.shape)
        draws = xp.asarray(draws, device=device(weights))
    return leave(xp.where(draws >= p, weights / (1 - p), 0.0), dtype)


def check_mask(
    mask: Array, scores_shape: tuple[int, ...], name: str = "attn_mask", **beside: Array
) -> None:
    """Raise unless the mask holds booleans or floats and fits over the table of scores."""
    must_be_of_one_library(beside | {name: mask})
    if not array_namespace(mask).isdtype(mask.dtype, ("bool", "real floating")):
        raise TypeError(
            f"{name} of shape {shape_of(mask)} has dtype {name_of(mask.dtype)}; expected bool (True"
            f" may attend) or a float (added to the scores): write {name} == 1 or {name} == 0 as"
            " you mean it"
        )
    try:
        fits = np.broadcast_shapes(mask.shape, scores_shape) == scores_shape
    except ValueError:
        fits = False
    check(
        fits,
        f"{name} has shape {shape_of(mask)}; expected one that broadcasts to the scores"
        f" {scores_shape}, queries in rows and keys in columns",
    )


def _library_of(like: Array) -> tuple[Any, Any]:
    if like is None:
        return array_namespace(np.empty(0)), None
    must_be_of_one_library({"like": like})
    return array_namespace(like), device(like)


def _positions(n_q: int, n_k: int, like: Array) -> tuple[Array, Array]:
    check(n_q >= 0 and n_k >= 0, f"n_q is {n_q} and n_k {n_k}; expected 0 or more")
    xp, where = _library_of(like)
    return xp.arange(n_q, device=where)[:, None], xp.arange(n_k, device=where)[None, :]
