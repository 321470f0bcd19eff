r"""What a Transformer does to each token by itself: norm, activation, feed-forward network."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from course_lib._door import Array, check, enter, leave, shape_of


class FeedForwardWeights(NamedTuple):
    """Two matrices of a feed-forward network."""

    W_1: Float[Array, "d_model d_ff"]
    W_2: Float[Array, "d_ff d_model"]
    b_1: Float[Array, " d_ff"] | None = None
    b_2: Float[Array, " d_model"] | None = None


class GatedWeights(NamedTuple):
    """Three matrices of a gated feed-forward network, without biases."""

    W_gate: Float[Array, "d_model d_ff"]
    W_up: Float[Array, "d_model d_ff"]
    W_down: Float[Array, "d_ff d_model"]


def layer_norm(
    X: Float[Array, "*batch d_model"],
    gain: Float[Array, " d_model"] | None = None,
    bias: Float[Array, " d_model"] | None = None,
    eps: float = 1e-5,
) -> Float[Array, "*batch d_model"]:
    r"""Give the features of each token mean 0 and variance 1, then gain and bias.

    $\gamma \odot (x - \bar x) / \sqrt{\mathrm{var}(x) + \epsilon} + \beta$  -- Eq. (12.1); Ba,
    Kiros and Hinton 2016.

    The variance divides by the number of features, not by one less.
    """
    xp, dtype, X, gain, bias = enter(layer_norm, X=X, gain=gain, bias=bias)
    check(X.shape[-1] > 0, f"X has shape {shape_of(X)}; expected at least one feature")
    centred = X - xp.mean(X, axis=-1, keepdims=True)
    variance = xp.mean(centred**2, axis=-1, keepdims=True)
    normed = centred / xp.sqrt(variance + eps)
    normed = normed if gain is None else normed * gain
    return leave(normed if bias is None else normed + bias, dtype)


def relu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    r"""Keep what is positive.

    $\max(0, x)$  -- Eq. (12.2).
    """
    xp, dtype, x = enter(relu, x=x)
    return leave(xp.where(x <= 0, 0.0, x), dtype)  # NaN stays NaN


def gelu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    r"""Keep x with the probability that a standard normal number lies below it.

    $x\,\Phi(x) = \frac{x}{2}\left(1 + \mathrm{erf}(x/\sqrt2)\right)$  -- Eq. (12.3).
    """
    xp, dtype, x = enter(gelu, x=x)
    return leave(x / 2 * (1 + _erf(xp, x / math.sqrt(2))), dtype)


def silu(x: Float[Array, "..."]) -> Float[Array, "..."]:
    r"""Keep x with the probability sigmoid(x).

    $x / (1 + e^{-x})$  -- Eq. (12.4).
    """
    xp, dtype, x = enter(silu, x=x)
    return leave(x * ((1 + xp.tanh(x / 2)) / 2), dtype)


def feed_forward(
    X: Float[Array, "*batch d_model"],
    weights: FeedForwardWeights,
    activation: Callable[[Array], Array] = relu,
) -> Float[Array, "*batch d_model"]:
    r"""The same small network for each token by itself.

    $\max(0, x W_1 + b_1) W_2 + b_2$  -- Eq. (12.5); Vaswani et al. 2017, Eq. (2).
    """
    xp, dtype, X, weights = enter(feed_forward, X=X, weights=weights)
    hidden = activation(_affine(xp, X, weights.W_1, weights.b_1))
    return leave(_affine(xp, hidden, weights.W_2, weights.b_2), dtype)


def gated_feed_forward(
    X: Float[Array, "*batch d_model"],
    weights: GatedWeights,
    activation: Callable[[Array], Array] = silu,
) -> Float[Array, "*batch d_model"]:
    r"""A feed-forward network in which one projection opens and closes another.

    $\left(\sigma(x W_{gate}) \odot x W_{up}\right) W_{down}$  -- Eq. (12.6); Shazeer 2020.
    """
    xp, dtype, X, weights = enter(gated_feed_forward, X=X, weights=weights)
    gate = activation(xp.matmul(X, weights.W_gate))
    return leave(xp.matmul(gate * xp.matmul(X, weights.W_up), weights.W_down), dtype)


def _affine(xp: Any, X: Array, W: Array, b: Array | None) -> Array:
    return xp.matmul(X, W) if b is None else xp.matmul(X, W) + b


def _erf(xp: Any, x: Array) -> Array:
    """The array standard has no erf; torch has, and Python has one for numbers."""
    if hasattr(xp, "erf"):
        return xp.erf(x)
    return np.vectorize(math.erf, otypes=[x.dtype])(x)
