r"""The Transformer block: attention and a feed-forward network, each with residual and norm."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from array_api_compat import device
from jaxtyping import Float

from course_lib._door import Array, check, enter, leave, shape_of
from course_lib.attention import Mask
from course_lib.heads import MultiHeadWeights, multi_head_attention, multi_head_from_torch
from course_lib.masks import check_mask
from course_lib.scoring import scaled_dot_scores
from course_lib.softmax_family import softmax
from course_lib.tokenwise import FeedForwardWeights, feed_forward, layer_norm, relu


class NormWeights(NamedTuple):
    """Gain and bias of a layer norm; `eps` is added to the variance, under the root."""

    gain: Float[Array, " d_model"] | None = None
    bias: Float[Array, " d_model"] | None = None
    eps: float = 1e-5


class EncoderWeights(NamedTuple):
    """One encoder block: norm_1 belongs to attention, norm_2 to the feed-forward network."""

    attention: MultiHeadWeights
    feed_forward: FeedForwardWeights
    norm_1: NormWeights
    norm_2: NormWeights


class DecoderWeights(NamedTuple):
    """One decoder block: attention to itself, to the source, and the feed-forward network."""

    attention: MultiHeadWeights
    cross_attention: MultiHeadWeights
    feed_forward: FeedForwardWeights
    norm_1: NormWeights
    norm_2: NormWeights
    norm_3: NormWeights


def encoder_block(
    X: Float[Array, "*batch n d_model"],
    weights: EncoderWeights,
    heads: int,
    attn_mask: Mask = None,
    norm_first: bool = False,
    activation: Callable[[Array], Array] = relu,
) -> Float[Array, "*batch n d_model"]:
    r"""Self-attention and feed-forward, each added to what it read.

    $x \leftarrow \mathrm{LN}(x + f(x))$, or with `norm_first` $x \leftarrow x + f(\mathrm{LN}(x))$
    -- Eq. (12.7); Vaswani et al. 2017, Sec. 3.1, and Xiong et al. 2020.
    """
    _, dtype, X, weights = enter(encoder_block, X=X, weights=weights)

    def attended(Y: Array) -> Array:
        return multi_head_attention(Y, Y, Y, weights.attention, heads, attn_mask)[0]

    X = _residual(X, attended, weights.norm_1, norm_first)
    fed = _feeding(weights.feed_forward, activation)
    return leave(_residual(X, fed, weights.norm_2, norm_first), dtype)


def decoder_block(
    X: Float[Array, "*batch n_q d_model"],
    source: Float[Array, "*batch n_k d_model"],
    weights: DecoderWeights,
    heads: int,
    attn_mask: Mask = None,
    source_mask: Mask = None,
    is_causal: bool = True,
    norm_first: bool = False,
    activation: Callable[[Array], Array] = relu,
) -> Float[Array, "*batch n_q d_model"]:
    r"""Causal self-attention, attention to the encoder's output, feed-forward.

    Eq. (12.7) three times, the second with $f(x) = \mathrm{MultiHead}(x, source, source)$
    -- Eq. (12.8).

    Attention to the source is never causal; the source is read as it is, without a norm.
    """
    _, dtype, X, source, weights = enter(decoder_block, X=X, source=source, weights=weights)
    if source_mask is not None:
        scores_shape = (*X.shape[:-2], heads, X.shape[-2], source.shape[-2])
        check_mask(source_mask, scores_shape, "source_mask", X=X)

    def to_itself(Y: Array) -> Array:
        return multi_head_attention(Y, Y, Y, weights.attention, heads, attn_mask, is_causal)[0]

    def to_source(Y: Array) -> Array:
        return multi_head_attention(Y, source, source, weights.cross_attention, heads, source_mask)[
            0
        ]

    X = _residual(X, to_itself, weights.norm_1, norm_first)
    X = _residual(X, to_source, weights.norm_2, norm_first)
    fed = _feeding(weights.feed_forward, activation)
    return leave(_residual(X, fed, weights.norm_3, norm_first), dtype)


def encoder_stack(
    X: Float[Array, "*batch n d_model"],
    layers: Sequence[EncoderWeights],
    heads: int,
    final_norm: NormWeights | None = None,
    **options: Any,
) -> Float[Array, "*batch n d_model"]:
    r"""Encoder blocks one after the other; norms before the sublayers need one more at the end.

    $x^{(l+1)} = \mathrm{Block}_l(x^{(l)})$  -- Eq. (12.9).
    """
    enter(encoder_stack, X=X, final_norm=final_norm)
    for weights in layers:
        X = encoder_block(X, weights, heads, **options)
    return X if final_norm is None else layer_norm(X, *final_norm)


def decoder_stack(
    X: Float[Array, "*batch n_q d_model"],
    source: Float[Array, "*batch n_k d_model"],
    layers: Sequence[DecoderWeights],
    heads: int,
    final_norm: NormWeights | None = None,
    **options: Any,
) -> Float[Array, "*batch n_q d_model"]:
    r"""Decoder blocks one after the other, all reading the same source.

    $x^{(l+1)} = \mathrm{Block}_l(x^{(l)}, source)$  -- Eq. (12.10).
    """
    enter(decoder_stack, X=X, source=source, final_norm=final_norm)
    for weights in layers:
        X = decoder_block(X, source, weights, heads, **options)
    return X if final_norm is None else layer_norm(X, *final_norm)


def shaped_weights(
    Q: Float[Array, "*batch n d_k"], K: Float[Array, "*batch n d_k"], temperature: float = 1.0
) -> Float[Array, "*batch n n"]:
    r"""Weights centred at the identity, which do not collapse the rank in deep stacks.

    $A = I + \mathrm{softmax}(QK^\top/(\tau\sqrt{d_k})) - \frac1n 1 1^\top$  -- Eq. (12.11); Noci
    et al. 2023.

    Rows sum to one, but entries may be negative.
    """
    xp, dtype, Q, K = enter(shaped_weights, Q=Q, K=K)
    check(temperature > 0, f"temperature is {temperature}; expected a positive number")
    n = Q.shape[-2]
    check(n > 0, f"Q has shape {shape_of(Q)}; expected at least one token")
    A = softmax(scaled_dot_scores(Q, K) / temperature)
    return leave(xp.eye(n, dtype=A.dtype, device=device(A)) + A - 1 / n, dtype)


def encoder_from_torch(layer: Any) -> EncoderWeights:
    r"""Read the weights of a torch.nn.TransformerEncoderLayer.

    $W = W_{torch}^\top$, with norm1 and norm2 of the layer  -- Eq. (12.12).
    """
    return EncoderWeights(
        multi_head_from_torch(layer.self_attn),
        _feed_forward_from_torch(layer),
        *(_norm_from_torch(norm) for norm in (layer.norm1, layer.norm2)),
    )


def decoder_from_torch(layer: Any) -> DecoderWeights:
    r"""Read the weights of a torch.nn.TransformerDecoderLayer.

    $W = W_{torch}^\top$, with norm1, norm2 and norm3 of the layer  -- Eq. (12.13).
    """
    return DecoderWeights(
        multi_head_from_torch(layer.self_attn),
        multi_head_from_torch(layer.multihead_attn),
        _feed_forward_from_torch(layer),
        *(_norm_from_torch(norm) for norm in (layer.norm1, layer.norm2, layer.norm3)),
    )


def _residual(
    X: Array, sublayer: Callable[[Array], Array], norm: NormWeights, norm_first: bool
) -> Array:
    return X + sublayer(layer_norm(X, *norm)) if norm_first else layer_norm(X + sublayer(X), *norm)


def _feeding(
    weights: FeedForwardWeights, activation: Callable[[Array], Array]
) -> Callable[[Array], Array]:
    return lambda Y: feed_forward(Y, weights, activation)


def _feed_forward_from_torch(layer: Any) -> FeedForwardWeights:
    first, second = layer.linear1, layer.linear2
    return FeedForwardWeights(first.weight.mT, second.weight.mT, first.bias, second.bias)


def _norm_from_torch(norm: Any) -> NormWeights:
    return NormWeights(norm.weight, norm.bias, norm.eps)
