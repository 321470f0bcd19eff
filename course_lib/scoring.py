r"""Scores: how well a key fits a query, for every pair of the two."""

import math
from typing import Any

import numpy as np
from array_api_compat import array_namespace
from jaxtyping import Float

from course_lib._door import Array, check, enter, leave, shape_of


def dot_scores(
    Q: Float[Array, "*#batch n_q d_k"], K: Float[Array, "*#batch n_k d_k"]
) -> Float[Array, "*batch n_q n_k"]:
    r"""Score each pair by the dot product.

    $S_{ij} = q_i \cdot k_j = |q_i|\,|k_j| \cos\theta_{ij}$  -- Eq. (1.2).
    """
    xp, dtype, Q, K = enter(dot_scores, Q=Q, K=K)
    return leave(xp.matmul(Q, K.mT), dtype)


def scaled_dot_scores(
    Q: Float[Array, "*#batch n_q d_k"],
    K: Float[Array, "*#batch n_k d_k"],
    scale: float | None = None,
) -> Float[Array, "*batch n_q n_k"]:
    r"""Score each pair by the dot product over the root of the key's width.

    $S = Q K^\top / \sqrt{d_k}$  -- Eq. (1.3); Vaswani et al. 2017, inside Eq. (1).

    Another `scale` takes the place of $1/\sqrt{d_k}$; keys of width 0 score 0.
    """
    xp, dtype, Q, K = enter(scaled_dot_scores, Q=Q, K=K)
    return leave(xp.matmul(Q, K.mT) * scale_or_default(scale, K), dtype)


def cosine_scores(
    Q: Float[Array, "*#batch n_q d_k"], K: Float[Array, "*#batch n_k d_k"]
) -> Float[Array, "*batch n_q n_k"]:
    r"""Score each pair by the cosine of its angle, whatever the lengths.

    $S_{ij} = \frac{q_i}{|q_i|} \cdot \frac{k_j}{|k_j|}$  -- Eq. (1.4).

    A zero vector has no angle and scores 0 with every other.
    """
    xp, dtype, Q, K = enter(cosine_scores, Q=Q, K=K)
    return leave(xp.matmul(_unit_rows(xp, Q), _unit_rows(xp, K).mT), dtype)


def gaussian_scores(
    Q: Float[Array, "*#batch n_q d_k"],
    K: Float[Array, "*#batch n_k d_k"],
    bandwidth: float = 1.0,
) -> Float[Array, "*batch n_q n_k"]:
    r"""Score each pair by its distance, so that softmax gives Gaussian weights.

    $S_{ij} = -|q_i - k_j|^2 / (2 s^2)$ with bandwidth $s$  -- Eq. (1.5).
    """
    xp, dtype, Q, K = enter(gaussian_scores, Q=Q, K=K)
    check(bandwidth > 0, f"bandwidth is {bandwidth}; expected a positive number")
    difference = Q[..., :, None, :] - K[..., None, :, :]
    return leave(-xp.sum(difference**2, axis=-1) / (2 * bandwidth**2), dtype)


def multiplicative_scores(
    Q: Float[Array, "*#batch n_q d_q"],
    K: Float[Array, "*#batch n_k d_k"],
    W: Float[Array, "d_q d_k"],
) -> Float[Array, "*batch n_q n_k"]:
    r"""Score each pair by a learned bilinear form; query and key may differ in width.

    $S = Q W K^\top$  -- Eq. (1.6); `general` in Luong, Pham and Manning 2015.
    """
    xp, dtype, Q, K, W = enter(multiplicative_scores, Q=Q, K=K, W=W)
    return leave(xp.matmul(xp.matmul(Q, W), K.mT), dtype)


