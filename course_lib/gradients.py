r"""Gradients by hand: each function pulls a gradient at the output back to the inputs."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from jaxtyping import Float

from course_lib._door import Array, check, enter, leave, shape_of
from course_lib.attention import Mask, attention_with_weights, enter_attention
from course_lib.scoring import scale_or_default
from course_lib.softmax_family import softmax_vjp


def attention_vjp(
    query: Float[Array, "... n_q d_k"],
    key: Float[Array, "... n_k d_k"],
    value: Float[Array, "... n_k d_v"],
    cotangent: Float[Array, "... n_q d_v"],
    attn_mask: Mask = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Float[Array, "... n_q d_k"], Float[Array, "... n_k d_k"], Float[Array, "... n_k d_v"]]:
    r"""Gradients of $\langle u, \mathrm{Attention}(Q, K, V)\rangle$ at query, key and value.

    $dV = A^\top u$, $dS = A \odot (dA - \mathrm{rowsum}(A \odot dA))$ with $dA = u V^\top$,
    $dQ = dS\,K/\sqrt{d_k}$, $dK = dS^\top Q/\sqrt{d_k}$  -- Eq. (11.5).

    `cotangent` is $u = \partial L/\partial O$. Hidden keys and values get exactly zero.
    """
    xp, dtype, Q, K, V, u = enter_vjp(query, key, value, cotangent, attn_mask, enable_gqa)
    scale = scale_or_default(scale, K)
    _, A = attention_with_weights(Q, K, V, attn_mask, 0.0, is_causal, scale)
    dS = softmax_vjp(A, xp.matmul(u, V.mT))
    dQ, dK = xp.matmul(dS, K) * scale, xp.matmul(dS.mT, Q) * scale
    dV = xp.matmul(A.mT, u)
    return leave_vjp(dtype, (dQ, query), (dK, key), (dV, value))


def reversed_attention(
    query: Float[Array, "... n_q d_k"],
    key: Float[Array, "... n_k d_k"],
    value: Float[Array, "... n_k d_v"],
    cotangent: Float[Array, "... n_q d_v"],
    attn_mask: Mask = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Float[Array, "... n_q n_k"]:
    r"""The gradient at the scores, a table like the weights but with both signs and rows of sum 0.

    $R = dS = A \odot (uV^\top - \mathrm{rowsum}(A \odot uV^\top))$  -- Eq. (11.5); named by Katz
    and Wolf 2024.

    It is the gradient at an added mask too; the factor $1/\sqrt{d_k}$ stays outside.
    """
    xp, dtype, Q, K, V, u = enter_vjp(query, key, value, cotangent, attn_mask, False)
    _, A = attention_with_weights(Q, K, V, attn_mask, 0.0, is_causal, scale)
    return leave(softmax_vjp(A, xp.matmul(u, V.mT)), dtype)


def projection_vjp(
    X: Float[Array, "*batch n d_in"],
    W: Float[Array, "d_in d_out"],
    cotangent: Float[Array, "*batch n d_out"],
) -> tuple[Float[Array, "*batch n d_in"], Float[Array, "d_in d_out"], Float[Array, " d_out"]]:
    r"""Gradients of a projection $XW + b$ at tokens, matrix and bias.

    $dX = u W^\top$, $dW = X^\top u$, $db = 1^\top u$  -- Eq. (11.2).
    """
    xp, dtype, X, W, u = enter(projection_vjp, X=X, W=W, cotangent=cotangent)
    tokens, upstream = _as_one_sequence(xp, X), _as_one_sequence(xp, u)
    dX, dW, db = xp.matmul(u, W.mT), xp.matmul(tokens.mT, upstream), xp.sum(upstream, axis=0)
    return leave(dX, dtype), leave(dW, dtype), leave(db, dtype)


def central_difference(
    f: Callable[[Array], Array],
    x: Float[Array, "..."],
    direction: Float[Array, "..."],
    step: float | None = None,
) -> Float[Array, "..."]:
    r"""Estimate how f changes at x in a direction: the judge that knows no calculus.

    $(f(x + h\,d) - f(x - h\,d)) / 2h$  -- Eq. (11.6).

    The default step is the cube root of the dtype's precision, where the error of the formula
    ($h^2$) and that of rounding ($\epsilon/h$) meet.
    """
    xp, dtype, x, direction = enter(central_difference, x=x, direction=direction)
    check(
        shape_of(direction) == shape_of(x),
        f"direction has shape {shape_of(direction)}; expected that of x, {shape_of(x)}",
    )
    step = float(xp.finfo(x.dtype).eps) ** (1 / 3) if step is None else step
    check(step > 0, f"step is {step}; expected a positive number")
    return leave((f(x + step * direction) - f(x - step * direction)) / (2 * step), dtype)


def numerical_gradient(
    f: Callable[[Array], Array], x: Float[Array, "..."], step: float | None = None
) -> Float[Array, "..."]:
    r"""Gradient of a number-valued f at x, one central difference for each entry of x.

    $g_i = (f(x + h e_i) - f(x - h e_i)) / 2h$  -- Eq. (11.6).
    """
    xp, dtype, x = enter(numerical_gradient, x=x)
    size = math.prod(x.shape)
    directions = xp.reshape(xp.eye(size, dtype=x.dtype, device=device(x)), (size, *x.shape))
    slopes = [central_difference(f, x, directions[i, ...], step) for i in range(size)]
    gradient = xp.reshape(xp.stack(slopes), x.shape) if slopes else xp.zeros_like(x)
    return leave(gradient, dtype)


def enter_vjp(
    query: Array, key: Array, value: Array, cotangent: Array, attn_mask: Mask, enable_gqa: bool
) -> tuple[Any, ...]:
    """Check and prepare what all backward passes of attention take."""
    xp, dtype, _, _, _, u = enter(
        attention_vjp, query=query, key=key, value=value, cotangent=cotangent
    )
    _, _, Q, K, V = enter_attention(query, key, value, attn_mask, enable_gqa)
    batch = np.broadcast_shapes(*(x.shape[:-2] for x in (Q, K, V)))
    output_shape = (*batch, *u.shape[-2:])
    check(
        shape_of(u) == output_shape,
        f"cotangent has shape {shape_of(u)}; expected the shape of the output, {output_shape}",
    )
    Q, K, V = (xp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (Q, K, V))
    return xp, dtype, Q, K, V, u


def leave_vjp(dtype: Any, *gradients: tuple[Array, Array]) -> tuple[Array, ...]:
    """Return each gradient in the shape of its input: summed over what was broadcast or shared."""
    return tuple(leave(_sum_to_shape(dx, x.shape), dtype) for dx, x in gradients)


def _sum_to_shape(dx: Array, shape: tuple[int, ...]) -> Array:
    xp = array_namespace(dx)
    dx = xp.sum(dx, axis=tuple(range(dx.ndim - len(shape)))) if dx.ndim > len(shape) else dx
    for axis, size in enumerate(shape):
        if dx.shape[axis] != size:  # each entry of the input was used by neighbours here
            users = (*dx.shape[:axis], size, dx.shape[axis] // size, *dx.shape[axis + 1 :])
            dx = xp.sum(xp.reshape(dx, users), axis=axis + 1)
    return dx


def _as_one_sequence(xp: Any, X: Array) -> Array:
    return xp.reshape(X, (math.prod(X.shape[:-1]), X.shape[-1]))
