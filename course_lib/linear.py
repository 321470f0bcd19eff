r"""Attention at a cost linear in the number of keys: another kernel, or a random one."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from course_lib._door import Array, as_like, check, enter, leave, shape_of


def elu_plus_one(X: Float[Array, "*batch n d"]) -> Float[Array, "*batch n d"]:
    r"""A positive feature for each coordinate.

    $\phi(x) = x + 1$ for $x > 0$ and $e^x$ otherwise  -- Eq. (9.9); Katharopoulos et al. 2020.
    """
    xp, dtype, X = enter(elu_plus_one, X=X)
    return leave(xp.where(X > 0, X + 1, xp.exp(xp.where(X > 0, 0.0, X))), dtype)


def linear_attention(
    query: Float[Array, "*#batch n_q d_k"],
    key: Float[Array, "*#batch n_k d_k"],
    value: Float[Array, "*#batch n_k d_v"],
    feature_map: Callable[[Array], Array] = elu_plus_one,
) -> Float[Array, "*batch n_q d_v"]:
    r"""Attention with the kernel $\phi(q) \cdot \phi(k)$: keys and values are summed up first.

    $o_i = \phi(q_i) \left(\sum_j \phi(k_j)^\top v_j\right) / \,\phi(q_i) \cdot \sum_j \phi(k_j)$
    -- Eq. (9.10); Katharopoulos et al. 2020, Eq. (5).

    Exact for its own kernel, which is not that of softmax. No key gives zeros.
    """
    xp, dtype, Q, K, V = enter(linear_attention, query=query, key=key, value=value)
    asked, offered = feature_map(Q), feature_map(K)
    summed = xp.matmul(offered.mT, V)
    total = xp.matmul(asked, xp.sum(offered, axis=-2)[..., :, None])
    return leave(_ratio(xp, xp.matmul(asked, summed), total), dtype)


def causal_linear_attention(
    query: Float[Array, "*batch n d_k"],
    key: Float[Array, "*batch n d_k"],
    value: Float[Array, "*batch n d_v"],
    feature_map: Callable[[Array], Array] = elu_plus_one,
) -> Float[Array, "*batch n d_v"]:
    r"""Linear attention to the past as a recurrence: one state, whatever the length.

    $S_i = S_{i-1} + \phi(k_i)^\top v_i$, $z_i = z_{i-1} + \phi(k_i)$,
    $o_i = \phi(q_i) S_i / \phi(q_i) \cdot z_i$  -- Eq. (9.11); Katharopoulos et al. 2020, Eq. (18).
    """
    xp, dtype, Q, K, V = enter(causal_linear_attention, query=query, key=key, value=value)
    asked, offered = feature_map(Q), feature_map(K)
    S, z, outputs = 0.0, 0.0, [V[..., :0, :]]
    for i in range(Q.shape[-2]):
        now = slice(i, i + 1)
        S = S + xp.matmul(offered[..., now, :].mT, V[..., now, :])
        z = z + offered[..., now, :]
        total = xp.sum(asked[..., now, :] * z, axis=-1, keepdims=True)
        outputs.append(_ratio(xp, xp.matmul(asked[..., now, :], S), total))
    return leave(xp.concat(outputs, axis=-2), dtype)


def random_directions(
    count: int, d: int, seed: int, like: Float[Array, "..."] | None = None
) -> Float[Array, "count d"]:
    r"""Draw the directions of random features: independent standard normal entries.

    $w_r \sim \mathcal N(0, I_d)$  -- Eq. (9.12).
    """
    draws = np.random.default_rng(seed).standard_normal((count, d))
    return as_like(draws, like)


def positive_random_features(
    X: Float[Array, "*batch n d"], directions: Float[Array, "m d"]
) -> Float[Array, "*batch n m"]:
    r"""Features whose dot product is $e^{x \cdot y}$ on average over the directions.

    $\phi(x)_r = e^{w_r \cdot x - |x|^2/2} / \sqrt{m}$  -- Eq. (9.13); Choromanski et al. 2020.

    Unbiased for the kernel, not for the ratio; the variance grows like $e^{|x + y|^2}$.
    """
    xp, dtype, X, W = enter(positive_random_features, X=X, directions=directions)
    check(W.shape[0] > 0, f"directions has shape {shape_of(W)}; expected at least one row")
    half_square = xp.sum(X**2, axis=-1, keepdims=True) / 2
    return leave(xp.exp(xp.matmul(X, W.mT) - half_square) / W.shape[0] ** 0.5, dtype)


def random_feature_attention(
    query: Float[Array, "*#batch n_q d_k"],
    key: Float[Array, "*#batch n_k d_k"],
    value: Float[Array, "*#batch n_k d_v"],
    directions: Float[Array, "m d_k"],
) -> Float[Array, "*batch n_q d_v"]:
    r"""Approximate softmax attention by linear attention with positive random features.

    Eq. (9.10) with $\phi(q/d_k^{1/4})$ from Eq. (9.13)  -- Eq. (9.14); Choromanski et al. 2020.
    """
    xp, dtype, Q, K, V, W = enter(
        random_feature_attention, query=query, key=key, value=value, directions=directions
    )
    root = max(K.shape[-1], 1) ** 0.25  # each side carries the root of 1/sqrt(d_k)
    features = linear_attention(Q / root, K / root, V, lambda X: positive_random_features(X, W))
    return leave(features, dtype)


def _ratio(xp: Any, weighted: Array, total: Array) -> Array:
    return weighted / xp.where(total == 0, 1.0, total)
