r"""Symmetry and position: what shuffling does, and what tells one place from another."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from array_api_compat import device
from jaxtyping import Bool, Float

from course_lib._door import Array, as_like, check, enter, leave, shape_of


def permutation_matrix(
    order: Sequence[int], like: Float[Array, "..."] | None = None
) -> Float[Array, "n n"]:
    r"""The matrix that puts row `order[i]` of whatever it multiplies into place i.

    $P_{ij} = [\,j = \pi(i)\,]$, so that $(PX)_i = X_{\pi(i)}$  -- Eq. (7.1).
    """
    order = list(order)
    check(
        sorted(order) == list(range(len(order))),
        f"order is {order}; expected each number from 0 to {len(order) - 1} once",
    )
    P = np.eye(len(order))[order] if order else np.eye(0)
    return as_like(P, like)


def permute_mask(
    may_attend: Bool[Array, "*batch n n"], order: Sequence[int]
) -> Bool[Array, "*batch n n"]:
    r"""Shuffle a mask along with its tokens, queries and keys alike.

    $P M P^\top$, so that $\mathrm{SA}_{PMP^\top}(PX) = P\, \mathrm{SA}_M(X)$  -- Eq. (7.2).
    """
    xp, _, may_attend = enter(permute_mask, may_attend=may_attend)
    n = may_attend.shape[-1]
    check(sorted(order) == list(range(n)), f"order is {order}; expected each of 0 to {n - 1} once")
    index = xp.asarray(list(order), dtype=xp.int64, device=device(may_attend))
    return xp.take(xp.take(may_attend, index, axis=-1), index, axis=-2)


def sinusoidal_positions(
    n: int, d_model: int, like: Float[Array, "..."] | None = None, base: float = 10_000.0
) -> Float[Array, "n d_model"]:
    r"""Give each place a row of sines and cosines, from fast to slow.

    $\mathrm{PE}_{p,2i} = \sin(p/b^{2i/d})$, $\mathrm{PE}_{p,2i+1} = \cos(p/b^{2i/d})$
    -- Eq. (7.3); Vaswani et al. 2017, Sec. 3.5.
    """
    _must_be_even(d_model)
    check(n >= 0, f"n is {n}; expected 0 or more")
    angles = np.arange(n)[:, None] * _frequencies(d_model, base)
    rows = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, d_model)
    return as_like(rows, like)


def sinusoid_shift(
    offset: float, d_model: int, like: Float[Array, "..."] | None = None, base: float = 10_000.0
) -> Float[Array, "d_model d_model"]:
    r"""The matrix that moves every place by the same offset, wherever it starts.

    $\mathrm{PE}_{p+k} = \mathrm{PE}_p R_k$ with 2 by 2 rotations along the diagonal of $R_k$
    -- Eq. (7.4).
    """
    _must_be_even(d_model)
    R = np.zeros((d_model, d_model))
    angles = offset * _frequencies(d_model, base)
    sine, cosine = np.arange(0, d_model, 2), np.arange(1, d_model, 2)
    R[sine, sine] = R[cosine, cosine] = np.cos(angles)
    R[cosine, sine], R[sine, cosine] = np.sin(angles), -np.sin(angles)
    return as_like(R, like)


def rotary(
    X: Float[Array, "*batch n d_k"],
    start: int = 0,
    layout: Literal["pairs", "halves"] = "pairs",
    base: float = 10_000.0,
) -> Float[Array, "*batch n d_k"]:
    r"""Turn queries or keys by angles that grow with their place; scores then see the offset only.

    $(x_{2i}, x_{2i+1}) \leftarrow (x_{2i}\cos p\theta_i - x_{2i+1}\sin p\theta_i,\;
    x_{2i}\sin p\theta_i + x_{2i+1}\cos p\theta_i)$, $\theta_i = b^{-2i/d}$  -- Eq. (7.5);
    Su et al. 2021, Eq. (34).

    Row i stands at place `start` + i. "pairs" turns neighbours, as in the paper; "halves" turns
    feature i with i + d/2, as many released models do. Weights made for one do not fit the other.
    """
    xp, dtype, X = enter(rotary, X=X)
    n, d_k = X.shape[-2:]
    check(
        d_k % 2 == 0,
        f"X has shape {shape_of(X)}, so d_k = {d_k}; expected an even number, two for each angle",
    )
    check(layout in ("pairs", "halves"), f"layout is {layout!r}; expected 'pairs' or 'halves'")
    angles = np.arange(start, start + n)[:, None] * _frequencies(d_k, base)
    cos, sin = (xp.asarray(f(angles), dtype=X.dtype, device=device(X)) for f in (np.cos, np.sin))
    halves = layout == "halves"
    x, y = (X[..., : d_k // 2], X[..., d_k // 2 :]) if halves else (X[..., ::2], X[..., 1::2])
    turned = (x * cos - y * sin, x * sin + y * cos)
    if halves:
        return leave(xp.concat(turned, axis=-1), dtype)
    return leave(xp.reshape(xp.stack(turned, axis=-1), X.shape), dtype)


def alibi_bias(
    heads: int, n_q: int, n_k: int, start: int = 0, like: Float[Array, "..."] | None = None
) -> Float[Array, "heads n_q n_k"]:
    r"""A penalty on distance, steep in the first head and gentle in the last; added to the scores.

    $B^{(h)}_{ij} = -2^{-8h/H}\, |i - j|$ for $h = 1, \dots, H$  -- Eq. (7.6); Press, Smith
    and Lewis 2021, Sec. 3.

    Query row 0 stands at place `start`. It hides nothing: a causal mask is to be added.
    """
    check(heads > 0, f"heads is {heads}; expected at least 1")
    check(n_q >= 0 and n_k >= 0, f"n_q is {n_q} and n_k {n_k}; expected 0 or more")
    slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    distance = np.abs(start + np.arange(n_q)[:, None] - np.arange(n_k))
    bias = -slopes[:, None, None] * distance
    return as_like(bias, like)


def _frequencies(d: int, base: float) -> Float[np.ndarray, " half"]:
    return base ** (-np.arange(0, d, 2) / max(d, 1))


def _must_be_even(d_model: int) -> None:
    check(
        d_model >= 0 and d_model % 2 == 0,
        f"d_model is {d_model}; expected an even number, a sine and a cosine for each angle",
    )
