library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def vjp_from_saved(
    Q: np.ndarray,
    K: np.ndarray,
    V: np.ndarray,
    output: np.ndarray,
    lse: np.ndarray,
    dO: np.ndarray,
    block: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the gradients of attention, recomputing its weights a block of keys at a time.

    Q: [n_q, d_k]; K: [n_k, d_k]; V: [n_k, d_v]; output: [n_q, d_v], the saved output;
    lse: [n_q], the saved log-sum-exp of each row of scaled scores; dO: [n_q, d_v];
    block: how many keys at a time.
    Returns dQ, dK, dV in the shapes of Q, K, V.
    """
    scale = 1 / np.sqrt(Q.shape[-1])
    pulled = (dO * output).sum(axis=-1, keepdims=True)
    dQ, dK, dV = np.zeros_like(Q), np.empty_like(K), np.empty_like(V)
    for start in range(0, K.shape[0], block):
        keys = slice(start, start + block)
        A = np.exp(Q @ K[keys].T * scale - lse[:, None])
        dS = A * (dO @ V[keys].T - pulled)
        dQ += dS @ K[keys] * scale
        dK[keys] = dS.T @ Q * scale
        dV[keys] = A.T @ dO
    return dQ, dK, dV
