library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def head_contributions(
    A: np.ndarray, X: np.ndarray, W_V: np.ndarray, W_O: np.ndarray
) -> np.ndarray:
    r"""Return what each head adds to the output of the layer.

    A: [heads, n_q, n_k]; X: [n_k, d_model];
    W_V: [d_model, heads*d_v]; W_O: [heads*d_v, d_out].
    Returns [heads, n_q, d_out].
    """
    heads = len(A)
    into, out = np.stack(np.split(W_V, heads, axis=1)), np.stack(np.split(W_O, heads))
    return A @ (X @ into) @ out
