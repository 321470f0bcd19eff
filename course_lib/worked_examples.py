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

THREE_TOKENS_PRINTED = {
    "Q": np.array([[1.07, 0.77], [0.47, 0.57], [0.61, 0.55]]),
    "K": np.array([[0.79, 0.79], [0.35, 0.51], [0.62, 0.41]]),
    "V": np.array([[1.09, 0.97], [0.44, 0.59], [0.71, 0.52]]),
    "scores": np.array([[1.45, 0.76, 1.09], [0.66, 0.46, 0.52], [0.92, 0.49, 0.61]]),
    "scaled": np.array([[1.03, 0.54, 0.77], [0.47, 0.33, 0.37], [0.65, 0.35, 0.43]]),
    "weights": np.array([[0.48, 0.25, 0.27], [0.35, 0.31, 0.34], [0.40, 0.29, 0.31]]),
    "output": np.array([[0.81, 0.78], [0.64, 0.65], [0.71, 0.68]]),
}
"""These wrong tables, to be compared with what the inputs give."""
