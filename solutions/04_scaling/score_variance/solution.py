library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def score_variance(
    mu_q: np.ndarray, Sigma_q: np.ndarray, mu_k: np.ndarray, Sigma_k: np.ndarray
) -> float:
    r"""Return the variance of q.k/sqrt(d) for independent q and k.

    mu_q, mu_k: means, [d]; Sigma_q, Sigma_k: covariance matrices, [d, d].
    Returns one number.
    """
    both_vary = np.trace(Sigma_q @ Sigma_k)
    one_varies = mu_q @ Sigma_k @ mu_q + mu_k @ Sigma_q @ mu_k
    return (both_vary + one_varies) / len(mu_q)
