r"""Exact counts: floating-point operations, parameters and bytes as functions of the shapes."""

from fractions import Fraction
from typing import NamedTuple

from course_lib._door import check


class LayerFlops(NamedTuple):
    """Forward operations of the matrix products of one layer; softmax and norms are not counted."""

    projections: int
    scores: int
    values: int
    ffn: int

    @property
    def attention(self) -> int:
        """What grows with the square of the length."""
        return self.scores + self.values

    @property
    def total(self) -> int:
        return sum(self)


def matmul_flops(rows: int, inner: int, columns: int) -> int:
    r"""Operations of one matrix product; a multiplication and an addition are two.

    $2\,m\,k\,n$  -- Eq. (8.1).
    """
    return 2 * rows * inner * columns


def attention_flops(
    n_q: int, n_k: int, d_k: int, d_v: int, heads: int = 1, is_causal: bool = False
) -> tuple[int, int]:
    r"""Operations of the scores and of the weighted sum, over all pairs or the visible ones.

    $2 H N d_k$ and $2 H N d_v$ for $N = n_q n_k$ pairs, or $N = \sum_i \min(i, n_k)$ if causal
    -- Eq. (8.2), the term in the middle.
    """
    seen = min(n_q, n_k)
    pairs = seen * (seen + 1) // 2 + (n_q - seen) * n_k if is_causal else n_q * n_k
    return heads * matmul_flops(pairs, d_k, 1), heads * matmul_flops(pairs, d_v, 1)


def layer_flops(
    n: int,
    d_model: int,
    heads: int = 1,
    d_ff: int = 0,
    ffn_matrices: int = 2,
    is_causal: bool = False,
    output_projection: bool = True,
) -> LayerFlops:
    r"""Operations of one layer of self-attention and feed-forward, forward.

    $8 n d^2 + 4 n^2 d + 2 m\, n\, d\, d_{ff}$ with $m$ matrices in the feed-forward part
    -- Eq. (8.2).

    Without the output projection, $6 n d^2$. The number of heads does not matter.
    """
    check(
        heads > 0 and d_model % heads == 0,
        f"d_model is {d_model} and heads {heads}; expected heads to divide d_model",
    )
    d_head = d_model // heads
    projection = matmul_flops(n, d_model, d_model)
    scores, values = attention_flops(n, n, d_head, d_head, heads, is_causal)
    ffn = ffn_matrices * matmul_flops(n, d_model, d_ff)
    return LayerFlops((3 + output_projection) * projection, scores, values, ffn)


def decoder_layer_flops(n: int, n_source: int, d_model: int, d_ff: int = 0) -> LayerFlops:
    r"""Operations of a decoder layer: self-attention, attention to a source, feed-forward.

    $12 n d^2 + 4 n_s d^2 + 4 n (n + n_s) d + 4 n d\, d_{ff}$  -- Chapter 8.
    """
    own = layer_flops(n, d_model, 1, d_ff)
    asked = 2 * matmul_flops(n, d_model, d_model)
    offered = 2 * matmul_flops(n_source, d_model, d_model)
    scores, values = attention_flops(n, n_source, d_model, d_model)
    return LayerFlops(
        own.projections + asked + offered, own.scores + scores, own.values + values, own.ffn
    )


def training_flops(forward: int) -> int:
    r"""Operations of a forward and a backward pass: each product is done three times.

    $3 F$, since $Y = XW$ needs $u W^\top$ and $X^\top u$ backwards  -- Chapter 8.

    Nothing is recomputed, and the gradient at the first input counts too.
    """
    return 3 * forward


def model_training_flops(tokens: int, parameters: int, layers: int, n: int, d_model: int) -> int:
    r"""Operations of training on so many tokens in sequences of length n.

    $6\,T N + 12\, L\, T n\, d$  -- Eq. (8.4); Kaplan et al. 2020 for the first term.

    N counts the entries of matrices that multiply tokens: the output matrix yes, look-ups,
    biases and norms no.
    """
    dense = training_flops(matmul_flops(tokens, parameters, 1))
    attention = training_flops(sum(attention_flops(tokens, n, d_model, d_model)))
    return dense + layers * attention


