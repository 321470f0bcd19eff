import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(x, axis=-1):
    """One row after the other, one number after the other, summed without rounding."""

    def one_row(row):
        exponentials = [math.exp(score - max(row)) for score in row]
        total = math.fsum(exponentials)
        return np.array([value / total for value in exponentials], dtype=row.dtype)

    return np.apply_along_axis(one_row, axis, x)


@only("torch")
def through_the_logarithm(x, axis=-1):
    """A library call, but not the one that was asked for."""
    return torch.exp(x - torch.logsumexp(x, dim=axis, keepdim=True))


@only("torch")
def with_the_axis_moved(x, axis=-1):
    """The pair that max returns, and a transpose instead of keepdim."""
    rows = x.movedim(axis, 0)
    shifted = (rows - rows.max(0).values).exp()
    return (shifted / shifted.sum(0)).movedim(0, axis)


@only("numpy")
def as_a_limit_of_ratios(x, axis=-1):
    """Each weight as one over the sum of the ratios: 1 / sum_i exp(x_i - x_j)."""
    rows = np.moveaxis(x, axis, -1)
    with np.errstate(over="ignore"):
        ratios = np.exp(rows[..., None, :] - rows[..., :, None])
    return np.moveaxis(1 / ratios.sum(-1), -1, axis)
