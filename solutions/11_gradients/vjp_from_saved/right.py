import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def key_by_key(Q, K, V, output, lse, dO, block):
    """One key at a time, whatever the block."""
    root = math.sqrt(Q.shape[1])
    dQ, dK, dV = np.zeros_like(Q), np.empty_like(K), np.empty_like(V)
    for j, (k, v) in enumerate(zip(K, V, strict=True)):
        weights = np.exp(Q @ k / root - lse)
        pulls = weights * ((v - output) * dO).sum(axis=1) / root
        dV[j] = weights @ dO
        dK[j] = pulls @ Q
        dQ += np.outer(pulls, k)
    return dQ, dK, dV


@only("numpy")
def one_more_column(Q, K, V, output, lse, dO, block):
    """The log-sum-exp and the row sums ride along as one more column of Q and of dO."""
    d_k = Q.shape[1]
    wide_Q = np.column_stack([Q / d_k**0.5, -lse])
    wide_dO = np.column_stack([dO, -np.einsum("if,if->i", dO, output)])
    dQ, dK, dV = 0, [], []
    for keys, values in zip(_cut(K, block), _cut(V, block), strict=True):
        one = np.ones((len(keys), 1), dtype=K.dtype)
        A = np.exp(wide_Q @ np.hstack([keys, one]).T)
        dS = A * (wide_dO @ np.hstack([values, one]).T)
        dQ = dQ + dS @ keys / d_k**0.5
        dK.append(dS.T @ wide_Q[:, :d_k])
        dV.append(A.T @ dO)
    return dQ, np.concatenate(dK), np.concatenate(dV)


def _cut(x, block):
    return [x[start : start + block] for start in range(0, len(x), block)]


@only("torch")
def in_torch(Q, K, V, output, lse, dO, block):
    """torch.split makes the blocks."""
    root = Q.shape[-1] ** 0.5
    mean = torch.linalg.vecdot(dO, output).unsqueeze(1)
    dQ, dK, dV = torch.zeros_like(Q), [], []
    for keys, values in zip(K.split(block), V.split(block), strict=True):
        A = (Q @ keys.mT / root - lse.unsqueeze(1)).exp()
        dS = A * (dO @ values.mT - mean) / root
        dQ = dQ + dS @ keys
        dK.append(dS.mT @ Q)
        dV.append(A.mT @ dO)
    return dQ, torch.cat(dK), torch.cat(dV)


@only("torch")
def query_by_query(Q, K, V, output, lse, dO, block):
    """One query at a time over all keys: a row is no table."""
    root = Q.shape[-1] ** 0.5
    dQ, dK, dV = torch.zeros_like(Q), torch.zeros_like(K), torch.zeros_like(V)
    for i in range(len(Q)):
        weights = torch.exp(K @ Q[i] / root - lse[i])
        pull = weights * ((V - output[i]) @ dO[i]) / root
        dQ[i] = pull @ K
        dK.addr_(pull, Q[i])
        dV.addr_(weights, dO[i])
    return dQ, dK, dV
