import math

import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """One story, one head, one question after the other; the heads are added up."""
    batch, n_q, d_model = X_q.shape
    d = d_model // heads
    output = np.zeros(X_q.shape, dtype=X_q.dtype)
    for b in range(batch):
        for h in range(heads):
            own = slice(h * d, (h + 1) * d)
            Q, K, V = X_q[b] @ W_Q[:, own], X_kv[b] @ W_K[:, own], X_kv[b] @ W_V[:, own]
            for i in range(n_q):
                seen = [j for j in range(len(K)) if may_attend is None or may_attend[b, i, j]]
                loudness = np.array([math.exp(Q[i] @ K[j] / math.sqrt(d)) for j in seen])
                output[b, i] += loudness / loudness.sum() @ V[seen] @ W_O[own]
    return output


@only("numpy")
def with_einsum(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """Matrices cut into heads, tokens left alone."""
    d_model = X_q.shape[-1]
    W_q, W_k, W_v = (W.reshape(d_model, heads, -1) for W in (W_Q, W_K, W_V))
    scores = np.einsum("bia,ahe,bjc,che->bhij", X_q, W_q, X_kv, W_k, optimize=True)
    loudness = np.exp(scores / (d_model / heads) ** 0.5)
    if may_attend is not None:
        loudness = loudness * may_attend[:, None]
    weights = loudness / loudness.sum(-1, keepdims=True)
    out = W_O.reshape(heads, -1, d_model)
    return np.einsum("bhij,bja,ahe,heo->bio", weights, X_kv, W_v, out, optimize=True)


@only("torch")
def by_the_library(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """The library's attention between a split and a merge."""

    def split(X):
        return X.unflatten(-1, (heads, -1)).transpose(1, 2)

    mask = None if may_attend is None else may_attend.unsqueeze(1)
    attention = torch.nn.functional.scaled_dot_product_attention
    output = attention(split(X_q @ W_Q), split(X_kv @ W_K), split(X_kv @ W_V), attn_mask=mask)
    return output.transpose(1, 2).flatten(2) @ W_O


@only("torch")
def heads_in_the_batch(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """Heads moved into the batch, so that there are only three axes."""

    def split(X):
        return torch.cat(X.chunk(heads, dim=-1))

    Q, K, V = split(X_q @ W_Q), split(X_kv @ W_K), split(X_kv @ W_V)
    scores = torch.bmm(Q, K.mT) / Q.shape[-1] ** 0.5
    if may_attend is not None:
        scores = scores.masked_fill(~may_attend.repeat(heads, 1, 1), -torch.inf)
    output = torch.bmm(torch.softmax(scores, dim=-1), V)
    return torch.cat(output.chunk(heads), dim=-1) @ W_O
