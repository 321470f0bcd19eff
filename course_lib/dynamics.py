r"""Attention as motion: tokens that pull each other, layer after layer or in continuous time."""

from jaxtyping import Float

from course_lib._door import Array, check, enter, leave, shape_of
from course_lib.attention import attend
from course_lib.scoring import dot_scores, root
from course_lib.softmax_family import log_softmax


def flow_velocity(X: Float[Array, "n d"], beta: float) -> Float[Array, "n d"]:
    r"""Velocity of tokens on the unit sphere that attend to each other with Q = K = V = X.

    $\dot x_i = P_{x_i} \sum_j A_{ij} x_j$ with $A = \mathrm{softmax}(\beta X X^\top)$ and
    $P_x y = y - (x \cdot y) x$  -- Eq. (13.1); Geshkovski et al. 2023.
    """
    xp, dtype, X = enter(flow_velocity, X=X)
    pulled, _ = attend(X, X, X, lambda Q, K: beta * dot_scores(Q, K))
    return leave(pulled - xp.sum(X * pulled, axis=-1, keepdims=True) * X, dtype)


def token_flow(
    X: Float[Array, "n d"], beta: float, step: float, steps: int
) -> Float[Array, "{steps}+1 n d"]:
    r"""Follow the tokens by Euler steps, each brought back to the sphere; the start is row 0.

    $x_i \leftarrow (x_i + h \dot x_i) / |x_i + h \dot x_i|$  -- Eq. (13.2).

    One step of size one, without the sphere, is a residual layer.
    """
    xp, dtype, X = enter(token_flow, X=X)
    check(
        step > 0 and steps >= 0,
        f"step is {step} and steps {steps}; expected above 0 and at least 0",
    )
    places = [X]
    for _ in range(steps):
        moved = places[-1] + step * flow_velocity(places[-1], beta)
        places.append(moved / xp.sqrt(xp.sum(moved**2, axis=-1, keepdims=True)))
    return leave(xp.stack(places), dtype)


def flow_energy(X: Float[Array, "n d"], beta: float) -> Float[Array, ""]:
    r"""The quantity that grows along the flow, largest when all tokens agree.

    $E = \frac{1}{2\beta n^2} \sum_{ij} e^{\beta x_i \cdot x_j}$  -- Eq. (13.3).
    """
    xp, dtype, X = enter(flow_energy, X=X)
    check(beta != 0, "beta is 0; expected another number")
    check(X.shape[0] > 0, f"X has shape {shape_of(X)}; expected at least one token")
    return leave(xp.mean(xp.exp(beta * dot_scores(X, X))) / (2 * beta), dtype)


def distance_to_consensus(X: Float[Array, "*batch n d"]) -> Float[Array, "*batch"]:
    r"""How far tokens are from all being equal, relative to their size: 0 means rank collapse.

    $|X - 1 \bar x|_F / |X|_F$ with the mean token $\bar x$  -- Eq. (13.4); Dong, Cordonnier and
    Loukas 2021.

    All zeros are at distance 0.
    """
    xp, dtype, X = enter(distance_to_consensus, X=X)
    check(X.shape[-2] > 0, f"X has shape {shape_of(X)}; expected at least one token")
    apart = X - xp.mean(X, axis=-2, keepdims=True)
    squared = xp.sum(X**2, axis=(-2, -1))
    ratio = xp.sum(apart**2, axis=(-2, -1)) / xp.where(squared == 0, 1.0, squared)
    return leave(root(ratio), dtype)


def hopfield_update(
    state: Float[Array, "*#batch n_q d"], patterns: Float[Array, "*#batch n d"], beta: float
) -> Float[Array, "*batch n_q d"]:
    r"""One step of recall from an associative memory: attention with patterns as keys and values.

    $\xi \leftarrow \mathrm{softmax}(\beta\, \xi X^\top)\, X$  -- Eq. (13.5); Ramsauer et al. 2020.
    """
    _, dtype, state, patterns = enter(hopfield_update, state=state, patterns=patterns)
    recalled, _ = attend(state, patterns, patterns, lambda Q, K: beta * dot_scores(Q, K))
    return leave(recalled, dtype)


def sparsemax(x: Float[Array, "*rows n"]) -> Float[Array, "*rows n"]:
    r"""The weights nearest to the scores: small ones become exactly zero.

    $p_j = \max(0, x_j - \tau)$ with $\tau$ such that $\sum_j p_j = 1$  -- Eq. (13.6); Martins and
    Astudillo 2016.
    """
    xp, dtype, x = enter(sparsemax, x=x)
    check(x.shape[-1] > 0, f"x has shape {shape_of(x)}; expected at least one entry in each row")
    gap = x - xp.max(x, axis=-1, keepdims=True)
    ordered = xp.sort(gap, axis=-1, descending=True)
    count = xp.cumulative_sum(xp.ones_like(ordered), axis=-1)
    excess = xp.cumulative_sum(ordered, axis=-1) - 1
    kept = xp.sum(xp.astype(count * ordered > excess, gap.dtype), axis=-1, keepdims=True)
    tau = xp.sum(xp.where(count == kept, excess / count, 0.0), axis=-1, keepdims=True)
    return leave(xp.where(gap <= tau, 0.0, gap - tau), dtype)


def sinkhorn(
    scores: Float[Array, "*batch n n"], iterations: int = 50
) -> Float[Array, "*batch n n"]:
    r"""Divide by row sums and column sums in turn, until both are one.

    $A \leftarrow D_r^{-1} A$, $A \leftarrow A D_c^{-1}$ from $A = e^S$  -- Eq. (13.7); Sander et
    al. 2022.

    Computed on logarithms; columns are divided last.
    """
    xp, dtype, scores = enter(sinkhorn, scores=scores)
    check(iterations > 0, f"iterations is {iterations}; expected at least 1")
    logs = scores
    for _ in range(iterations):
        logs = log_softmax(log_softmax(logs, axis=-1), axis=-2)
    return leave(xp.exp(logs), dtype)
