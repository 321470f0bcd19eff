library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def positive_features(X: np.ndarray, Omega: np.ndarray) -> np.ndarray:
    r"""Return features, none of them negative, whose scalar products are exp(x . y) on average.

    X: points [n, d]; Omega: independent standard normal entries [m, d].
    Returns the features, [n, m].
    """
    half_square = (X**2).sum(axis=-1, keepdims=True) / 2
    return np.exp(X @ Omega.T - half_square) / np.sqrt(len(Omega))
