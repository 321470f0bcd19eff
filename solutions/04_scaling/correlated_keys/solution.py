library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def correlated_keys(Q: np.ndarray, noise: np.ndarray, rho: float) -> np.ndarray:
    r"""Return keys of variance one whose entries have correlation rho with those of the queries.

    Q, noise: independent entries of mean 0 and variance 1, both [n, d]; rho: from -1 to 1.
    Returns the keys, [n, d].
    """
    return rho * Q + np.sqrt(1 - rho**2) * noise
