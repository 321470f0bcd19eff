import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(Q, K, V, may_attend):
    """For each query the visible keys are picked out, and attention is computed on them."""
    answer = np.zeros((*Q.shape[:-1], V.shape[-1]), dtype=V.dtype)
    for *batch, i in np.ndindex(Q.shape[:-1]):
        batch = tuple(batch)
        visible = np.flatnonzero(may_attend[batch][i])
        scores = [float(Q[batch][i] @ K[batch][j]) / math.sqrt(Q.shape[-1]) for j in visible]
        exponentials = [math.exp(score - max(scores)) for score in scores]
        for e, j in zip(exponentials, visible, strict=True):
            answer[batch][i] += e / math.fsum(exponentials) * V[batch][j]
    return answer


@only("numpy")
def with_cleared_copies(Q, K, V, may_attend):
    """For each query its own copy of keys and values, with zeros where it may not look."""
    seen = may_attend[..., None]
    keys = np.where(seen, K[..., None, :, :], 0)
    values = np.where(seen, V[..., None, :, :], 0)
    scores = (keys @ Q[..., None])[..., 0] / np.sqrt(Q.shape[-1], dtype=Q.dtype)
    low = np.finfo(Q.dtype).min
    largest = np.max(scores, axis=-1, keepdims=True, where=may_attend, initial=low)
    largest = np.where(may_attend.any(-1, keepdims=True), largest, 0)
    powers = np.where(may_attend, np.exp(np.where(may_attend, scores - largest, 0)), 0)
    total = powers.sum(-1, keepdims=True)
    return (powers[..., None, :] @ values)[..., 0, :] / np.maximum(total, 0.5)


@only("torch")
def softmax_then_nan_to_zero(Q, K, V, may_attend):
    """torch's softmax; the rows of nan that it returns for empty rows are set to zero."""
    scores = (Q @ K.mT / math.sqrt(Q.shape[-1])).masked_fill(~may_attend, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    weights = weights.masked_fill(~may_attend.any(-1, keepdim=True), 0)
    shares = weights.unsqueeze(-1) * V.unsqueeze(-3)
    return torch.where(may_attend.unsqueeze(-1), shares, 0).sum(-2)


@only("torch")
def through_the_logarithm(Q, K, V, may_attend):
    """Log-sum-exp over the visible keys, one query after the other."""
    answers = []
    for i in range(Q.shape[-2]):
        seen = may_attend[..., i, :]
        scores = (Q[..., i : i + 1, :] * K).sum(-1) / math.sqrt(Q.shape[-1])
        scores = torch.where(seen, scores, -torch.inf)
        weights = torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))
        weights = torch.where(seen, weights, 0)
        answers.append((weights[..., None] * torch.where(seen[..., None], V, 0)).sum(-2))
    return torch.stack(answers, -2)
