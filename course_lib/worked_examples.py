"""The two worked examples of chapter 2: given numbers only, everything else is computed."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float


class WorkedExample(NamedTuple):
    """Tokens and projections; a token is a row of X."""

    tokens: tuple[str, ...]
    X: Float[np.ndarray, "n d_model"]
    W_Q: Float[np.ndarray, "d_model d_k"]
    W_K: Float[np.ndarray, "d_model d_k"]
    W_V: Float[np.ndarray, "d_model d_v"]


DOG_ATE_DINNER = WorkedExample(
    ("dog", "ate", "dinner"),
    X=np.array([[1.0, 2.0, 3.0], [0.5, 1.0, 1.5], [2.0, 1.0, 0.5]]),
    W_Q=np.array([[0.6, -0.2], [0.1, 0.5], [-0.3, 0.4]]),
    W_K=np.array([[0.2, 0.3], [-0.4, 0.7], [0.5, -0.1]]),
    W_V=np.array([[0.9, 0.1], [0.2, 0.8], [-0.1, 0.6]]),
)

THREE_TOKENS = WorkedExample(
    ("1", "2", "3"),
    X=np.array([[1.0, 0.5, 0.2, 0.8], [0.3, 0.9, 0.1, 0.4], [0.7, 0.2, 0.6, 0.3]]),
    W_Q=np.array([[0.5, 0.3], [0.2, 0.4], [0.1, 0.6], [0.7, 0.2]]),
    W_K=np.array([[0.4, 0.1], [0.3, 0.5], [0.6, 0.2], [0.2, 0.4]]),
    W_V=np.array([[0.6, 0.3], [0.2, 0.7], [0.4, 0.1], [0.3, 0.5]]),
)
"""Printed elsewhere with every intermediate table wrong, and with row sums of one all the same."""
