library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def softmax(x):
    """Given: the weights of each row; a score of minus infinity gets 0."""
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def multi_head(
    X_q: np.ndarray,
    X_kv: np.ndarray,
    W_Q: np.ndarray,
    W_K: np.ndarray,
    W_V: np.ndarray,
    W_O: np.ndarray,
    heads: int,
    may_attend: np.ndarray | None = None,
) -> np.ndarray:
    r"""Return the output of multi-head attention from one sequence to another.

    X_q: [batch, n_q, d_model]; X_kv: [batch, n_k, d_model];
    W_Q, W_K, W_V, W_O: [d_model, d_model]; heads divides d_model;
    may_attend: booleans [batch, n_q, n_k], True: may be seen, or None.
    Returns [batch, n_q, d_model].
    """
    batch, n_q, d_model = X_q.shape
    Q, K, V = (
        (X @ W).reshape(batch, X.shape[1], heads, d_model // heads).transpose(0, 2, 1, 3)
        for X, W in ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V))
    )
    scores = Q @ K.mT / np.sqrt(Q.shape[-1])
    if may_attend is not None:
        scores = np.where(may_attend[:, None], scores, -np.inf)
    return (softmax(scores) @ V).transpose(0, 2, 1, 3).reshape(X_q.shape) @ W_O
