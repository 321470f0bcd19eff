library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def softmax(x):
    """Given: the weights of each row of scores."""
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def cross_attend(
    X_q: np.ndarray, X_kv: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, W_V: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Return weights and output of attention from one sequence to another.

    X_q: [n_q, d_a]; X_kv: [n_k, d_b]; W_Q: [d_a, d_k]; W_K: [d_b, d_k]; W_V: [d_b, d_v].
    Returns the weights [n_q, n_k] and the output [n_q, d_v], in this order.
    """
    Q, K, V = X_q @ W_Q, X_kv @ W_K, X_kv @ W_V
    weights = softmax(Q @ K.T / np.sqrt(Q.shape[-1]))
    return weights, weights @ V
