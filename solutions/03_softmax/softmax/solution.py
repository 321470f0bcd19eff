library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    r"""Turn scores into weights along one axis: positive, and summing to one.

    x: scores of any shape; axis: the axis along which the weights sum to one.
    Returns the weights, in the shape of x. x itself stays as it was.
    """
    shifted = np.exp(x - x.max(axis=axis, keepdims=True))
    return shifted / shifted.sum(axis=axis, keepdims=True)
