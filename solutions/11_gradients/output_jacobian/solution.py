library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def softmax(x):
    """Given: the weights of each row of scores."""
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def output_jacobian(q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    r"""Return the derivative of the answer of one query with respect to that query.

    q: [d_k]; K: [n, d_k]; V: [n, d_v].
    Returns an array [d_v, d_k]: row f, column e is the slope of output f in query entry e.
    """
    scale = 1 / np.sqrt(q.shape[0])
    weights = softmax(K @ q * scale)
    centred = V - weights @ V
    return (weights * centred.T) @ K * scale
