import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(p):
    """Weight by weight; on the diagonal the weight times the sum of the others."""

    def one_row(row):
        weights = row.tolist()
        below, squares_below = 0.0, 0.0  # sums over the weights that came before
        above = [0.0]  # sums over the weights that come after
        for weight in reversed(weights[1:]):
            above.append(above[-1] + weight)
        total = []
        for weight, after in zip(weights, reversed(above), strict=True):
            total += [(weight * (below + after)) ** 2, 2 * weight**2 * squares_below]
            below, squares_below = below + weight, squares_below + weight**2
        return math.sqrt(math.fsum(total))

    return np.apply_along_axis(one_row, -1, p)


@only("numpy")
def largest_first(p):
    """The largest weight apart, so that the sum of the other squares is never a difference."""
    rest = np.sort(p, axis=-1)[..., ::-1]
    top, rest = rest[..., :1], rest[..., 1:]
    others = (rest**2).sum(axis=-1, keepdims=True)
    of_top = top**2 * ((1 - top) ** 2 + 2 * others)
    of_rest = (rest**2 * (1 - rest) ** 2).sum(axis=-1, keepdims=True)
    among = others**2 - (rest**4).sum(axis=-1, keepdims=True)
    return np.sqrt(of_top + of_rest + np.maximum(among, 0))[..., 0]


@only("torch")
def sums_before_and_after(p):
    """Squares of the others as a sum from the left and one from the right."""
    squares = p.square()
    zero = torch.zeros_like(squares[..., :1])
    left = torch.cat([zero, squares[..., :-1]], -1).cumsum(-1)
    right = torch.cat([squares[..., 1:], zero], -1).flip(-1).cumsum(-1).flip(-1)
    return (squares * ((1 - p) ** 2 + left + right)).sum(-1).sqrt()


@only("torch")
def smallest_first(p):
    """Sorted, so that every running sum is one of small numbers."""
    ordered = p.sort(dim=-1).values
    squares = ordered.square()
    pairs = (squares[..., 1:] * squares.cumsum(-1)[..., :-1]).sum(-1)
    diagonal = (ordered * (1 - ordered)).square().sum(-1)
    return torch.sqrt(diagonal + 2 * pairs)
