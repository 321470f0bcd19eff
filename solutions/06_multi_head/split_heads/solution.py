library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def split_heads(X: np.ndarray, heads: int) -> np.ndarray:
    r"""Return the features of each token in blocks, one for each head.

    X: [batch, n, d_model]; heads divides d_model.
    Returns [batch, heads, n, d_model / heads].
    """
    batch, n, d_model = X.shape
    return X.reshape(batch, n, heads, d_model // heads).transpose(0, 2, 1, 3)
