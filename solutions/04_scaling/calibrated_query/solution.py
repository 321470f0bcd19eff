library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def calibrated_query(W_Q: np.ndarray, W_K: np.ndarray, Sigma: np.ndarray) -> np.ndarray:
    r"""Return W_Q times the positive number that gives scaled scores variance one.

    W_Q, W_K: projections, [d_model, d_k]; Sigma: covariance of a token, [d_model, d_model].
    Returns an array in the shape of W_Q.
    """
    spread_q, spread_k = W_Q.T @ Sigma @ W_Q, W_K.T @ Sigma @ W_K
    variance = np.trace(spread_q @ spread_k) / W_Q.shape[1]
    return W_Q / np.sqrt(variance)
