import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(widths, ask, tell, beta):
    """One entry after the other."""

    def window(field, height):
        start = sum(widths[:field])
        matrix = np.zeros((sum(widths), widths[field]))
        for e in range(widths[field]):
            matrix[start + e, e] = height
        return matrix

    return window(ask, beta * widths[ask] ** 0.5), window(ask, 1.0), window(tell, 1.0)


@only("numpy")
def shared_evenly(widths, ask, tell, beta):
    """Half of the sharpness on each side, as square roots."""
    blocks = np.split(np.eye(sum(widths)), np.cumsum(widths)[:-1], axis=1)
    half = np.sqrt(beta * np.sqrt(widths[ask]))
    return half * blocks[ask], half * blocks[ask], blocks[tell]


@only("torch")
def with_split(widths, ask, tell, beta):
    """The identity, split into windows."""
    windows = torch.eye(sum(widths)).split(widths, dim=1)
    return windows[ask] * beta * widths[ask] ** 0.5, windows[ask], windows[tell]


@only("torch")
def turned_on_both_sides(widths, ask, tell, beta):
    """Query and key read in another basis, both in the same one."""
    windows = torch.eye(sum(widths)).split(widths, dim=1)
    flip = torch.eye(widths[ask]).flip(0)
    return windows[ask] @ flip * (beta * widths[ask] ** 0.5), windows[ask] @ flip, windows[tell]
