library = "numpy"  # or "torch"

import numpy as np


def row_means(x: np.ndarray) -> np.ndarray:
    r"""Return the mean of every row."""
    return x.sum(axis=-1) / x.shape[-1]
