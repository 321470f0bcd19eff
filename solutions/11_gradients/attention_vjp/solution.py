library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def attention_vjp(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    dO: np.ndarray,
    may_attend: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the gradients of a loss at queries, keys and values of attention.

    Q: [n_q, d_k]; K: [n_k, d_k]; V: [n_k, d_v]; dO: [n_q, d_v], the gradient at the output;
    may_attend: booleans [n_q, n_k], True where a query may see a key, or None.
    Returns dQ, dK, dV in the shapes of Q, K, V.
    """
    scale = 1 / np.sqrt(Q.shape[-1])
    scores = Q @ K.T * scale
    if may_attend is not None:
        scores = np.where(may_attend, scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    A = exponentials / np.where(total == 0, 1, total)
    dA = dO @ V.T
    dS = A * (dA - (A * dA).sum(axis=-1, keepdims=True))
    return dS @ K * scale, dS.T @ Q * scale, A.T @ dO
