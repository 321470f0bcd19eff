library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def stationary(S: np.ndarray) -> np.ndarray:
    r"""Return the distribution that one step of attention with symmetric scores leaves unchanged.

    S: a symmetric table of scores [n, n]; the weights are the softmax of its rows.
    Returns the distribution, [n].
    """
    row_sums = np.exp(S - S.max()).sum(axis=-1)
    return row_sums / row_sums.sum()
