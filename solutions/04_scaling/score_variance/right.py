import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(mu_q, Sigma_q, mu_k, Sigma_k):
    """Second moments written out, index by index."""
    d = len(mu_q)
    second = 0.0
    for i in range(d):
        for j in range(d):
            second += (Sigma_q[i, j] + mu_q[i] * mu_q[j]) * (Sigma_k[i, j] + mu_k[i] * mu_k[j])
    mean = sum(mu_q[i] * mu_k[i] for i in range(d))
    return (second - mean * mean) / d


@only("numpy")
def elementwise(mu_q, Sigma_q, mu_k, Sigma_k):
    """A trace of a product is a sum of products of entries."""
    both = Sigma_q * Sigma_k + np.outer(mu_q, mu_q) * Sigma_k + Sigma_q * np.outer(mu_k, mu_k)
    return float(both.sum()) / mu_q.size


@only("torch")
def given_the_query(mu_q, Sigma_q, mu_k, Sigma_k):
    """The law of total variance: for a given query, then over queries."""
    within = torch.einsum("ij,ij->", Sigma_q + torch.outer(mu_q, mu_q), Sigma_k)
    between = mu_k @ (Sigma_q @ mu_k)
    return (within + between) / Sigma_q.shape[0]


@only("torch")
def through_second_moments(mu_q, Sigma_q, mu_k, Sigma_k):
    """Two matrices of second moments, one trace."""
    moments_q = Sigma_q + mu_q[:, None] * mu_q
    moments_k = Sigma_k + mu_k[:, None] * mu_k
    return (torch.trace(moments_q @ moments_k) - torch.dot(mu_q, mu_k) ** 2) / len(mu_q)
