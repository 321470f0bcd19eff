library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def equal_length_keys(Q: np.ndarray, K: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return queries and keys with one more coordinate: keys of one length, the same products.

    Q: queries [n_q, d]; K: keys [n_k, d].
    Returns the new queries [n_q, d + 1] and the new keys [n_k, d + 1].
    """
    squared = (K**2).sum(axis=-1, keepdims=True)
    missing = np.sqrt(squared.max() - squared)
    return np.pad(Q, ((0, 0), (0, 1))), np.concatenate([K, missing], axis=-1)
