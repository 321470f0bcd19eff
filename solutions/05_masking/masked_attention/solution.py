library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def masked_attention(
    Q: np.ndarray, K: np.ndarray, V: np.ndarray, may_attend: np.ndarray
) -> np.ndarray:
    r"""Return for each query the weighted average of the values that it may see, or zeros.

    Q: (..., n_q, d_k); K: (..., n_k, d_k); V: (..., n_k, d_v);
    may_attend: booleans of shape (..., n_q, n_k), True where the key may be seen.
    Returns an array of shape (..., n_q, d_v).
    """
    with np.errstate(invalid="ignore"):  # what is nan here is hidden, and left out below
        scores = np.where(may_attend, Q @ K.mT / Q.shape[-1] ** 0.5, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = weights / weights.sum(axis=-1, keepdims=True)
        shares = weights[..., None] * V[..., None, :, :]
    return np.where(may_attend[..., None], shares, 0).sum(axis=-2)