def additive_scores(
    Q: Float[Array, "*#batch n_q d_q"],
    K: Float[Array, "*#batch n_k d_k"],
    W_Q: Float[Array, "d_q d_a"],
    W_K: Float[Array, "d_k d_a"],
    v: Float[Array, " d_a"],
    b: Float[Array, " d_a"] | None = None,
) -> Float[Array, "*batch n_q n_k"]:
    r"""Score each pair by a small network with one hidden layer of width d_a.

    $S_{ij} = v \cdot \tanh(q_i W_Q + k_j W_K + b)$  -- Eq. (1.7); Bahdanau, Cho and Bengio 2014.

    No score exceeds $\sum |v|$. Without the bias the score is odd in $(q, k)$.
    """
    xp, dtype, Q, K, W_Q, W_K, v, b = enter(additive_scores, Q=Q, K=K, W_Q=W_Q, W_K=W_K, v=v, b=b)
    asked, offered = xp.matmul(Q, W_Q), xp.matmul(K, W_K)
    hidden = asked[..., :, None, :] + offered[..., None, :, :]
    return leave(xp.matmul(xp.tanh(hidden if b is None else hidden + b), v), dtype)


def additive_scores_concatenated(
    Q: Float[Array, "*#batch n_q d_q"],
    K: Float[Array, "*#batch n_k d_k"],
    W: Float[Array, "d_q+d_k d_a"],
    v: Float[Array, " d_a"],
    b: Float[Array, " d_a"] | None = None,
) -> Float[Array, "*batch n_q n_k"]:
    r"""The additive score in its other written form: query and key side by side, one matrix.

    $S_{ij} = v \cdot \tanh([q_i, k_j] W + b)$  -- Eq. (1.8); `concat` in Luong et al. 2015.

    Equal to Eq. (1.7) with $W_Q$ above $W_K$ in $W$.
    """
    xp, dtype, Q, K, W, v, b = enter(additive_scores_concatenated, Q=Q, K=K, W=W, v=v, b=b)
    d_q, d_k = Q.shape[-1], K.shape[-1]
    check(
        W.shape[0] == d_q + d_k,
        f"W has shape {shape_of(W)}; expected d_q + d_k = {d_q} + {d_k} rows, one for each feature",
    )
    batch = np.broadcast_shapes(Q.shape[:-2], K.shape[:-2])
    pairs = (*batch, Q.shape[-2], K.shape[-2])
    asked = xp.broadcast_to(Q[..., :, None, :], (*pairs, d_q))
    offered = xp.broadcast_to(K[..., None, :, :], (*pairs, d_k))
    hidden = xp.matmul(xp.concat([asked, offered], axis=-1), W)
    return leave(xp.matmul(xp.tanh(hidden if b is None else hidden + b), v), dtype)


def score_variance(
    mu_q: Float[Array, " d"],
    Sigma_q: Float[Array, "d d"],
    mu_k: Float[Array, " d"],
    Sigma_k: Float[Array, "d d"],
) -> Float[Array, ""]:
    r"""Exact variance of a scaled score of independent q and k with these means and covariances.

    $\mathrm{Var}[q \cdot k/\sqrt d] = \frac1d\left(\mathrm{tr}(\Sigma_q \Sigma_k) +
    \mu_q \Sigma_k \mu_q^\top + \mu_k \Sigma_q \mu_k^\top\right)$  -- Exercise 4.3.
    """
    xp, dtype, mu_q, Sigma_q, mu_k, Sigma_k = enter(
        score_variance, mu_q=mu_q, Sigma_q=Sigma_q, mu_k=mu_k, Sigma_k=Sigma_k
    )
    check(mu_q.shape[0] > 0, f"mu_q has shape {shape_of(mu_q)}; expected at least one feature")
    spread = xp.sum(Sigma_q * Sigma_k.mT)  # the trace of the product, without the product
    shift = xp.sum(xp.matmul(Sigma_k, mu_q) * mu_q) + xp.sum(xp.matmul(Sigma_q, mu_k) * mu_k)
    return leave((spread + shift) / mu_q.shape[0], dtype)


def scale_or_default(scale: float | None, K: Array) -> float:
    """Return the scale given, or one over the root of d_k."""
    return 1 / math.sqrt(max(K.shape[-1], 1)) if scale is None else scale


def root(squared: Array) -> Array:
    """Square root whose slope at 0 is 0, as that of torch's norms: autograd gets past it."""
    xp = array_namespace(squared)
    nothing = squared <= 0
    return xp.where(nothing, 0.0, xp.sqrt(xp.where(nothing, 1.0, squared)))


def _unit_rows(xp: Any, X: Array) -> Array:
    squared = xp.sum(X**2, axis=-1, keepdims=True)
    return X / xp.sqrt(xp.where(squared == 0, 1.0, squared))
