library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def jacobian_norm(p: np.ndarray) -> np.ndarray:
    r"""Return the Frobenius norm of diag(p) - p p^T for each row of weights.

    p: weights, rows along the last axis.
    Returns one number for each row, without an array of n by n entries.
    """
    squares = p**2
    diagonal = (squares * (1 - p) ** 2).sum(axis=-1)
    before = np.cumsum(squares, axis=-1)[..., :-1]
    beside = 2 * (squares[..., 1:] * before).sum(axis=-1)  # every summand is positive
    return np.sqrt(diagonal + beside)
