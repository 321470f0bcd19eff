library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def drop_weights(A: np.ndarray, kept: np.ndarray, p: float) -> np.ndarray:
    r"""Return the weights after dropout with rate p, given which of them survive.

    A: weights, rows along the last axis; kept: booleans in the shape of A, True survives.
    Returns an array in the shape of A. A itself stays as it was.
    """
    return np.where(kept, A / (1 - p), 0.0)
