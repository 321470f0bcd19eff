library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def orthogonal_winner(q: np.ndarray) -> np.ndarray:
    r"""Return three keys of length one: the first at right angles to q, and with the largest weight.

    q: one query, not zero, of width d >= 2.
    Returns the keys as rows, [3, d]; the second and third are not at right angles to q.
    """
    away = -q / np.sqrt((q**2).sum())
    smallest = np.abs(q).argmin()
    aside = np.eye(len(q), dtype=q.dtype)[smallest]
    aside = aside - (aside @ away) * away
    return np.stack([aside / np.sqrt((aside**2).sum()), away, away])
