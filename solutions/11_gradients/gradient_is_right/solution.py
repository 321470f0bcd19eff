library = "numpy"  # or "torch": the library your answer is written in

from collections.abc import Callable

import numpy as np


def gradient_is_right(f: Callable, vjp: Callable, x: np.ndarray) -> bool:
    r"""Say whether vjp(x, u) is the vector-Jacobian product of f at x, for every u.

    f: takes an array [n], returns an array [m]; vjp: takes x and a cotangent u [m], returns [n];
    x: [n], where to judge.
    Returns True or False.
    """
    h, n, m = 1e-5, x.shape[0], f(x).shape[0]
    columns = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(n)]
    slopes = np.stack(columns, axis=1)
    claimed = np.stack([vjp(x, u) for u in np.eye(m)])
    rounding = 1e-8 * np.abs(f(x)).max()
    return bool(np.abs(claimed - slopes).max() <= 1e-3 * np.abs(slopes).max() + rounding)
