import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(S):
    """Sum the exponentials of each row, counted from the largest score of all."""
    top = max(max(row) for row in S.tolist())
    rows = [math.fsum(math.exp(score - top) for score in row) for row in S.tolist()]
    return np.array([row / math.fsum(rows) for row in rows], dtype=S.dtype)


@only("numpy")
def by_walking(S):
    """Double the number of steps until nothing changes."""
    A = np.exp(S.astype(np.float64) - S.max(axis=1, keepdims=True))
    A = A / A.sum(axis=1, keepdims=True)
    for _ in range(50):
        A = A @ A
        A = A / A.sum(axis=1, keepdims=True)
    return A[0].astype(S.dtype)


@only("torch")
def softmax_of_logsumexp(S):
    """The softmax of the log-sum-exps of the rows."""
    return torch.softmax(torch.logsumexp(S, dim=1), dim=0)


@only("torch")
def one_column_of_ones(S):
    """Kernel times a column of ones, in units of its largest entry."""
    kernel = (S - S.amax()).exp()
    total = kernel @ torch.ones(len(S), 1, dtype=S.dtype)
    return (total / total.sum()).squeeze(-1)
