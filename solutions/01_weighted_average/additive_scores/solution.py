library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def additive_scores(
    Q: np.ndarray, K: np.ndarray, W_Q: np.ndarray, W_K: np.ndarray, b: np.ndarray, v: np.ndarray
) -> np.ndarray:
    r"""Return the additive score of every query with every key.

    Q: [n_q, d_q]; K: [n_k, d_k]; W_Q: [d_q, d_a]; W_K: [d_k, d_a]; b and v: [d_a].
    Returns the table of scores, [n_q, n_k]: one row for each query.
    """
    hidden = np.tanh((Q @ W_Q)[:, None, :] + (K @ W_K)[None, :, :] + b)
    return hidden @ v
