r"""A stack of encoder blocks that keeps what it computes, can be changed inside, and goes back.

`encoder_block` gives the output alone. Here the same formulas leave their streams, scores, weights
and heads behind; a run can switch a head off, cut an edge or patch a token, and a gradient at the
last stream can be pulled back to the first.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from course_lib._door import Array, check, shape_of
from course_lib.attention import project
from course_lib.gradients import attention_vjp
from course_lib.heads import head_contributions, merge_heads, split_heads
from course_lib.masks import mask_scores
from course_lib.scoring import scaled_dot_scores
from course_lib.softmax_family import softmax_or_zeros
from course_lib.tokenwise import feed_forward, gelu, layer_norm, relu
from course_lib.transformer import EncoderWeights, NormWeights


class Projection(NamedTuple):
    """A matrix with a bias."""

    W: Float[Array, "d_in d_out"]
    b: Float[Array, " d_out"]


class Block(NamedTuple):
    """An encoder block: its weights, and how its parts are connected."""

    weights: EncoderWeights
    heads: int
    norm_first: bool
    activation: Callable[[Array], Array]
    """`relu` or `gelu`."""
    shortcut: Projection | None = None
    """What the residual goes through where attention changes the width of the stream."""


class Interventions(NamedTuple):
    """What to change in a run. Counted from 0; None in place of a layer means every layer."""

    heads_off: Collection[tuple[int | None, int]] = ()
    """(layer, head): adds nothing to the stream."""
    heads_uniform: Collection[tuple[int | None, int]] = ()
    """(layer, head): all its weights are 1/n."""
    edges_cut: Collection[tuple[int | None, int, int, int]] = ()
    """(layer, head, query, key): gets no weight; the others of its row share."""
    patches: Mapping[tuple[int, int], Array] = {}
    """(layer, token) -> the row that the layer reads there; see `Run.patches`."""
    scale: float | None = None
    r"""Of the scores, in place of $1/\sqrt{d_k}$."""
    feed_forward: bool = True
    residual: bool = True


class Run(NamedTuple):
    """What a stack of L layers computed for n tokens, names of tokens included."""

    tokens: tuple[str, ...]
    streams: tuple[Float[np.ndarray, "n d_model"], ...]
    """L + 1: what each layer read, and what the last one gave."""
    scores: Float[np.ndarray, "L heads n n"]
    weights: Float[np.ndarray, "L heads n n"]
    contributions: Float[np.ndarray, "L heads n d_model"]
    """What each head added to the stream; with the bias of W_O their sum is the attention."""

    def patches(self, layer: int, tokens: Collection[int]) -> dict[tuple[int, int], np.ndarray]:
        """Return the rows that `layer` read at these tokens, to be patched into another run."""
        check(
            0 <= layer < len(self.streams) - 1,
            f"layer is {layer}; expected one from 0 to {len(self.streams) - 2}",
        )
        _must_be_within("tokens", tokens, len(self.tokens))
        return {(layer, token): self.streams[layer][token] for token in tokens}


def run_blocks(
    X: Float[np.ndarray, "n d_model"],
    tokens: Sequence[str],
    blocks: Sequence[Block],
    changes: Interventions | None = None,
) -> Run:
    """Run the blocks one after the other and keep what each computed."""
    changes = changes or Interventions()
    n, d_model = X.shape
    heads = blocks[0].heads if blocks else 0
    _must_fit(changes, len(blocks), heads, n)
    streams, kept = [], []
    for layer, block in enumerate(blocks):
        streams.append(_patched(X, layer, changes))
        X, *computed = _run_block(streams[-1], block, layer, changes)
        kept.append(computed)
    if not kept:
        nothing = np.zeros((0, heads, n, n), X.dtype)
        return Run(tuple(tokens), (X,), nothing, nothing, np.zeros((0, heads, n, d_model), X.dtype))
    scores, weights, contributions = (np.stack(each) for each in zip(*kept, strict=True))
    return Run(tuple(tokens), (*streams, X), scores, weights, contributions)


def pull_back(
    run: Run, blocks: Sequence[Block], cotangent: Float[np.ndarray, "n d_model"]
) -> Float[np.ndarray, "n d_model"]:
    r"""Return $\partial L/\partial x^{(0)}$ of a run without interventions.

    `cotangent` is $\partial L/\partial x^{(L)}$, the gradient at the last stream.
    """
    for X, block in zip(run.streams[-2::-1], blocks[::-1], strict=True):
        cotangent = _block_vjp(X, block, cotangent)
    return cotangent


def layer_norm_vjp(X: np.ndarray, norm: NormWeights, cotangent: np.ndarray) -> np.ndarray:
    r"""Pull a gradient back through a layer norm.

    $(g - \overline g - \hat x\,\overline{g \hat x})/\sigma$ with $g = \gamma \odot u$ and means
    over the features.
    """
    sigma = np.sqrt(X.var(axis=-1, keepdims=True) + norm.eps)
    normed, g = layer_norm(X, eps=norm.eps), cotangent * norm.gain
    along = np.mean(g * normed, axis=-1, keepdims=True)
    return np.asarray((g - g.mean(axis=-1, keepdims=True) - normed * along) / sigma)


def slope(activation: Callable[[Array], Array], x: np.ndarray) -> np.ndarray:
    r"""Return the derivative of `relu` or `gelu`; of gelu, $\Phi(x) + x\,\varphi(x)$."""
    if activation is relu:
        return (x > 0).astype(x.dtype)
    check(activation is gelu, f"activation is {activation}; expected relu or gelu")
    below = (1 + np.vectorize(math.erf, otypes=[x.dtype])(x / math.sqrt(2))) / 2
    return np.asarray(below + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))


def _run_block(X: np.ndarray, block: Block, layer: int, changes: Interventions) -> Any:
    """Eq. (12.7) with the attention of Eq. (6.1) taken apart into its heads, Eq. (6.3)."""
    W = block.weights.attention
    read = layer_norm(X, *block.weights.norm_1) if block.norm_first else X
    Q = split_heads(project(read, W.W_Q, W.b_Q), block.heads)
    K = split_heads(project(read, W.W_K, W.b_K), block.heads)
    scores = scaled_dot_scores(Q, K, changes.scale)
    weights = softmax_or_zeros(mask_scores(scores, _may_attend(changes, layer, scores.shape)))
    weights[_chosen(changes.heads_uniform, layer)] = 1 / len(X)
    contributions = head_contributions(weights, read, W)
    contributions[_chosen(changes.heads_off, layer)] = 0

    kept = X if block.shortcut is None else project(X, *block.shortcut)
    X = changes.residual * kept + contributions.sum(axis=0) + W.b_O
    X = X if block.norm_first else layer_norm(X, *block.weights.norm_1)
    if changes.feed_forward:
        read = layer_norm(X, *block.weights.norm_2) if block.norm_first else X
        X = changes.residual * X + feed_forward(read, block.weights.feed_forward, block.activation)
        X = X if block.norm_first else layer_norm(X, *block.weights.norm_2)
    return X, scores, weights, contributions


def _block_vjp(X: np.ndarray, block: Block, u: np.ndarray) -> np.ndarray:
    """Backwards through one block: the feed-forward network first, then attention."""
    W, norm_1, norm_2 = block.weights.attention, block.weights.norm_1, block.weights.norm_2
    read = layer_norm(X, *norm_1) if block.norm_first else X
    Q, K, V = (
        split_heads(project(read, *pair), block.heads)
        for pair in ((W.W_Q, W.b_Q), (W.W_K, W.b_K), (W.W_V, W.b_V))
    )
    weights = softmax_or_zeros(scaled_dot_scores(Q, K))
    kept = X if block.shortcut is None else project(X, *block.shortcut)
    added = kept + project(merge_heads(weights @ V), W.W_O, W.b_O)

    def fed_back(Y: np.ndarray, u: np.ndarray) -> np.ndarray:
        fed = block.weights.feed_forward
        hidden = project(Y, fed.W_1, fed.b_1)
        return np.asarray((u @ fed.W_2.T * slope(block.activation, hidden)) @ fed.W_1.T)

    def attended_back(u: np.ndarray) -> np.ndarray:
        gradients = attention_vjp(Q, K, V, split_heads(u @ W.W_O.T, block.heads))
        pairs = zip(gradients, (W.W_Q, W.W_K, W.W_V), strict=True)
        return np.asarray(sum(merge_heads(gradient) @ matrix.T for gradient, matrix in pairs))

    def shortcut_back(u: np.ndarray) -> np.ndarray:
        return u if block.shortcut is None else np.asarray(u @ block.shortcut.W.T)

    if block.norm_first:
        u = u + layer_norm_vjp(added, norm_2, fed_back(layer_norm(added, *norm_2), u))
        return np.asarray(shortcut_back(u) + layer_norm_vjp(X, norm_1, attended_back(u)))
    middle = layer_norm(added, *norm_1)
    fed = middle + feed_forward(middle, block.weights.feed_forward, block.activation)
    u = layer_norm_vjp(fed, norm_2, u)
    u = layer_norm_vjp(added, norm_1, u + fed_back(middle, u))
    return np.asarray(shortcut_back(u) + attended_back(u))


def _patched(X: np.ndarray, layer: int, changes: Interventions) -> np.ndarray:
    patched = X.copy()
    for (at, token), row in changes.patches.items():
        if at == layer:
            check(
                shape_of(row) == X.shape[1:],
                f"patches[{at}, {token}] has shape {shape_of(row)}; expected {X.shape[1:]}",
            )
            patched[token] = row
    return patched


def _chosen(entries: Collection[tuple[int | None, int]], layer: int) -> list[int]:
    return [head for at, head in entries if at in (None, layer)]


def _may_attend(
    changes: Interventions, layer: int, shape: tuple[int, ...]
) -> Bool[np.ndarray, "heads n n"]:
    may_attend = np.ones(shape, dtype=bool)
    for at, head, query, key in changes.edges_cut:
        if at in (None, layer):
            may_attend[head, query, key] = False
    return may_attend


def _must_fit(changes: Interventions, layers: int, heads: int, n: int) -> None:
    sizes = {
        "heads_off": (layers, heads),
        "heads_uniform": (layers, heads),
        "edges_cut": (layers, heads, n, n),
        "patches": (layers, n),
    }
    for name, limits in sizes.items():
        for entry in getattr(changes, name):
            numbers = entry if name == "patches" else (entry[0] or 0, *entry[1:])
            check(
                len(numbers) == len(limits)
                and all(0 <= number < limit for number, limit in zip(numbers, limits, strict=True)),
                f"{name} holds {entry}; expected {len(limits)} whole numbers from 0, below {limits}"
                f"{'' if name == 'patches' else ', or None for every layer'}",
            )


def _must_be_within(name: str, positions: Collection[int], n: int) -> None:
    wrong = [position for position in positions if not 0 <= position < n]
    check(not wrong, f"{name} holds {wrong[:1]}; expected positions from 0 to {n - 1}")
