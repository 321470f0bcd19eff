import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(x):
    """Row by row, summed without rounding."""

    def one_row(row):
        top = max(row.tolist())
        if top == -math.inf:
            return -math.inf
        return top + math.log(math.fsum(math.exp(score - top) for score in row.tolist()))

    return np.apply_along_axis(one_row, -1, x).astype(x.dtype)


@only("numpy")
def one_pair_after_the_other(x):
    """A library call for two scores at a time."""
    return np.logaddexp.reduce(x, axis=-1)


@only("torch")
def with_nan_to_num(x):
    """The largest score, made finite where there is none."""
    largest = x.amax(-1)
    shift = torch.where(largest.isinf(), torch.zeros_like(largest), largest)
    return (x - shift.unsqueeze(-1)).exp().sum(-1).log() + shift


@only("torch")
def folded(x):
    """Two scores at a time, over a list of columns."""
    total = torch.full_like(x[..., 0], -torch.inf)
    for column in x.unbind(-1):
        total = torch.logaddexp(total, column)
    return total
