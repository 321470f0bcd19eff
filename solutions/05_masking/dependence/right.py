import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def feature_by_feature(layer, X):
    """Each number by itself is doubled and raised by one."""
    n, d = X.shape
    before = layer(X)
    reads = np.zeros((n, n), dtype=bool)
    for j in range(n):
        for feature in range(d):
            changed = X.copy()
            changed[j, feature] = 2 * changed[j, feature] + 1
            after = layer(changed)
            for i in range(n):
                reads[i, j] |= bool((after[i] != before[i]).any())
    return reads


@only("numpy")
def with_a_tolerance(layer, X):
    """Random changes as large as the row, and a look at how far the outputs move."""
    random = np.random.default_rng(1)
    before, columns = layer(X.copy()), []
    for j in range(len(X)):
        size = 1 + np.abs(X[j]).max()
        other = X.copy()
        other[j] += (size * random.uniform(0.5, 2, size=X.shape[1])).astype(X.dtype)
        columns.append(np.abs(layer(other) - before).max(axis=-1) > 0)
    return np.stack(columns, axis=1)


@only("torch")
def fresh_rows(layer, X):
    """Each row in turn replaced by a random one."""
    before, n = layer(X), X.shape[0]
    other = torch.randn(X.shape, generator=torch.Generator().manual_seed(2)).to(X.dtype)
    rows = torch.eye(n, dtype=torch.bool)
    columns = [(layer(torch.where(row[:, None], other, X)) != before).any(-1) for row in rows]
    return torch.stack(columns, -1)


@only("torch")
def rolled_features(layer, X):
    """A row turned round and stretched, with fresh numbers added."""
    before = layer(X)
    reads = torch.zeros(len(X), len(X), dtype=torch.bool)
    for j in range(len(X)):
        changed = X.clone()
        changed[j] = 3 * X[j].flip(0) + torch.arange(1, X.shape[1] + 1).to(X.dtype) ** 2
        reads[:, j] = ~(layer(changed) == before).all(-1)
    return reads
