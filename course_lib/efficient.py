r"""Exact attention without the table: online softmax, blocks, and windows."""

import math
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from jaxtyping import Float

from course_lib._door import Array, check, enter, leave
from course_lib.attention import Mask, enter_attention
from course_lib.gradients import enter_vjp, leave_vjp
from course_lib.masks import mask_scores
from course_lib.scoring import scale_or_default
from course_lib.softmax_family import softmax_or_zeros


class OnlineSoftmax(NamedTuple):
    """All that must be remembered of the keys seen so far, one entry for each query."""

    largest: Float[Array, "*batch n_q 1"]
    total: Float[Array, "*batch n_q 1"]
    weighted: Float[Array, "*batch n_q d_v"]


def online_start(
    scores: Float[Array, "*batch n_q n_k"], values: Float[Array, "*#batch n_k d_v"]
) -> OnlineSoftmax:
    r"""Begin with the first keys.

    $m = \max_j s_j$, $\ell = \sum_j e^{s_j - m}$, $o = \sum_j e^{s_j - m} v_j$  -- Eq. (9.3).
    """
    xp, dtype, scores, values = enter(online_start, scores=scores, values=values)
    return OnlineSoftmax(*(leave(x, dtype) for x in _summary(xp, scores + 0.0, values)))


def online_update(
    state: OnlineSoftmax,
    scores: Float[Array, "*batch n_q n_k"],
    values: Float[Array, "*#batch n_k d_v"],
) -> OnlineSoftmax:
    r"""Take further keys into account: what is old is rescaled to the new maximum.

    $m' = \max(m, \max_j s_j)$, $\ell' = e^{m - m'} \ell + \sum_j e^{s_j - m'}$ and
    $o' = e^{m - m'} o + \sum_j e^{s_j - m'} v_j$  -- Eq. (9.4); Milakov and Gimelshein 2018.
    """
    xp, dtype, state, scores, values = enter(
        online_update, state=state, scores=scores, values=values
    )
    return OnlineSoftmax(*(leave(x, dtype) for x in _summary(xp, scores + 0.0, values, state)))


def online_answer(state: OnlineSoftmax) -> Float[Array, "*batch n_q d_v"]:
    r"""The output for the keys seen so far, zeros where none was visible.

    $o / \ell$  -- Eq. (9.5).
    """
    xp, dtype, state = enter(online_answer, state=state)
    return leave(_answer(xp, state), dtype)


def blockwise_attention(
    query: Float[Array, "... n_q d_k"],
    key: Float[Array, "... n_k d_k"],
    value: Float[Array, "... n_k d_v"],
    attn_mask: Mask = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    block_q: int | None = None,
    block_k: int | None = None,
) -> Float[Array, "... n_q d_v"]:
    r"""Scaled dot-product attention that never holds a table of n_q by n_k numbers.

    Eq. (2.1), by Eq. (9.4) over blocks of keys for each block of queries  -- Eq. (9.6); Rabe and
    Staats 2021, Dao et al. 2022.

    Unless given, a block is at most 1024 queries by 512 keys and at most 1/64 of the table. torch's
    autograd keeps every block for the way back; `blockwise_attention_vjp` keeps none.
    """
    xp, dtype, Q, K, V = enter_attention(query, key, value, attn_mask, enable_gqa)
    Q = Q * scale_or_default(scale, K)
    table = _Table(Q, K, attn_mask, is_causal, *_block_sizes(Q, K, block_q, block_k))
    outputs = [_answer(xp, _over_keys(xp, table, V, rows)) for rows in table.rows()]
    return leave(xp.concat(outputs, axis=-2), dtype)


