r"""Attention: an average of values, weighted by how well their keys fit a query."""

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from course_lib._door import Array, check, enter, leave, shape_of
from course_lib.masks import causal_from_start, check_mask, dropout, mask_scores
from course_lib.scoring import gaussian_scores, scale_or_default, scaled_dot_scores
from course_lib.softmax_family import softmax_or_zeros

Mask = Bool[Array, "..."] | Float[Array, "..."] | None
"""Boolean: True may attend. Numbers: added to the scores. None: all is visible."""


def attend(
    Q: Float[Array, "*#batch n_q d_q"],
    K: Float[Array, "*#batch n_k d_k"],
    V: Float[Array, "*#batch n_k d_v"],
    score: Callable[[Array, Array], Array] = scaled_dot_scores,
    value_map: Callable[[Array], Array] | None = None,
    attn_mask: Mask = None,
) -> tuple[Float[Array, "... n_q d_o"], Float[Array, "... n_q n_k"]]:
    r"""Average the values with weights from any scoring function; return output and weights.

    $o_i = \sum_j \alpha_{ij}\, g(v_j)$ with $\alpha_i = \mathrm{softmax}(f(q_i, k_1), \dots,
    f(q_i, k_n))$  -- Eq. (1.1).

    `score` is $f$ for all pairs at once; `value_map` is $g$, the identity if not given.
    """
    xp, dtype, Q, K, V = enter(attend, Q=Q, K=K, V=V)
    weights = softmax_or_zeros(mask_scores(score(Q, K), attn_mask))
    output = xp.matmul(weights, V if value_map is None else value_map(V))
    return leave(output, dtype), leave(weights, dtype)


def nadaraya_watson(
    at: Float[Array, "*#batch n_q d"],
    points: Float[Array, "*#batch n_k d"],
    values: Float[Array, "*#batch n_k d_v"],
    bandwidth: float,
) -> Float[Array, "*batch n_q d_v"]:
    r"""Estimate a function between the points where it is known: attention with Gaussian scores.

    $\hat f(x) = \sum_j \kappa(x, x_j)\, y_j / \sum_j \kappa(x, x_j)$ with
    $\kappa(x, y) = e^{-|x - y|^2/2s^2}$  -- Eq. (10.1); Nadaraya 1964, Watson 1964.
    """
    enter(nadaraya_watson, at=at, points=points, values=values)
    return attend(at, points, values, lambda x, y: gaussian_scores(x, y, bandwidth))[0]


