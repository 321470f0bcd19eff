import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(W_Q, W_K, Sigma):
    """The score is a double sum over entries of x and y; its second moment a fourfold one."""
    d_model, d_k = W_Q.shape
    M = [
        [sum(W_Q[a, e] * W_K[b, e] for e in range(d_k)) for b in range(d_model)]
        for a in range(d_model)
    ]
    rows = range(d_model)
    second = math.fsum(
        M[a][b] * M[c][e] * Sigma[a, c] * Sigma[b, e]
        for a in rows
        for b in rows
        for c in rows
        for e in rows
    )
    return W_Q / math.sqrt(second / d_k)


@only("numpy")
def by_cholesky(W_Q, W_K, Sigma):
    """With white tokens the variance is the squared norm of one matrix."""
    root = np.linalg.cholesky(Sigma)
    between = (root.T @ W_Q) @ (root.T @ W_K).T
    return W_Q * (np.sqrt(W_Q.shape[1]) / np.linalg.norm(between))


@only("torch")
def by_einsum(W_Q, W_K, Sigma):
    """One product, written with indices."""
    M = W_Q @ W_K.T
    variance = torch.einsum("ab,ac,cd,bd->", M, Sigma, M, Sigma) / W_Q.shape[-1]
    return W_Q * variance.rsqrt()


@only("torch")
def by_eigenvectors(W_Q, W_K, Sigma):
    """Tokens in the axes of their covariance."""
    sizes, axes = torch.linalg.eigh(Sigma)
    half = axes * sizes.clamp_min(0).sqrt()
    queries, keys = half.T @ W_Q, half.T @ W_K
    deviation = torch.linalg.matrix_norm(queries @ keys.T) / math.sqrt(W_Q.shape[1])
    return W_Q / deviation
