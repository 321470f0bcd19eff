import math

import numpy as np
import torch

from course_lib.checking import only, oracle


def _loss(Q, K, V, dO, may_attend):
    """The inner product of dO and the output, row by row, for real and complex entries alike."""
    total = 0.0
    for i, q in enumerate(Q):
        seen = [j for j in range(len(K)) if may_attend is None or may_attend[i, j]]
        scores = np.array([K[j] @ q for j in seen]) / math.sqrt(len(q))
        if seen:
            loudness = np.exp(scores - scores.real.max())
            total += (loudness @ V[seen] / loudness.sum()) @ dO[i]
    return total


@oracle
@only("numpy")
def by_complex_step(Q, K, V, dO, may_attend=None):
    """No formula at all: nudge one entry by ih and read the imaginary part of the loss."""
    h, gradients = 1e-30, []
    for place in range(3):
        inputs = [Q.astype(complex), K.astype(complex), V.astype(complex)]
        gradient = np.empty_like((Q, K, V)[place])
        for entry in np.ndindex(gradient.shape):
            kept = inputs[place][entry]
            inputs[place][entry] = kept + 1j * h
            gradient[entry] = _loss(*inputs, dO, may_attend).imag / h
            inputs[place][entry] = kept
        gradients.append(gradient)
    return tuple(gradients)


@only("numpy")
def query_by_query(Q, K, V, dO, may_attend=None):
    """One query after the other, over the keys it sees."""
    dQ, dK, dV = (np.zeros_like(x) for x in (Q, K, V))
    root = math.sqrt(Q.shape[1])
    for i in range(len(Q)):
        seen = np.arange(len(K)) if may_attend is None else np.flatnonzero(may_attend[i])
        if seen.size == 0:
            continue
        scores = K[seen] @ Q[i] / root
        weights = np.exp(scores - scores.max())
        weights = weights / weights.sum()
        pull = weights * ((V[seen] - weights @ V[seen]) @ dO[i])
        dQ[i] = pull @ K[seen] / root
        dK[seen] += np.outer(pull, Q[i]) / root
        dV[seen] += np.outer(weights, dO[i])
    return dQ, dK, dV


@only("torch")
def with_the_output(Q, K, V, dO, may_attend=None):
    """The row sums from the output: rowsum(dO * O)."""
    scores = Q @ K.mT / Q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend, -torch.inf)
    A = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    output = A @ V
    dS = A * (dO @ V.mT - (dO * output).sum(-1, keepdim=True))
    return dS @ K / Q.shape[-1] ** 0.5, dS.mT @ Q / Q.shape[-1] ** 0.5, A.mT @ dO


@only("torch")
def with_jacobians(Q, K, V, dO, may_attend=None):
    """The Jacobian of softmax formed for every row."""
    scores = torch.einsum("ie,je->ij", Q, K) / Q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = torch.where(may_attend, scores, torch.full_like(scores, -1e30))
    A = torch.softmax(scores, dim=-1)
    if may_attend is not None:
        A = A * may_attend
    J = torch.diag_embed(A) - A[:, :, None] * A[:, None, :]
    dS = torch.einsum("ijl,il->ij", J, dO @ V.mT) / Q.shape[-1] ** 0.5
    return dS @ K, torch.einsum("ij,ie->je", dS, Q), torch.einsum("ij,if->jf", A, dO)
