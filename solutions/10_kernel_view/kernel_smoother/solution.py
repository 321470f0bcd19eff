library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def kernel_smoother(x: np.ndarray, X: np.ndarray, Y: np.ndarray, h: float) -> np.ndarray:
    r"""Return the Nadaraya-Watson estimate at each new point.

    x: new points [m, d]; X: observed points [n, d]; Y: what was observed there [n, p];
    h: the bandwidth, above zero.
    Returns one estimate for each new point, [m, p].
    """
    squared = ((x[:, None, :] - X) ** 2).sum(axis=-1)
    kernel = np.exp((squared.min(axis=-1, keepdims=True) - squared) / (2 * h**2))
    return kernel @ Y / kernel.sum(axis=-1, keepdims=True)
