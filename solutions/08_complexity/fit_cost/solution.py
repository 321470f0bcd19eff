library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def fit_cost(n: np.ndarray, seconds: np.ndarray) -> tuple:
    r"""Return the prices (a, b) of a token and of a pair in seconds = a n + b n^2.

    n, seconds: shape (m,), lengths and measured times, whose errors are proportional to the times.
    Returns two numbers, a and b.
    """
    relative = np.stack([n / seconds, n**2 / seconds], axis=1)
    a, b = np.linalg.lstsq(relative, np.ones(len(n)))[0]
    return a, b
