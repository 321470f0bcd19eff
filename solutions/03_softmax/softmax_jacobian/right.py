import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(p):
    """Entry by entry from the formula with two indices."""
    n = p.shape[-1]
    rows = p.reshape(-1, n)
    matrices = [
        [[row[i] * ((i == j) - row[j]) for j in range(n)] for i in range(n)] for row in rows
    ]
    return np.array(matrices, dtype=p.dtype).reshape(*p.shape, n)


@only("numpy")
def with_einsum(p):
    """Two outer products with the identity."""
    n = p.shape[-1]
    return np.einsum("...i,ij->...ij", p, np.eye(n, dtype=p.dtype)) - np.einsum(
        "...i,...j->...ij", p, p
    )


@only("torch")
def with_diag_embed(p):
    """diag(p) minus the outer product."""
    return torch.diag_embed(p) - p.unsqueeze(-1) @ p.unsqueeze(-2)


@only("torch")
def as_a_covariance(p):
    """The covariance of a one-hot draw: E[e e^T] - E[e] E[e]^T, written with the identity's rows."""
    one_hot = torch.eye(p.shape[-1], dtype=p.dtype, device=p.device)
    centred = one_hot - p.unsqueeze(-2)
    return centred.mT @ (p.unsqueeze(-1) * centred)
