library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def softmax_jacobian(p: np.ndarray) -> np.ndarray:
    r"""Return the Jacobian of softmax at each row of weights.

    p: weights, rows of n along the last axis.
    Returns one n by n matrix for each row, as the last two axes.
    """
    identity = np.eye(p.shape[-1], dtype=p.dtype)
    return p[..., :, None] * (identity - p[..., None, :])
