library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def two_readers(beta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the matrices of two heads that fetch the places of two names at once.

    beta: what a perfect match scores after scaling.
    Returns W_Q, W_K, W_V, each [2, 4, 2] with the head first, and W_O, [4, 4];
    tokens are rows.
    """
    first, last = np.eye(4)[:, :2], np.eye(4)[:, 2:]
    W_Q = beta * np.sqrt(2) * np.stack([first, last])
    return W_Q, np.stack([first, first]), np.stack([last, last]), np.eye(4)
