library = "numpy"  # or "torch": the library your answer is written in


import numpy as np


def softmax_at(x: np.ndarray, t: float) -> np.ndarray:
    r"""Turn each row of scores into weights at temperature t.

    x: scores, rows along the last axis; t: a Python float from 0 to math.inf, both included.
    Returns the weights, in the shape of x.
    """
    below = x - x.max(axis=-1, keepdims=True)
    if t == 0:
        shares = (below == 0).astype(x.dtype)
    else:
        shares = np.exp(below / t)
    return shares / shares.sum(axis=-1, keepdims=True)
