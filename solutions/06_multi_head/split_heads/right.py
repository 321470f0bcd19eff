import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(X, heads):
    """Every entry is carried to its place."""
    batch, n, d_model = X.shape
    d = d_model // heads
    split = np.empty((batch, heads, n, d), dtype=X.dtype)
    for b in range(batch):
        for i in range(n):
            for feature in range(d_model):
                split[b, feature // d, i, feature % d] = X[b, i, feature]
    return split


@only("numpy")
def in_slices(X, heads):
    """Vertical slices of the table, stacked on a new axis."""
    return np.stack(np.split(X, heads, axis=-1), axis=1)


@only("torch")
def by_the_library(X, heads):
    """Two library calls."""
    return X.unflatten(-1, (heads, -1)).transpose(1, 2)


@only("torch")
def chunk_by_chunk(X, heads):
    """Chunks of features."""
    return torch.stack(X.chunk(heads, dim=2), dim=1)


@only("torch")
def reshaped_the_other_way(X, heads):
    """Features first, then blocks of features, then tokens and features exchanged."""
    batch, n, d_model = X.shape
    return X.mT.reshape(batch, heads, d_model // heads, n).mT
