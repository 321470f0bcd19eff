library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def decode_step(q: np.ndarray, k: np.ndarray, v: np.ndarray, cache: tuple | None) -> tuple:
    r"""Return the output of one new word and the cache that now includes it.

    q, k: shape (d_k,); v: shape (d_v,); cache: None, or (keys, values) of shapes (t - 1, d_k) and
    (t - 1, d_v), oldest first. Returns (output of shape (d_v,), (keys, values) with t rows).
    """
    old_keys, old_values = cache or (k[None, :][:0], v[None, :][:0])
    K, V = np.vstack([old_keys, k]), np.vstack([old_values, v])
    scores = K @ q / np.sqrt(q.shape[0])
    weights = np.exp(scores - scores.max())
    return weights @ V / weights.sum(), (K, V)
