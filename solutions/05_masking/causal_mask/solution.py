library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def causal_mask(n_q: int, n_k: int, align: str) -> np.ndarray:
    r"""Return the table of who may look at whom: True may attend.

    n_q, n_k: how many queries and keys; align: "start" or "end", where they stand side by side.
    Returns booleans of shape (n_q, n_k).
    """
    ahead = n_k - n_q if align == "end" else 0
    return np.arange(n_k) <= np.arange(n_q)[:, None] + ahead
