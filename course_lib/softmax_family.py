r"""Softmax and what belongs to it: its logarithm, temperature, derivative and entropy."""

import math
from typing import Any

from array_api_compat import array_namespace
from jaxtyping import Float

from course_lib._door import Array, check, check_axis, enter, leave


def softmax(x: Float[Array, "*rows n"], axis: int = -1) -> Float[Array, "*rows n"]:
    r"""Turn each row of scores into weights that are positive and sum to one.

    $\mathrm{softmax}(x)_j = e^{x_j - m} / \sum_i e^{x_i - m}$ with $m = \max_i x_i$  -- Eq. (3.3).

    A row of only $-\infty$ has no softmax: the result is NaN, as in torch.
    """
    xp, dtype, x = enter(softmax, x=x)
    check_axis("x", x, axis)
    shifted = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return leave(shifted / xp.sum(shifted, axis=axis, keepdims=True), dtype)


def softmax_or_zeros(x: Float[Array, "*rows n"]) -> Float[Array, "*rows n"]:
    r"""Softmax over the last axis in which a row of only $-\infty$ gets weights zero.

    $p_j = e^{x_j - m} / \max(\sum_i e^{x_i - m}, [\,m = -\infty\,])$  -- Exercise 5.4.

    This is the policy of all attention here for a query that may look at nothing.
    """
    xp, dtype, x = enter(softmax_or_zeros, x=x)
    if x.shape[-1] == 0:
        return leave(x, dtype)
    m = xp.max(x, axis=-1, keepdims=True)
    shifted = xp.exp(x - xp.where(m == -math.inf, 0.0, m))
    total = xp.sum(shifted, axis=-1, keepdims=True)
    return leave(shifted / xp.where(total == 0, 1.0, total), dtype)


def log_softmax(x: Float[Array, "*rows n"], axis: int = -1) -> Float[Array, "*rows n"]:
    r"""Logarithm of the softmax weights, finite where the weights themselves underflow to zero.

    $\log p_j = x_j - \mathrm{lse}(x)$  -- Eq. (3.2).
    """
    xp, dtype, x = enter(log_softmax, x=x)
    check_axis("x", x, axis)
    below = x - xp.max(x, axis=axis, keepdims=True)
    return leave(below - xp.log(xp.sum(xp.exp(below), axis=axis, keepdims=True)), dtype)


def logsumexp(x: Float[Array, "..."], axis: int = -1) -> Float[Array, "..."]:
    r"""Logarithm of the sum of exponentials of each row.

    $\mathrm{lse}(x) = m + \log \sum_i e^{x_i - m}$ with $m = \max_i x_i$  -- Eq. (3.2), shifted.

    A row of only $-\infty$ gives $-\infty$.
    """
    xp, dtype, x = enter(logsumexp, x=x)
    check_axis("x", x, axis)
    m = _finite_max(x, axis)
    total = xp.sum(xp.exp(x - m), axis=axis, keepdims=True)
    nothing = total == 0
    result = xp.where(nothing, -math.inf, m + xp.log(xp.where(nothing, 1.0, total)))
    return leave(xp.squeeze(result, axis=axis), dtype)


def softmax_at(x: Float[Array, "*rows n"], temperature: float) -> Float[Array, "*rows n"]:
    r"""Softmax of $x/t$ for every temperature from 0 to infinity, both ends included.

    $\mathrm{softmax}_t(x)_j = e^{(x_j - m)/t} / \sum_i e^{(x_i - m)/t}$  -- Eq. (3.4), shifted.

    At $t = 0$ the largest scores share the weight equally; at $t = \infty$ all but $-\infty$ do.
    """
    xp, dtype, x = enter(softmax_at, x=x)
    check_axis("x", x, -1)
    check(temperature >= 0, f"temperature is {temperature}; expected a number from 0 to infinity")
    gap = x - xp.max(x, axis=-1, keepdims=True)
    limits = xp.finfo(x.dtype)
    if temperature < float(limits.smallest_normal):
        return _shared_equally(gap == 0, dtype)
    if temperature > float(limits.max):
        return _shared_equally(gap > -math.inf, dtype)
    if temperature < 1:  # ten thousand temperatures below the top the weight is exactly zero
        gap = xp.where(gap < -1e4 * temperature, -1e4 * temperature, gap)
    return leave(softmax(gap / temperature), dtype)


def softmax_jacobian(p: Float[Array, "*rows n"]) -> Float[Array, "*rows n n"]:
    r"""Jacobian of softmax, one symmetric matrix per row, from the weights.

    $J = \mathrm{diag}(p) - p\,p^\top$  -- Eq. (3.5).
    """
    xp, dtype, p = enter(softmax_jacobian, p=p)
    column, row = p[..., :, None], p[..., None, :]
    identity = xp.eye(p.shape[-1], dtype=p.dtype, device=p.device)
    return leave(column * identity - column * row, dtype)


def softmax_vjp(p: Float[Array, "*rows n"], u: Float[Array, "*rows n"]) -> Float[Array, "*rows n"]:
    r"""Pull a gradient $u$ at the weights back to the scores, without forming the Jacobian.

    $J^\top u = p \odot (u - \langle p, u\rangle)$  -- Exercise 3.6.
    """
    xp, dtype, p, u = enter(softmax_vjp, p=p, u=u)
    return leave(p * (u - xp.sum(p * u, axis=-1, keepdims=True)), dtype)


def entropy(p: Float[Array, "*rows n"]) -> Float[Array, "*rows"]:
    r"""Entropy in nats of each row of weights: how far they are from a single choice.

    $H(p) = -\sum_j p_j \log p_j$ with $0 \log 0 = 0$  -- Eq. (3.7).
    """
    xp, dtype, p = enter(entropy, p=p)
    logs = xp.log(xp.where(p == 0, 1.0, p))
    return leave(0.0 - xp.sum(p * logs, axis=-1), dtype)


def entropy_of_scores(x: Float[Array, "*rows n"]) -> Float[Array, "*rows"]:
    r"""Entropy in nats of softmax(x), computed from the scores.

    $H = \log Z - \frac{1}{Z}\sum_j e^{d_j} d_j$ with $d_j = x_j - m$ and
    $Z = \sum_j e^{d_j}$  -- Exercise 3.8.

    Both terms are positive or zero, so the result is never below zero.
    """
    xp, dtype, x = enter(entropy_of_scores, x=x)
    check_axis("x", x, -1)
    gap = x - xp.max(x, axis=-1, keepdims=True)
    shifted = xp.exp(gap)
    gap = xp.where(gap == -math.inf, 0.0, gap)
    total = xp.sum(shifted, axis=-1)
    return leave(xp.log(total) - xp.sum(shifted * gap, axis=-1) / total, dtype)


def _finite_max(x: Array, axis: int) -> Array:
    """Largest entry of each row, 0 where it is infinite, so that x minus it is never NaN."""
    xp = array_namespace(x)
    largest = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isfinite(largest), largest, 0.0)


def _shared_equally(chosen: Array, dtype: Any) -> Array:
    xp = array_namespace(chosen)
    ones = xp.astype(chosen, dtype)
    return ones / xp.sum(ones, axis=-1, keepdims=True)
