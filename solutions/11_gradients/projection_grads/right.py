import numpy as np
import torch

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(X, W_Q, W_K, W_V, dQ, dK, dV):
    """Entry by entry: x_ia reaches q_ie through w_ae, and so does w_ae through x_ia."""
    dX = np.zeros_like(X)
    gradients = []
    for W, upstream in ((W_Q, dQ), (W_K, dK), (W_V, dV)):
        dW = np.zeros_like(W)
        for i, a, e in np.ndindex(*X.shape, W.shape[1]):
            dX[i, a] += upstream[i, e] * W[a, e]
            dW[a, e] += upstream[i, e] * X[i, a]
        gradients.append(dW)
    return dX, *gradients


@only("numpy")
def side_by_side(X, W_Q, W_K, W_V, dQ, dK, dV):
    """One wide matrix, one wide gradient, cut apart in the end."""
    W, upstream = np.hstack([W_Q, W_K, W_V]), np.hstack([dQ, dK, dV])
    d_k = W_Q.shape[1]
    dW = np.einsum("ia,ie->ae", X, upstream)
    return upstream @ W.T, dW[:, :d_k], dW[:, d_k : 2 * d_k], dW[:, 2 * d_k :]


@only("torch")
def token_by_token(X, W_Q, W_K, W_V, dQ, dK, dV):
    """Outer products added up, one token after the other."""
    dX = torch.stack([W_Q @ q + W_K @ k + W_V @ v for q, k, v in zip(dQ, dK, dV, strict=True)])
    grads = [
        sum(torch.outer(x, row) for x, row in zip(X, upstream, strict=True))
        for upstream in (dQ, dK, dV)
    ]
    return dX, *grads