def crossover(
    d_model: int,
    d_ff: int = 0,
    ffn_matrices: int = 2,
    is_causal: bool = False,
    output_projection: bool = True,
) -> Fraction:
    r"""The length at which scores and values cost as much as all other products of a layer.

    $n^* = r/a = 2d + \frac m2 d_{ff}$, or $2n^* - 1$ over causal pairs, with $r$ the other
    operations per token and $a$ the operations per pair  -- Eq. (8.3).
    """
    one = layer_flops(1, d_model, 1, d_ff, ffn_matrices, False, output_projection)
    check(one.attention > 0, f"d_model is {d_model}; expected at least 1")
    ratio = Fraction(one.total - one.attention, one.attention)
    return 2 * ratio - 1 if is_causal else ratio


def decoder_crossover(d_model: int, d_ff: int = 0) -> Fraction:
    r"""The same length for a decoder layer whose source is as long as its own sequence.

    $n^* = r/a$ with the counts of `decoder_layer_flops` at $n = n_s = 1$  -- Chapter 8.
    """
    one = decoder_layer_flops(1, 1, d_model, d_ff)
    check(one.attention > 0, f"d_model is {d_model}; expected at least 1")
    return Fraction(one.total - one.attention, one.attention)


def decode_flops(t: int, d_model: int) -> int:
    r"""Operations of attention for the t-th generated token, with keys and values kept.

    $4\,t\,d$  -- Chapter 8.
    """
    return sum(attention_flops(1, t, d_model, d_model))


def linear_attention_flops(n: int, d_features: int, d_v: int) -> int:
    r"""Operations of linear attention: keys and values summed up, then read by each query.

    $4\, n\, d_\phi\, d_v$  -- Eq. (9.17).
    """
    return matmul_flops(d_features, n, d_v) + matmul_flops(n, d_features, d_v)


def attention_parameters(d_model: int, bias: bool = False) -> int:
    r"""Entries of the four projections of a multi-head layer, whatever the number of heads.

    $4 d^2$, and $4 d$ more with biases  -- Chapter 8.
    """
    return 4 * d_model**2 + 4 * d_model * bias


def ffn_parameters(d_model: int, d_ff: int, matrices: int = 2, bias: bool = False) -> int:
    r"""Entries of the feed-forward part.

    $m\, d\, d_{ff}$, and $d_{ff} + d$ more with the biases of two matrices  -- Chapter 8.
    """
    return matrices * d_model * d_ff + ((matrices - 1) * d_ff + d_model) * bias


def score_parameters(kind: str, d_q: int, d_k: int, d_a: int = 0) -> int:
    r"""Learned numbers of a score: none, a matrix, or a small network without bias.

    $0$; $d_q d_k$; $d_a (d_q + d_k) + d_a$  -- Chapter 1.
    """
    counts = {"dot": 0, "multiplicative": d_q * d_k, "additive": d_a * (d_q + d_k) + d_a}
    check(kind in counts, f"kind is {kind!r}; expected one of {', '.join(counts)}")
    return counts[kind]


def attention_bytes(
    n_q: int, n_k: int, heads: int = 1, layers: int = 1, batch: int = 1, itemsize: int = 4
) -> int:
    r"""Bytes of the tables of weights, if each is written out and all are kept.

    $n_q\, n_k\, H\, L\, B$ numbers  -- Chapter 8.

    Scores, dropout masks and gradients would be as many again each.
    """
    return n_q * n_k * heads * layers * batch * itemsize


def blockwise_bytes(block_q: int, block_k: int, n_q: int, d_v: int, itemsize: int = 4) -> int:
    r"""Bytes that blockwise attention needs beside its input: one block, and the output with m, l.

    $b_q b_k + n_q (d_v + 2)$ numbers  -- Eq. (9.18).
    """
    return (block_q * block_k + n_q * (d_v + 2)) * itemsize


def cache_bytes(
    n: int, d_head: int, kv_heads: int, layers: int = 1, batch: int = 1, itemsize: int = 2
) -> int:
    r"""Bytes of the keys and values kept while generating.

    $2\, L\, H_{kv}\, d\, n\, B$ numbers  -- Chapter 8.
    """
    return 2 * layers * kv_heads * d_head * n * batch * itemsize
