r"""Multi-head attention: several averages side by side, each with its own reading of the tokens."""

from typing import Any, NamedTuple

from array_api_compat import array_namespace
from jaxtyping import Float

from course_lib._door import Array, check, enter, leave, shape_of
from course_lib.attention import Mask, attention_with_weights, project, repeat_groups


class MultiHeadWeights(NamedTuple):
    """Projections of all heads side by side, heads in blocks of columns; a token is a row.

    Fewer columns in `W_K` and `W_V` than heads would need means that neighbouring heads share.
    """

    W_Q: Float[Array, "d_model heads*d_k"]
    W_K: Float[Array, "d_keys groups*d_k"]
    W_V: Float[Array, "d_values groups*d_v"]
    W_O: Float[Array, "heads*d_v d_out"]
    b_Q: Float[Array, " heads*d_k"] | None = None
    b_K: Float[Array, " groups*d_k"] | None = None
    b_V: Float[Array, " groups*d_v"] | None = None
    b_O: Float[Array, " d_out"] | None = None


def split_heads(
    X: Float[Array, "*batch n d_model"], heads: int
) -> Float[Array, "*batch heads n d_head"]:
    r"""Cut the features of each token into blocks, one for each head.

    $X^{(h)}_{ie} = X_{i,\,h d + e}$ with $d = d_{model}/H$  -- Exercise 6.5.
    """
    xp, dtype, X = enter(split_heads, X=X)
    *batch, n, d_model = X.shape
    check(
        heads > 0 and d_model % heads == 0,
        f"X has shape {shape_of(X)} and heads is {heads}; expected heads to divide {d_model}",
    )
    by_token = xp.reshape(X, (*batch, n, heads, d_model // heads))
    return leave(_swap(xp, by_token), dtype)


def merge_heads(
    X: Float[Array, "*batch heads n d_head"],
) -> Float[Array, "*batch n heads*d_head"]:
    r"""Put the heads of each token side by side again: the inverse of `split_heads`.

    $\mathrm{Concat}(X^{(1)}, \dots, X^{(H)})$  -- Eq. (6.1).
    """
    xp, dtype, X = enter(merge_heads, X=X)
    *batch, heads, n, d_head = X.shape
    return leave(xp.reshape(_swap(xp, X), (*batch, n, heads * d_head)), dtype)


def multi_head_attention(
    query: Float[Array, "*batch n_q d_model"],
    key: Float[Array, "*batch n_k d_keys"],
    value: Float[Array, "*batch n_k d_values"],
    weights: MultiHeadWeights,
    heads: int,
    attn_mask: Mask = None,
    is_causal: bool = False,
    dropout_p: float = 0.0,
) -> tuple[Float[Array, "*batch n_q d_out"], Float[Array, "*batch heads n_q n_k"]]:
    r"""Attend with every head and project the heads together; return output and weights per head.

    $\mathrm{Concat}(head_1, \dots, head_H) W_O$ with $head_h = \mathrm{Attention}(Q W_Q^{(h)},
    K W_K^{(h)}, V W_V^{(h)})$  -- Eq. (6.1); Vaswani et al. 2017, Sec. 3.2.2.

    `multi_head_from_torch` makes the weights of a torch.nn.MultiheadAttention. True in a mask means
    may attend, the opposite of that module; the mask has axes that broadcast to (batch, heads, n_q,
    n_k). A query that may look at nothing gets the bias b_O.
    """
    _, dtype, query, key, value, weights = enter(
        multi_head_attention, query=query, key=key, value=value, weights=weights
    )
    groups = _groups(weights, heads)
    Q = split_heads(project(query, weights.W_Q, weights.b_Q), heads)
    K = split_heads(project(key, weights.W_K, weights.b_K), groups)
    V = split_heads(project(value, weights.W_V, weights.b_V), groups)
    output, attended = attention_with_weights(
        Q, K, V, attn_mask, dropout_p, is_causal, enable_gqa=True
    )
    output = project(merge_heads(output), weights.W_O, weights.b_O)
    return leave(output, dtype), leave(attended, dtype)


def head_contributions(
    attended: Float[Array, "*batch heads n_q n_k"],
    value: Float[Array, "*batch n_k d_values"],
    weights: MultiHeadWeights,
) -> Float[Array, "*batch heads n_q d_out"]:
    r"""What each head adds to the output: their sum over heads, plus b_O, is Eq. (6.1).

    $A^{(h)} V W_V^{(h)} W_O^{(h)}$ with $W_O^{(h)}$ the h-th block of rows  -- Eq. (6.2).
    """
    xp, dtype, attended, value, weights = enter(
        head_contributions, attended=attended, value=value, weights=weights
    )
    heads, (rows, d_out) = attended.shape[-3], weights.W_O.shape
    check(
        heads > 0 and rows > 0 and rows % heads == 0,
        f"weights.W_O has shape {shape_of(weights.W_O)} and attended {shape_of(attended)}; expected"
        f" the {heads} heads to divide the {rows} rows",
    )
    d_v = rows // heads
    check(
        weights.W_V.shape[1] % d_v == 0,
        f"weights.W_V has shape {shape_of(weights.W_V)}; expected its columns to be a multiple of"
        f" d_v = {d_v}, which W_O and {heads} heads give",
    )
    blocks = xp.reshape(weights.W_O, (heads, d_v, d_out))
    values = project(value, weights.W_V, weights.b_V)
    V = split_heads(values, values.shape[-1] // d_v)
    return leave(xp.matmul(xp.matmul(attended, repeat_groups(V, heads)), blocks), dtype)


def multi_head_from_torch(module: Any) -> MultiHeadWeights:
    r"""Read the weights of a torch.nn.MultiheadAttention; its number of heads is module.num_heads.

    $W = W_{torch}^\top$, and $W_Q, W_K, W_V$ are stacked in this order in in_proj_weight
    -- Chapter 6.
    """
    check(
        module.bias_k is None and module.bias_v is None and not module.add_zero_attn,
        "the module has add_bias_kv or add_zero_attn, which add a key that no token gave;"
        " expected a module without them",
    )
    if module.in_proj_weight is None:
        projections = (module.q_proj_weight, module.k_proj_weight, module.v_proj_weight)
    else:
        projections = module.in_proj_weight.chunk(3)
    has_bias = module.in_proj_bias is not None
    biases = module.in_proj_bias.chunk(3) if has_bias else (None, None, None)
    W_Q, W_K, W_V = (W.mT for W in projections)
    b_Q, b_K, b_V = biases
    W_O, b_O = module.out_proj.weight.mT, module.out_proj.bias
    return MultiHeadWeights(W_Q, W_K, W_V, W_O, b_Q, b_K, b_V, b_O)


def multi_head_to_torch(weights: MultiHeadWeights, module: Any) -> None:
    r"""Write the weights into a torch.nn.MultiheadAttention of the same sizes.

    $W_{torch} = W^\top$  -- Chapter 6.
    """
    targets = multi_head_from_torch(module)
    for name, given, target in zip(weights._fields, weights, targets, strict=True):
        sizes = [None if W is None else shape_of(W) for W in (given, target)]
        check(
            sizes[0] == sizes[1],
            f"{name} has shape {sizes[0]}; expected {sizes[1]}, as in the module",
        )
        if target is not None:  # a view of the module's own parameter
            xp = array_namespace(target)
            target.detach()[...] = xp.asarray(given, dtype=target.dtype, device=target.device)


def _groups(weights: MultiHeadWeights, heads: int) -> int:
    """Return how many heads the keys have: as many as fit at the width of a query's head."""
    columns = weights.W_Q.shape[1]
    check(
        heads > 0 and columns % heads == 0,
        f"weights.W_Q has shape {shape_of(weights.W_Q)} and heads is {heads}; expected heads to"
        f" divide {columns}",
    )
    d_k = columns // heads
    check(
        d_k > 0 and weights.W_K.shape[1] % d_k == 0,
        f"weights.W_K has shape {shape_of(weights.W_K)}; expected its columns to be a multiple of"
        f" d_k = {d_k}, which W_Q and {heads} heads give",
    )
    groups, rows = weights.W_K.shape[1] // d_k, weights.W_O.shape[0]
    check(
        groups > 0 and rows * groups == heads * weights.W_V.shape[1],
        f"weights.W_V has shape {shape_of(weights.W_V)} and weights.W_O {shape_of(weights.W_O)};"
        f" expected as many columns for each of the {groups} groups as rows for each of the"
        f" {heads} heads",
    )
    return int(groups)


def _swap(xp: Any, X: Array) -> Array:
    """Exchange the axes of tokens and heads."""
    return xp.moveaxis(X, -3, -2)
