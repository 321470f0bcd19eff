library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def factor_scores(M: np.ndarray, d_k: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return two projections whose product is as close to M as the width d_k allows.

    M: [d_a, d_b], wished scores of query features with key features; d_k: at most the smaller of the two.
    Returns W_Q, [d_a, d_k], and W_K, [d_b, d_k].
    """
    left, sizes, right = np.linalg.svd(M, full_matrices=False)
    return left[:, :d_k] * sizes[:d_k], right[:d_k].T
