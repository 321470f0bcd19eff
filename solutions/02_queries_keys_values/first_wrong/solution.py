library = "numpy"  # or "torch": the library your answer is written in

import numpy as np


def softmax(x):
    """Given: the weights of each row of scores."""
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def first_wrong(page: dict, decimals: int) -> str | None:
    r"""Return the name of the first printed table that rounding cannot explain.

    page: the arrays X, W_Q, W_K, W_V, exact, and Q, K, V, scores, scaled, weights, output, as printed.
    decimals: how many decimals are printed. Returns the name of a table, or None.
    """
    Q, K, V = (page["X"] @ page[W] for W in ("W_Q", "W_K", "W_V"))
    scores = Q @ K.T
    scaled = scores / np.sqrt(Q.shape[-1])
    weights = softmax(scaled)
    exact = {
        "Q": Q,
        "K": K,
        "V": V,
        "scores": scores,
        "scaled": scaled,
        "weights": weights,
        "output": weights @ V,
    }
    rounding = 0.5 * 10**-decimals + 1e-9
    for name, table in exact.items():
        if np.abs(page[name] - table).max() > rounding:
            return name
    return None
