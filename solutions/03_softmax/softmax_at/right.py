import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(x, t):
    """Row by row; the ends are decided by comparing, not by dividing."""

    def one_row(row):
        top = max(row)
        if t == 0:
            shares = [float(score == top) for score in row]
        elif math.isinf(t):
            shares = [1.0 for score in row]
        else:
            shares = [math.exp((score - top) / t) for score in row.tolist()]
        return np.array([share / math.fsum(shares) for share in shares], dtype=row.dtype)

    with np.errstate(over="ignore"):
        return np.apply_along_axis(one_row, -1, x)


@only("torch")
def with_where(x, t):
    """No branch on the temperature: a zero is replaced by the smallest number there is."""
    below = x.double() - x.double().amax(-1, keepdim=True)
    scaled = torch.where(below == 0, below, below / max(t, 5e-324))
    shares = torch.exp(scaled)
    return (shares / shares.sum(-1, keepdim=True)).to(x.dtype)


@only("torch")
def with_an_inverse_temperature(x, t):
    """Sharpness instead of temperature, in the student's usual three cases."""
    if t == math.inf:
        return torch.full_like(x, 1 / x.shape[-1])
    below = x - x.max(dim=-1, keepdim=True).values
    shares = (below == 0).to(x.dtype) if t == 0 else torch.exp(torch.nan_to_num(below / t))
    return shares / shares.sum(dim=-1, keepdim=True)
