library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def three_weights(q: np.ndarray, K: np.ndarray) -> np.ndarray:
    r"""Return the weights of the keys under three scores: dot product, cosine, Gaussian.

    q: one query; K: one row for each key, none of them zero.
    Returns three rows of weights, one column for each key.
    """
    dot = K @ q
    cosine = dot / np.sqrt((q**2).sum() * (K**2).sum(axis=-1))
    gaussian = -((K - q) ** 2).sum(axis=-1) / 2
    loudness = np.exp(np.stack([dot, cosine, gaussian]))
    return loudness / loudness.sum(axis=-1, keepdims=True)
