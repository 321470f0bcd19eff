import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(n_q, n_k, align):
    """Cell by cell, counted from the end that is named."""
    table = np.zeros((n_q, n_k), dtype=bool)
    for i in range(n_q):
        for j in range(n_k):
            steps_back = i - j if align == "start" else (n_k - 1 - j) - (n_q - 1 - i)
            table[i, j] = steps_back >= 0
    return table


@only("numpy")
def cut_from_a_square(n_q, n_k, align):
    """A corner of a large square table: the upper left or the lower right."""
    n = max(n_q, n_k)
    square = np.tri(n, dtype=bool)
    return square[:n_q, :n_k] if align == "start" else square[n - n_q :, n - n_k :]


@only("torch")
def lower_triangle(n_q, n_k, align):
    """torch.tril with the diagonal moved."""
    table = torch.ones(n_q, n_k, dtype=torch.bool)
    return table.tril(diagonal=0 if align == "start" else n_k - n_q)


@only("torch")
def turned_round(n_q, n_k, align):
    """Counted from behind: not ahead of the query."""
    queries, keys = torch.arange(n_q), torch.arange(n_k)
    if align == "end":
        queries, keys = queries - n_q, keys - n_k
    return ~(keys[None] > queries[:, None])
