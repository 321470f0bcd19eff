library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def negative_witness(G: np.ndarray) -> np.ndarray | None:
    r"""Return a vector that shows that G is not positive semidefinite, or None if there is none.

    G: a square table [n, n], not necessarily symmetric.
    Returns z, [n], with z @ G @ z below zero by more than rounding; or None.
    """
    values, vectors = np.linalg.eigh(G + G.T)
    rounding = 1e-4 * np.abs(G).max()
    return vectors[:, 0] if values[0] < -rounding else None
