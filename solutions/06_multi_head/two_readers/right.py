import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(beta):
    """One entry after the other."""
    W_Q, W_K, W_V, W_O = (
        np.zeros((2, 4, 2)),
        np.zeros((2, 4, 2)),
        np.zeros((2, 4, 2)),
        np.zeros((4, 4)),
    )
    for h in range(2):
        for e in range(2):
            W_Q[h, 2 * h + e, e] = beta * 2**0.5
            W_K[h, e, e] = 1.0
            W_V[h, 2 + e, e] = 1.0
            W_O[2 * h + e, 2 * h + e] = 1.0
    return W_Q, W_K, W_V, W_O


@only("numpy")
def heads_in_the_other_order(beta):
    """Head 0 reads the second name, and W_O puts its answer last."""
    first, last = np.split(np.eye(4), 2, axis=1)
    W_Q = np.stack([last, first])
    sharp = beta * np.sqrt(2) * first
    return W_Q, np.stack([sharp] * 2), np.stack([last] * 2), np.roll(np.eye(4), 2, axis=0)


@only("torch")
def shared_evenly(beta):
    """The root of the sharpness on each side; the places halved and doubled."""
    first, last = torch.eye(4).split(2, dim=1)
    root = (beta * 2**0.5) ** 0.5
    return (
        root * torch.stack([first, last]),
        root * torch.stack([first, first]),
        torch.stack([last, last]) / 2,
        2 * torch.eye(4),
    )


@only("torch")
def turned_dial(beta):
    """Query and key read on a dial turned by a right angle, the same in both."""
    turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
    first, last = torch.eye(4)[:, :2], torch.eye(4)[:, 2:]
    W_Q = torch.stack([first @ turn, last @ turn]) * (beta * 2**0.5)
    return W_Q, (first @ turn).expand(2, 4, 2), last.expand(2, 4, 2), torch.eye(4)
