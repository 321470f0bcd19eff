import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def by_qr(q):
    """The second column of an orthogonal basis that begins with q."""
    basis, _ = np.linalg.qr(np.column_stack([q, np.eye(len(q))]))
    away = -q / np.linalg.norm(q)
    return np.stack([basis[:, 1], away, away]).astype(q.dtype)


@only("numpy")
def by_svd(q):
    """A null vector of q; the other two lean away, differently."""
    null = np.linalg.svd(q[None, :])[2][-1]
    away = -q / np.linalg.norm(q)
    leaning = 0.8 * away + 0.6 * null
    return np.stack([null, away, leaning])


@only("torch")
def by_two_coordinates(q):
    """Swap the two largest coordinates and change a sign."""
    one, two = q.abs().topk(2).indices
    aside = torch.zeros_like(q)
    aside[one], aside[two] = -q[two], q[one]
    away = -q / q.norm()
    return torch.stack([aside / aside.norm(), away, away])


@only("torch")
def by_projection(q):
    """Take the query's part out of the basis vector that has least of it."""
    unit = torch.nn.functional.normalize(q, dim=0)
    least = torch.zeros_like(q)
    least[unit.abs().argmin()] = 1
    aside = least - (least @ unit) * unit
    return torch.stack([aside / aside.norm(), -unit, -unit])
