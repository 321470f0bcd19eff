library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def lost_share(E: np.ndarray) -> float:
    r"""Return the mean share of a message's energy that no linear reader of its code recovers.

    E: the encoder, one row for each number of the code, one column for each number of the message.
    Returns a number from 0 to 1.
    """
    return 1 - np.linalg.matrix_rank(E) / E.shape[1]
