r"""Reading attention: what weights say about a head, and what they leave out."""

import numpy as np
from array_api_compat import device
from jaxtyping import Float, Int

from course_lib._door import Array, as_like, check, enter, leave, shape_of
from course_lib.scoring import root
from course_lib.softmax_family import entropy


def attention_rollout(
    weights: Float[Array, "layers n n"], residual: float = 0.5
) -> Float[Array, "n n"]:
    r"""Follow the weights of all layers down to the input, with the residual path counted in.

    $R = \hat A_L \cdots \hat A_1$ with $\hat A_l = r I + (1 - r) A_l$  -- Eq. (14.1); Abnar and
    Zuidema 2020.

    Row i says where output i came from, if values were all alike; heads are averaged before.
    """
    xp, dtype, weights = enter(attention_rollout, weights=weights)
    check(0 <= residual <= 1, f"residual is {residual}; expected a share from 0 to 1")
    identity = xp.eye(weights.shape[-1], dtype=weights.dtype, device=device(weights))
    rollout = identity
    for layer in range(weights.shape[0]):
        A = weights[layer, ...]
        rollout = xp.matmul(residual * identity + (1 - residual) * A, rollout)
    return leave(rollout, dtype)


def head_entropy(weights: Float[Array, "*heads n_q n_k"]) -> Float[Array, "*heads"]:
    r"""Mean entropy in nats of the rows of a head: 0 looks at one key, ln n_k at all.

    $\frac{1}{n_q} \sum_i H(A_i)$  -- Eq. (14.2).
    """
    xp, dtype, weights = enter(head_entropy, weights=weights)
    _must_have_queries(weights)
    return leave(xp.mean(entropy(weights), axis=-1), dtype)


def attention_distance(weights: Float[Array, "*heads n n"]) -> Float[Array, "*heads"]:
    r"""Mean distance between a query and what it looks at.

    $\frac{1}{n} \sum_{ij} A_{ij}\, |i - j|$  -- Eq. (14.3).
    """
    xp, dtype, weights = enter(attention_distance, weights=weights)
    n = _must_have_queries(weights)
    distance = as_like(np.abs(np.arange(n)[:, None] - np.arange(n)), weights)
    return leave(xp.sum(weights * distance, axis=(-2, -1)) / n, dtype)


def previous_token_score(weights: Float[Array, "*heads n n"]) -> Float[Array, "*heads"]:
    r"""Mean weight on the token just before; the first token has none and is left out.

    $\frac{1}{n - 1} \sum_{i \ge 1} A_{i, i-1}$  -- Eq. (14.4).
    """
    xp, dtype, weights = enter(previous_token_score, weights=weights)
    n = weights.shape[-1]
    check(n > 1, f"weights has shape {shape_of(weights)}; expected at least two tokens")
    before = as_like(np.eye(n, k=-1), weights)
    return leave(xp.sum(weights * before, axis=(-2, -1)) / (n - 1), dtype)


def induction_score(
    weights: Float[Array, "*heads n n"], tokens: Int[Array, " n"]
) -> Float[Array, "*heads"]:
    r"""Mean weight on what followed the same token earlier, over tokens that were seen before.

    $\frac{1}{|I|} \sum_{i \in I} \sum_j A_{ij}\, [\,t_{j-1} = t_i,\ j - 1 < i\,]$ with $I$ the
    places whose token came before  -- Eq. (14.5); Olsson et al. 2022.

    Zero if no token is repeated.
    """
    xp, dtype, weights, tokens = enter(induction_score, weights=weights, tokens=tokens)
    place = xp.arange(weights.shape[-1], device=device(weights))
    earlier = (tokens[:, None] == tokens[None, :]) & (place[None, :] < place[:, None])
    repeated = xp.sum(xp.astype(xp.any(earlier, axis=-1), weights.dtype))
    followed = xp.astype(earlier[:, :-1], weights.dtype)
    on_target = xp.sum(weights[..., 1:] * followed, axis=(-2, -1))
    return leave(on_target / xp.where(repeated == 0, 1.0, repeated), dtype)


def value_weighted(
    weights: Float[Array, "*batch n_q n_k"], values: Float[Array, "*batch n_k d_v"]
) -> Float[Array, "*batch n_q n_k"]:
    r"""How much each value adds to the output in length: a large weight on a short value is little.

    $\alpha_{ij} |v_j|$  -- Eq. (14.6); Kobayashi et al. 2020.
    """
    xp, dtype, weights, values = enter(value_weighted, weights=weights, values=values)
    lengths = root(xp.sum(values**2, axis=-1))
    return leave(weights * lengths[..., None, :], dtype)


def _must_have_queries(weights: Array) -> int:
    n_q = int(weights.shape[-2])
    check(n_q > 0, f"weights has shape {shape_of(weights)}; expected at least one query")
    return n_q
