import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(page, decimals):
    """Table after table, stopping at the first that is too far off."""
    Q, K, V = (np.array(page["X"] @ page[W]) for W in ("W_Q", "W_K", "W_V"))
    scores = np.array([[math.fsum(q * k) for k in K] for q in Q])
    scaled = scores / math.sqrt(len(Q[0]))
    weights = np.array(
        [[math.exp(s) / math.fsum(map(math.exp, row)) for s in row] for row in scaled]
    )
    chain = [
        ("Q", Q),
        ("K", K),
        ("V", V),
        ("scores", scores),
        ("scaled", scaled),
        ("weights", weights),
        ("output", weights @ V),
    ]
    for name, table in chain:
        if not all(
            abs(a - b) <= 0.5001 * 10**-decimals
            for a, b in zip(table.flat, page[name].flat, strict=True)
        ):
            return name
    return None


@only("numpy")
def in_units_of_the_last_place(page, decimals):
    """Everything multiplied so that half a unit is one half."""
    names = ["Q", "K", "V", "scores", "scaled", "weights", "output"]
    Q, K, V = page["X"] @ page["W_Q"], page["X"] @ page["W_K"], page["X"] @ page["W_V"]
    S = np.einsum("id,jd->ij", Q, K)
    E = np.exp(S * Q.shape[1] ** -0.5)
    A = E / E.sum(1, keepdims=True)
    tables = [Q, K, V, S, S / Q.shape[1] ** 0.5, A, A @ V]
    wrong = [
        n
        for n, t in zip(names, tables, strict=True)
        if (np.abs(t - page[n]) * 10**decimals > 0.5 + 1e-6).any()
    ]
    return wrong[0] if wrong else None


@only("torch")
def in_torch(page, decimals):
    """The chain in torch, compared with allclose."""
    Q, K, V = page["X"] @ page["W_Q"], page["X"] @ page["W_K"], page["X"] @ page["W_V"]
    S = Q @ K.mT
    A = torch.softmax(S / Q.shape[-1] ** 0.5, -1)
    chain = {
        "Q": Q,
        "K": K,
        "V": V,
        "scores": S,
        "scaled": S / Q.shape[-1] ** 0.5,
        "weights": A,
        "output": A @ V,
    }
    for name, table in chain.items():
        if not torch.allclose(page[name], table, rtol=0, atol=0.5 * 10.0**-decimals + 1e-7):
            return name
    return None
