library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def softmax(x):
    """Given: the weights of each row of scores."""
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def grouped_query(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    r"""Return attention in which neighbouring heads share keys and values.

    Q: [batch, heads, n_q, d_k]; heads is a multiple of groups;
    K: [batch, groups, n_k, d_k]; V: [batch, groups, n_k, d_v].
    Returns [batch, heads, n_q, d_v].
    """
    sharing = Q.shape[1] // K.shape[1]
    scores = Q @ np.repeat(K, sharing, axis=1).mT / np.sqrt(K.shape[-1])
    return softmax(scores) @ np.repeat(V, sharing, axis=1)
