library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def roles(
    widths: list, ask: int, tell: int, beta: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Return projections that match cards on one field and return another.

    widths: the number of numbers in each field; ask, tell: indices of fields; beta: the score of a perfect match.
    Returns W_Q and W_K, [sum(widths), widths[ask]], and W_V, [sum(widths), widths[tell]].
    """
    identity = np.eye(sum(widths))
    starts = np.cumsum([0, *widths])
    read_ask = identity[:, starts[ask] : starts[ask + 1]]
    read_tell = identity[:, starts[tell] : starts[tell + 1]]
    return beta * np.sqrt(widths[ask]) * read_ask, read_ask, read_tell
