library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def entropy_of_scores(x: np.ndarray) -> np.ndarray:
    r"""Return the entropy, in nats, of the softmax weights of each row of scores.

    x: finite scores, rows along the last axis.
    Returns one number for each row, from 0 to ln n.
    """
    below = x - x.max(axis=-1, keepdims=True)
    exponentials = np.exp(below)
    total = exponentials.sum(axis=-1)
    return np.log(total) - (exponentials * below).sum(axis=-1) / total
