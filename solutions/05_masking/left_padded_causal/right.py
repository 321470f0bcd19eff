import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(lengths, n):
    """One story, one query, one key after the other."""
    table = np.zeros((len(lengths), n, n), dtype=bool)
    for b, length in enumerate(lengths):
        for i in range(n):
            for j in range(n - int(length), i + 1):
                table[b, i, j] = True
    return table


@only("numpy")
def pasted_triangles(lengths, n):
    """A small triangle for each story, pasted into its lower right corner."""
    table = np.zeros((len(lengths), n, n), dtype=bool)
    for story, length in zip(table, lengths, strict=True):
        story[n - length :, n - length :] = np.tri(length, dtype=bool)
    return table


@only("torch")
def triangle_times_columns(lengths, n):
    """A triangle, with the columns of padding taken out."""
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    padding = torch.arange(n)[None] < (n - lengths)[:, None]
    return causal & ~padding.unsqueeze(1)


@only("torch")
def counted_from_behind(lengths, n):
    """Keys numbered from the end of the row: the last is 1."""
    from_behind = torch.arange(n, 0, -1)
    inside = from_behind[None, None, :] <= lengths[:, None, None]
    return inside & (from_behind[None, None, :] >= from_behind[None, :, None])
