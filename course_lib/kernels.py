r"""The kernel view: attention weights as a kernel divided by its row sums."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from course_lib._door import Array, as_like, check, enter, leave, shape_of
from course_lib.attention import attend
from course_lib.scoring import dot_scores, gaussian_scores, root


def exponential_kernel(
    X: Float[Array, "*#batch n d"], Y: Float[Array, "*#batch m d"]
) -> Float[Array, "*batch n m"]:
    r"""The kernel of softmax attention, before division by row sums.

    $\kappa(x, y) = e^{x \cdot y} = e^{|x|^2/2}\, e^{-|x - y|^2/2}\, e^{|y|^2/2}$  -- Eq. (10.6).
    """
    xp, dtype, X, Y = enter(exponential_kernel, X=X, Y=Y)
    return leave(xp.exp(dot_scores(X, Y)), dtype)


def gaussian_kernel(
    X: Float[Array, "*#batch n d"], Y: Float[Array, "*#batch m d"], bandwidth: float = 1.0
) -> Float[Array, "*batch n m"]:
    r"""The kernel of metric attention.

    $\kappa(x, y) = e^{-|x - y|^2/(2 s^2)}$  -- Eq. (10.2).
    """
    xp, dtype, X, Y = enter(gaussian_kernel, X=X, Y=Y)
    return leave(xp.exp(gaussian_scores(X, Y, bandwidth)), dtype)


def gram(kernel: Callable[[Array, Array], Array], X: Float[Array, "n d"]) -> Float[Array, "n n"]:
    r"""All values of a kernel between points of one set.

    $G_{ij} = \kappa(x_i, x_j)$  -- Eq. (10.4).
    """
    enter(gram, X=X)
    return kernel(X, X)


def row_normalised(G: Float[Array, "*batch n m"]) -> Float[Array, "*batch n m"]:
    r"""Turn a positive kernel into weights.

    $A = D^{-1} G$ with $D = \mathrm{diag}(G 1)$  -- Eq. (10.9).

    A row of zeros stays zeros. For symmetric $G$ the chain $A$ is reversible: $DA = G$.
    """
    xp, dtype, G = enter(row_normalised, G=G)
    total = xp.sum(G, axis=-1, keepdims=True)
    return leave(G / xp.where(total == 0, 1.0, total), dtype)


def symmetric_and_skew(
    M: Float[Array, "*batch n n"],
) -> tuple[Float[Array, "*batch n n"], Float[Array, "*batch n n"]]:
    r"""Split a relation into what is mutual and what is directed.

    $M = \frac12(M + M^\top) + \frac12(M - M^\top)$  -- Eq. (10.8).
    """
    xp, dtype, M = enter(symmetric_and_skew, M=M)
    return leave((M + M.mT) / 2, dtype), leave((M - M.mT) / 2, dtype)


def is_positive_semidefinite(G: Float[Array, "n n"]) -> bool:
    r"""Whether a matrix is symmetric without negative eigenvalues, as far as its dtype can tell.

    $G = G^\top$ and $\lambda_{min}(G) \ge 0$, both to within $n\,\epsilon\,|G|_F$  -- Eq. (10.5).

    A backward stable eigenvalue solver answers for a matrix within that distance of G, and by
    Weyl's inequality no eigenvalue moves further than the matrix: below is proof, above is noise.
    """
    xp, dtype, G = enter(is_positive_semidefinite, G=G)
    n = G.shape[0]
    if n == 0:
        return True
    tolerance = n * float(xp.finfo(dtype).eps) * float(xp.sqrt(xp.sum(G**2)))
    symmetric, skew = symmetric_and_skew(G)
    smallest = float(xp.min(xp.linalg.eigvalsh(symmetric)))
    largest_skew = float(xp.max(xp.abs(skew)))
    return bool(largest_skew <= tolerance and smallest >= -tolerance)


def equal_length_keys(
    Q: Float[Array, "*batch n_q d"], K: Float[Array, "*batch n_k d"]
) -> tuple[Float[Array, "*batch n_q d+1"], Float[Array, "*batch n_k d+1"]]:
    r"""One more coordinate makes all keys as long as the longest and changes no dot product.

    $q' = (q, 0)$, $k' = (k, \sqrt{\max_j |k_j|^2 - |k|^2})$  -- Exercise 10.3.

    Metric attention on $q', k'$ with $s^2 = \sqrt{d_k}$ is dot-product attention on $q, k$.
    """
    xp, dtype, Q, K = enter(equal_length_keys, Q=Q, K=K)
    check(K.shape[-2] > 0, f"K has shape {shape_of(K)}; expected at least one key")
    squared = xp.sum(K**2, axis=-1, keepdims=True)
    missing = root(xp.max(squared, axis=-2, keepdims=True) - squared)
    nothing = xp.zeros_like(Q[..., :1]) if Q.shape[-1] else xp.zeros((*Q.shape[:-1], 1))
    return leave(xp.concat([Q, nothing], axis=-1), dtype), leave(
        xp.concat([K, missing], axis=-1), dtype
    )


def diffusion_quotient(
    at: Float[Array, "m d"],
    values_at: Float[Array, " m"],
    points: Float[Array, "n d"],
    values: Float[Array, " n"],
    bandwidth: float,
    log_density: Float[Array, " n"] | None = None,
) -> Float[Array, " m"]:
    r"""How fast Gaussian attention of small width moves a function, per unit of time $s^2/2$.

    $(A_s f - f)/(s^2/2) \to \Delta f + 2\,\nabla \log\rho \cdot \nabla f$ as $s \to 0$
    -- Chapter 10.

    `points` stand for a density $\rho$, given by its logarithm on a regular grid or by where they
    are. A uniform density leaves the heat equation.
    """
    xp, dtype, at, values_at, points, values, log_density = enter(
        diffusion_quotient,
        at=at,
        values_at=values_at,
        points=points,
        values=values,
        log_density=log_density,
    )
    averaged, _ = attend(
        at,
        points,
        values[:, None],
        lambda x, y: gaussian_scores(x, y, bandwidth),
        attn_mask=None if log_density is None else log_density[None, :],
    )
    return leave((averaged[:, 0] - values_at) / (bandwidth**2 / 2), dtype)


def heat_kernel_on_circle(
    n: int, bandwidth: float, images: int = 8, like: Float[Array, "..."] | None = None
) -> Float[Array, "n n"]:
    r"""Row-normalised Gaussian weights between n equally spaced points of a circle.

    $A_s \propto \sum_m e^{-(\theta_i - \theta_j + 2\pi m)^2/(2s^2)}$, the solution operator of
    $u_t = u_{\theta\theta}$ at $t = s^2/2$: $A_s \cos k\theta = e^{-k^2 s^2/2} \cos k\theta$
    -- Chapter 10.

    Exact up to the grid, if it is finer than s; semigroup: $A_s A_s = A_{s\sqrt2}$.
    """
    check(n > 0 and bandwidth > 0, f"n is {n} and bandwidth {bandwidth}; expected both above 0")
    angle = 2 * np.pi * np.arange(n) / n
    turns = 2 * np.pi * np.arange(-images, images + 1)
    distance = angle[:, None, None] - angle[None, :, None] + turns
    weights = row_normalised(np.sum(np.exp(-(distance**2) / (2 * bandwidth**2)), axis=-1))
    return as_like(weights, like)
