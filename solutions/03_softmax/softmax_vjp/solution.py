library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def softmax_vjp(p: np.ndarray, u: np.ndarray) -> np.ndarray:
    r"""Return the transposed Jacobian of softmax, at each row of weights, times a row.

    p: weights, rows along the last axis; u: a row for each row of p, in the same shape.
    Returns an array of that shape. No array with n by n entries is made.
    """
    return p * (u - (p * u).sum(axis=-1, keepdims=True))
