library = "numpy"  # or "torch": the library your answer is written in

from collections.abc import Callable

import numpy as np


def dependence(layer: Callable, X: np.ndarray) -> np.ndarray:
    r"""Return which outputs of a layer change when one row of its input changes.

    layer: takes an array of shape (n, d) and returns one of the same shape; X: such an array.
    Returns booleans of shape (n, n): entry (i, j) says that output i reads input j.
    """
    before, columns = layer(X), []
    fresh = np.random.default_rng(5).normal(size=X.shape).astype(X.dtype)
    for j in range(len(X)):
        changed = X.copy()
        changed[j] = fresh[j]
        columns.append((layer(changed) != before).any(axis=-1))
    return np.stack(columns, axis=1)
