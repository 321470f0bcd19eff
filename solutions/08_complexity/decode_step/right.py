import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(q, k, v, cache):
    """Key by key, value by value."""
    keys = [*(cache[0] if cache is not None else []), k]
    values = [*(cache[1] if cache is not None else []), v]
    scores = [
        math.fsum(a * b for a, b in zip(q, key, strict=True)) / math.sqrt(len(q)) for key in keys
    ]
    weights = [math.exp(score - max(scores)) for score in scores]
    output = sum(weight * value for weight, value in zip(weights, values, strict=True)) / math.fsum(
        weights
    )
    return output, (np.array(keys), np.array(values))


@only("torch")
def with_torch(q, k, v, cache):
    """Concatenate, then softmax."""
    K, V = k[None], v[None]
    if cache is not None:
        K, V = torch.cat([cache[0], K]), torch.cat([cache[1], V])
    return torch.softmax(q @ K.T / q.numel() ** 0.5, dim=0) @ V, (K, V)


@only("numpy")
def newest_apart(q, k, v, cache):
    """The new word's term and the sums over the cache, added, all from one level."""
    new, root = (k[None], v[None]), len(q) ** 0.5
    if cache is None:
        return v, new
    earlier, own = np.einsum("jd,d->j", cache[0], q) / root, (q * k).sum() / root
    level = max(own, *earlier)
    earlier, own = np.exp(earlier - level), np.exp(own - level)
    output = (np.einsum("j,je->e", earlier, cache[1]) + own * v) / (earlier.sum() + own)
    return output, tuple(np.append(old, one, axis=0) for old, one in zip(cache, new, strict=True))
