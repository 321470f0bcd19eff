library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def left_padded_causal(lengths: np.ndarray, n: int) -> np.ndarray:
    r"""Return for each story who may look at whom: causal, and nobody sees padding.

    lengths: integers of shape (batch,), from 0 to n; n: places in a row, the story at the end.
    Returns booleans of shape (batch, n, n), queries in rows, keys in columns: True may attend.
    """
    places = np.arange(n)
    is_word = places >= n - lengths[:, None]
    return (places <= places[:, None]) & is_word[:, None, :]
