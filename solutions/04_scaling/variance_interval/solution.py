library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def variance_interval(x: np.ndarray) -> tuple[float, float]:
    r"""Return a 95% interval for the variance that does not assume a normal distribution.

    x: independent numbers of one distribution, [n], n large.
    Returns (low, high), centred at the sample variance.
    """
    squares = (x - x.mean()) ** 2
    error = squares.std() / np.sqrt(len(x))
    return squares.mean() - 1.96 * error, squares.mean() + 1.96 * error
