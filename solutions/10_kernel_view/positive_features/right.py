import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(X, Omega):
    """Point by point, coordinate by coordinate."""
    answer = np.empty((len(X), len(Omega)), dtype=X.dtype)
    for i, x in enumerate(X.tolist()):
        exponent = sum(x[e] * Omega[:, e].astype(np.float64) for e in range(len(x)))
        answer[i] = np.exp(exponent) * math.exp(-math.fsum(c * c for c in x) / 2)
    return answer / math.sqrt(len(Omega))


@only("numpy")
def the_other_way_round(X, Omega):
    """Minus omega is as good as omega."""
    norm = np.linalg.norm(X, axis=1)[:, None]
    return np.exp(-(norm**2) / 2 - X.dot(Omega.T) - np.log(len(Omega)) / 2)


@only("torch")
def squares_completed(X, Omega):
    """The same exponent as half a length minus half a distance, less a length of x."""
    m = Omega.shape[0]
    lengths = (Omega**2).sum(-1)
    distances = ((X[:, None, :] - Omega) ** 2).sum(-1)
    return torch.exp((lengths - distances) / 2) / m**0.5


@only("torch")
def with_einsum(X, Omega):
    """Average and exponent in one line."""
    exponent = torch.einsum("ne,me->nm", X, Omega) - 0.5 * torch.einsum("ne,ne->n", X, X)[:, None]
    return exponent.exp() * len(Omega) ** -0.5
