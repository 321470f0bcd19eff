import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(x, X, Y, h):
    """One new point and one observation at a time, counted from the nearest."""
    answer = np.empty((len(x), Y.shape[1]), dtype=Y.dtype)
    for i, at in enumerate(x.tolist()):
        squared = [math.dist(at, point) ** 2 for point in X.tolist()]
        kernel = [math.exp((min(squared) - one) / (2 * h * h)) for one in squared]
        for column, observed in enumerate(Y.T.tolist()):
            total = math.fsum(k * y for k, y in zip(kernel, observed, strict=True))
            answer[i, column] = total / math.fsum(kernel)
    return answer


@only("numpy")
def one_axis_at_a_time(x, X, Y, h):
    """Scores summed coordinate by coordinate, in units of h."""
    scores = -sum(np.subtract.outer(a / h, b / h) ** 2 for a, b in zip(x.T, X.T, strict=True)) / 2
    weights = np.exp(scores - scores.max(axis=1)[:, None])
    weights /= weights.sum(axis=1)[:, None]
    return weights @ Y


@only("torch")
def by_distances(x, X, Y, h):
    """Torch's distances and torch's softmax."""
    distance = torch.cdist(x, X, compute_mode="donot_use_mm_for_euclid_dist")
    return torch.softmax(-0.5 * (distance / h) ** 2, dim=1) @ Y


@only("torch")
def by_attention(x, X, Y, h):
    """Scaled dot-product attention with the keys' lengths taken off as a mask of numbers."""
    centre = X.double().mean(0)
    q, k = (x.double() - centre) / h, (X.double() - centre) / h
    bias = (-(k**2).sum(-1) / 2).expand(len(q), len(k))
    answer = torch.nn.functional.scaled_dot_product_attention(
        q[None], k[None], Y.double()[None], attn_mask=bias[None], scale=1.0
    )
    return answer[0].to(Y.dtype)
