library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def logsumexp(x: np.ndarray) -> np.ndarray:
    r"""Return the logarithm of the sum of the exponentials of each row.

    x: scores, rows along the last axis; entries may be -inf.
    Returns one number for each row; -inf for a row of only -inf.
    """
    largest = x.max(axis=-1, keepdims=True)
    shift = np.where(np.isinf(largest), 0, largest)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(x - shift).sum(axis=-1)) + shift[..., 0]
