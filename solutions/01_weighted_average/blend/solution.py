library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def blend(scores: np.ndarray, V: np.ndarray) -> np.ndarray:
    r"""Return the answer to each question: the values, averaged with the shares that its scores give.

    scores: one row for each question, one column for each key; V: one row for each key.
    Returns one row for each question, as wide as a value.
    """
    loudness = np.exp(scores)
    shares = loudness / loudness.sum(axis=-1, keepdims=True)
    return shares @ V