def blockwise_attention_vjp(
    query: Float[Array, "... n_q d_k"],
    key: Float[Array, "... n_k d_k"],
    value: Float[Array, "... n_k d_v"],
    cotangent: Float[Array, "... n_q d_v"],
    attn_mask: Mask = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    block_q: int | None = None,
    block_k: int | None = None,
) -> tuple[Float[Array, "... n_q d_k"], Float[Array, "... n_k d_k"], Float[Array, "... n_k d_v"]]:
    r"""The three gradients of `blockwise_attention`, each block of weights computed a second time.

    $P_{ij} = e^{s_{ij} - m_i}/\ell_i$, $dS_{ij} = P_{ij}(u_i \cdot v_j - u_i \cdot o_i)$, and
    Eq. (11.5) summed over blocks  -- Eq. (9.7); Dao et al. 2022, Alg. 4.
    """
    xp, dtype, Q, K, V, u = enter_vjp(query, key, value, cotangent, attn_mask, enable_gqa)
    scale = scale_or_default(scale, K)
    table = _Table(Q * scale, K, attn_mask, is_causal, *_block_sizes(Q, K, block_q, block_k))
    dQ, dK, dV = (_zeros(xp, u, x) for x in (Q, K, V))
    for i in table.rows():
        state, u_i = _over_keys(xp, table, V, i), u[..., i, :]
        u_dot_o = xp.sum(u_i * _answer(xp, state), axis=-1, keepdims=True)
        for j in table.columns(i):
            P = _weights(xp, table.scores(i, j), state)
            dS = P * (xp.matmul(u_i, V[..., j, :].mT) - u_dot_o)
            dV[..., j, :] += xp.matmul(P.mT, u_i)
            dQ[..., i, :] += xp.matmul(dS, K[..., j, :]) * scale
            dK[..., j, :] += xp.matmul(dS.mT, Q[..., i, :]) * scale
    return leave_vjp(dtype, (dQ, query), (dK, key), (dV, value))


def sliding_window_attention(
    query: Float[Array, "*batch n d_k"],
    key: Float[Array, "*batch n d_k"],
    value: Float[Array, "*batch n d_v"],
    left: int,
    right: int = 0,
    scale: float | None = None,
) -> Float[Array, "*batch n d_v"]:
    r"""Attention within a window, at a cost of n times its width: scores elsewhere are never made.

    $o_i = \sum_r \alpha_{i, i+r}\, v_{i+r}$ over $-\mathrm{left} \le r \le
    \mathrm{right}$  -- Eq. (9.8); Beltagy, Peters and Cohan 2020.

    The same function as full attention with the mask `sliding_window`.
    """
    xp, dtype, Q, K, V = enter(sliding_window_attention, query=query, key=key, value=value)
    check(left >= 0 and right >= 0, f"left is {left} and right {right}; expected 0 or more")
    n, where = Q.shape[-2], device(Q)
    j = xp.arange(n, device=where)[:, None] + xp.arange(-left, right + 1, device=where)
    exists = (j >= 0) & (j < n)
    j = xp.where(exists, j, 0)
    scores = xp.sum(Q[..., :, None, :] * _gathered(xp, K, j), axis=-1) * scale_or_default(scale, K)
    weights = softmax_or_zeros(mask_scores(scores, exists))
    return leave(xp.sum(weights[..., None] * _gathered(xp, V, j), axis=-2), dtype)


class _Table(NamedTuple):
    """The table of scores, of which only one block at a time exists."""

    Q: Array
    K: Array
    attn_mask: Mask
    is_causal: bool
    block_q: int
    block_k: int

    def rows(self) -> list[slice]:
        return _slices(self.Q.shape[-2], self.block_q)

    def columns(self, rows: slice) -> list[slice]:
        """Return the blocks of keys of which these queries see any; always at least one."""
        n_k = self.K.shape[-2]
        return _slices(min(n_k, rows.stop) if self.is_causal else n_k, self.block_k)

    def scores(self, rows: slice, columns: slice) -> Array:
        xp = array_namespace(self.Q)
        scores = xp.matmul(self.Q[..., rows, :], self.K[..., columns, :].mT)
        scores = mask_scores(scores, _block_of(self.attn_mask, rows, columns))
        if self.is_causal and columns.stop > rows.start + 1:
            i = xp.arange(rows.start, rows.stop, device=device(self.Q))
            j = xp.arange(columns.start, columns.stop, device=device(self.Q))
            scores = mask_scores(scores, j <= i[:, None])
        return scores