def scaled_dot_product_attention(
    query: Float[Array, "... n_q d_k"],
    key: Float[Array, "... n_k d_k"],
    value: Float[Array, "... n_k d_v"],
    attn_mask: Mask = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Float[Array, "... n_q d_v"]:
    r"""Average the values with weights from scaled dot products, as torch's function of this name.

    $\mathrm{softmax}(QK^\top/\sqrt{d_k})\,V$  -- Eq. (2.1); Vaswani et al. 2017, Eq. (1).

    A boolean mask says who may attend, a mask of numbers is added to the scores; `is_causal` is
    counted from the start and joins the mask. A query that may look at nothing gets zeros.
    `dropout_p` acts whenever it is not 0. With `enable_gqa` neighbouring heads share keys, values.
    """
    return attention_with_weights(
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
    )[0]


def attention_with_weights(
    query: Float[Array, "... n_q d_k"],
    key: Float[Array, "... n_k d_k"],
    value: Float[Array, "... n_k d_v"],
    attn_mask: Mask = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> tuple[Float[Array, "... n_q d_v"], Float[Array, "... n_q n_k"]]:
    r"""Scaled dot-product attention that returns its weights too, as they met the values.

    $O = AV$ and $A = \mathrm{softmax}(QK^\top/\sqrt{d_k})$  -- Eq. (2.2).
    """
    xp, dtype, Q, K, V = enter_attention(query, key, value, attn_mask, enable_gqa)
    check(0 <= dropout_p <= 1, f"dropout_p is {dropout_p}; expected a probability from 0 to 1")
    scores = mask_scores(xp.matmul(Q, K.mT) * scale_or_default(scale, K), attn_mask)
    if is_causal:
        scores = mask_scores(scores, causal_from_start(Q.shape[-2], K.shape[-2], like=Q))
    weights = dropout(softmax_or_zeros(scores), dropout_p)
    return leave(xp.matmul(weights, V), dtype), leave(weights, dtype)


def project(
    X: Float[Array, "*batch n d_in"],
    W: Float[Array, "d_in d_out"],
    b: Float[Array, " d_out"] | None = None,
) -> Float[Array, "*batch n d_out"]:
    r"""Read each token through a learned matrix: tokens are rows.

    $Q = X W_Q$, and likewise K and V  -- Eq. (2.3).
    """
    xp, dtype, X, W, b = enter(project, X=X, W=W, b=b)
    projected = xp.matmul(X, W)
    return leave(projected if b is None else projected + b, dtype)


def cross_attention(
    X_q: Float[Array, "*batch n_q d_a"],
    X_kv: Float[Array, "*batch n_k d_b"],
    W_Q: Float[Array, "d_a d_k"],
    W_K: Float[Array, "d_b d_k"],
    W_V: Float[Array, "d_b d_v"],
    attn_mask: Mask = None,
) -> tuple[Float[Array, "*batch n_q d_v"], Float[Array, "*batch n_q n_k"]]:
    r"""One sequence asks, another answers; return output and weights.

    $Q = X_q W_Q$, $K = X_{kv} W_K$, $V = X_{kv} W_V$, then Eq. (2.2)  -- Eq. (2.4).
    """
    _, dtype, X_q, X_kv, W_Q, W_K, W_V = enter(
        cross_attention, X_q=X_q, X_kv=X_kv, W_Q=W_Q, W_K=W_K, W_V=W_V
    )
    Q, K, V = project(X_q, W_Q), project(X_kv, W_K), project(X_kv, W_V)
    output, weights = attention_with_weights(Q, K, V, attn_mask)
    return leave(output, dtype), leave(weights, dtype)


def self_attention(
    X: Float[Array, "*batch n d_model"],
    W_Q: Float[Array, "d_model d_k"],
    W_K: Float[Array, "d_model d_k"],
    W_V: Float[Array, "d_model d_v"],
    attn_mask: Mask = None,
) -> tuple[Float[Array, "*batch n d_v"], Float[Array, "*batch n n"]]:
    r"""A sequence asks itself: cross-attention with $X_q = X_{kv}$; return output and weights.

    $Q = X W_Q$, $K = X W_K$, $V = X W_V$, then Eq. (2.2)  -- Eq. (2.5).
    """
    enter(self_attention, X=X, W_Q=W_Q, W_K=W_K, W_V=W_V)
    return cross_attention(X, X, W_Q, W_K, W_V, attn_mask)


def repeat_groups(
    X: Float[Array, "*batch groups n d"], heads: int
) -> Float[Array, "*batch heads n d"]:
    r"""Give every head the keys or values of its group: neighbouring heads share.

    $X_h \leftarrow X_{\lfloor h\, g / H \rfloor}$ for $g$ groups and $H$ heads  -- Eq. (6.4);
    Shazeer 2019 for one group, Ainslie et al. 2023.
    """
    xp, dtype, X = enter(repeat_groups, X=X)
    _must_divide("X", X, heads)
    return leave(xp.repeat(X, heads // max(X.shape[-3], 1), axis=-3), dtype)


def enter_attention(
    query: Array, key: Array, value: Array, attn_mask: Mask, enable_gqa: bool
) -> tuple[Any, ...]:
    """Check and prepare what all forms of scaled dot-product attention take."""
    xp, dtype, Q, K, V = enter(scaled_dot_product_attention, query=query, key=key, value=value)
    if enable_gqa:
        for name, X in (("query", Q), ("key", K), ("value", V)):
            check(
                len(X.shape) >= 3,
                f"{name} has shape {shape_of(X)}; expected an axis of heads before that of tokens"
                " with enable_gqa",
            )
            _must_divide(name, X, Q.shape[-3])
        K, V = repeat_groups(K, Q.shape[-3]), repeat_groups(V, Q.shape[-3])
    leading = {name: shape_of(x)[:-2] for name, x in (("query", Q), ("key", K), ("value", V))}
    try:
        batch = np.broadcast_shapes(*leading.values())
    except ValueError:
        raise ValueError(f"the leading axes are {leading}; expected ones that broadcast") from None
    if attn_mask is not None:
        check_mask(attn_mask, (*batch, Q.shape[-2], K.shape[-2]), query=query)
    return xp, dtype, Q, K, V


def _must_divide(name: str, X: Array, heads: int) -> None:
    groups = X.shape[-3]
    check(
        heads == groups or (0 < groups < heads and heads % groups == 0),
        f"{name} has shape {shape_of(X)} and there are {heads} heads and {groups} groups; expected"
        " the number of groups to divide the number of heads",
    )
