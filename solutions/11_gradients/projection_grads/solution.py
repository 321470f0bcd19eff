library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def projection_grads(
    X: np.ndarray,
    W_Q: np.ndarray,
    W_K: np.ndarray,
    W_V: np.ndarray,
    dQ: np.ndarray,
    dK: np.ndarray,
    dV: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    r"""Return the gradients at the tokens and at the three projections.

    X: [n, d_model]; W_Q, W_K: [d_model, d_k]; W_V: [d_model, d_v];
    dQ, dK: [n, d_k]; dV: [n, d_v], the gradients of the loss at Q, K and V.
    Returns dX, dW_Q, dW_K, dW_V, each in the shape of what it belongs to.
    """
    dX = dQ @ W_Q.T + dK @ W_K.T + dV @ W_V.T
    return dX, X.T @ dQ, X.T @ dK, X.T @ dV