def _over_keys(xp: Any, table: _Table, V: Array, rows: slice) -> OnlineSoftmax:
    state: OnlineSoftmax | None = None
    for columns in table.columns(rows):
        state = _summary(xp, table.scores(rows, columns), V[..., columns, :], state)
    assert state is not None  # there is at least one block of columns
    return state


def _summary(
    xp: Any, scores: Array, values: Array, state: OnlineSoftmax | None = None
) -> OnlineSoftmax:
    """Sum up these keys and all before; the scores are overwritten."""
    largest = _largest(xp, scores)
    largest = largest if state is None else xp.maximum(state.largest, largest)
    shift = _finite(xp, largest)
    shifted = _exp_of_difference(xp, scores, shift)
    total, weighted = xp.sum(shifted, axis=-1, keepdims=True), xp.matmul(shifted, values)
    if state is not None:
        faded = xp.exp(state.largest - shift)
        total, weighted = faded * state.total + total, faded * state.weighted + weighted
    return OnlineSoftmax(largest, total, weighted)


def _answer(xp: Any, state: OnlineSoftmax) -> Array:
    """Divide by the total; values may have leading axes that no score has."""
    return state.weighted / _or_one(xp, state.total)


def _or_one(xp: Any, total: Array) -> Array:
    return xp.where(total == 0, 1.0, total)


def _exp_of_difference(xp: Any, scores: Array, shift: Array) -> Array:
    """Compute in the memory of the scores, unless autograd will ask for them again."""
    if getattr(scores, "requires_grad", False):
        return xp.exp(scores - shift)
    scores -= shift
    return np.exp(scores, out=scores) if isinstance(scores, np.ndarray) else scores.exp_()


def _weights(xp: Any, scores: Array, state: OnlineSoftmax) -> Array:
    shifted = _exp_of_difference(xp, scores, _finite(xp, state.largest))
    return shifted / _or_one(xp, state.total)


def _largest(xp: Any, scores: Array) -> Array:
    if scores.shape[-1] > 0:
        return xp.max(scores, axis=-1, keepdims=True)
    return xp.full((*scores.shape[:-1], 1), -math.inf, dtype=scores.dtype, device=device(scores))


def _finite(xp: Any, largest: Array) -> Array:
    """Nothing visible yet: any shift will do, if it is not infinite."""
    return xp.where(largest == -math.inf, 0.0, largest)


def _block_sizes(Q: Array, K: Array, block_q: int | None, block_k: int | None) -> tuple[int, int]:
    sizes = (
        min(1024, max(1, Q.shape[-2] // 8)) if block_q is None else block_q,
        min(512, max(1, K.shape[-2] // 8)) if block_k is None else block_k,
    )
    check(min(sizes) > 0, f"block_q and block_k are {sizes}; expected at least 1")
    return sizes


def _slices(n: int, size: int) -> list[slice]:
    """Cut n places into blocks; nothing to cut is one empty block."""
    return [slice(start, min(start + size, n)) for start in range(0, max(n, 1), size)]


def _block_of(attn_mask: Mask, rows: slice, columns: slice) -> Mask:
    """Cut the block out of a mask; an axis of size one stays, for it serves all."""
    if attn_mask is None or attn_mask.ndim == 0:
        return attn_mask
    if attn_mask.shape[-1] > 1:
        attn_mask = attn_mask[..., columns]
    if attn_mask.ndim > 1 and attn_mask.shape[-2] > 1:
        attn_mask = attn_mask[..., rows, :]
    return attn_mask


def _gathered(xp: Any, X: Array, j: Array) -> Array:
    """Return the rows X[j] of each sequence, one window of rows for each place."""
    n, width = j.shape
    rows = xp.take(X, xp.reshape(j, (-1,)), axis=-2)
    return xp.reshape(rows, (*X.shape[:-2], n, width, X.shape[-1]))


def _zeros(xp: Any, u: Array, x: Array) -> Array:
    return xp.zeros((*u.shape[:-2], *x.shape[-2:]), dtype=x.dtype, device=device(x))
