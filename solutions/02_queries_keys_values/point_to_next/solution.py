library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def point_to_next(n: int) -> tuple[np.ndarray, np.ndarray]:
    r"""Return projections under which each of n tokens on a circle looks first at the next one.

    n: the number of tokens, at least 3.
    Returns W_Q and W_K, both 2 by 2; tokens are rows and are multiplied from the left.
    """
    angle = 2 * np.pi / n
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return turn, np.eye(2)
