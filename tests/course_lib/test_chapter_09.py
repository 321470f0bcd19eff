"""Chapter 9, efficient attention: what has a closed form. C-numbers are claims."""

import math

import numpy as np
import pytest

from course_lib.island import VALUES, scores
from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close


def test_online_softmax_of_the_island():
    """Dia, Cem, Bo, Ada in turn: the table of chapter 9, in units of ln 2."""
    order, rows, state = [3, 2, 1, 0], [], None
    for j in order:
        arguments = scores()[None, j : j + 1], VALUES[j : j + 1]
        state = (
            lib.online_start(*arguments) if state is None else lib.online_update(state, *arguments)
        )
        rows.append((*(np.ravel(part) for part in state), lib.online_answer(state)[0]))
    largest, total, weighted, answers = (np.stack(column) for column in zip(*rows, strict=True))
    assert_close(largest[:, 0] / math.log(2), np.array([0.0, 0, 1, 2]))
    assert_close(total[:, 0], np.array([1.0, 2, 2, 2]))
    assert_close(weighted, np.array([[1.0, 7], [10, 14], [14, 8], [8, 5]]))
    assert_close(answers, np.array([[1.0, 7], [5, 7], [7, 4], [4, 2.5]]))


def test_online_softmax_survives_what_is_hidden_first():
    """C129: a block of only minus infinity, before and after."""
    nothing, V = np.full((1, 2), -np.inf), VALUES[:2]
    state = lib.online_start(nothing, V)
    assert_close(lib.online_answer(state), np.zeros((1, 2)))
    state = lib.online_update(lib.online_update(state, scores()[None], VALUES), nothing, V)
    assert_close(lib.online_answer(state), np.array([[4.0, 2.5]]))


@pytest.mark.parametrize("block", [1, 7, 32, 64])
def test_blocks_of_any_size_agree(block):
    """C129."""
    Q, K, V = normal(64, 5), normal(64, 5, seed=1), normal(64, 3)
    found = lib.blockwise_attention(Q, K, V, block_q=block, block_k=block)
    assert_close(found, lib.scaled_dot_product_attention(Q, K, V))


@pytest.mark.parametrize("n", [256, 2048])
def test_blockwise_attention_never_holds_the_table(n):
    """Peak memory of forward and backward beside input and output, against one table."""
    import tracemalloc

    Q, K, V, u = (normal(n, 2, seed=seed).astype(np.float32) for seed in range(4))
    for run in (
        lambda: lib.blockwise_attention(Q, K, V),
        lambda: lib.blockwise_attention(Q, K, V, is_causal=True),
        lambda: lib.blockwise_attention_vjp(Q, K, V, u),
    ):
        run()
        tracemalloc.start()
        run()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        small_change = 40_000 + 12 * Q.nbytes
        assert peak < lib.attention_bytes(n, n) / 10 + small_change, f"{peak} bytes"


def test_counts_of_sparse_patterns():
    """C123 to C125, n = 256."""
    assert lib.sliding_window(256, 256, 8, 8).sum() == 4280
    assert lib.sliding_window(256, 256, 32, 32).sum() == 15584
    window = lib.sliding_window(256, 256, 8, 8) | lib.global_tokens(256, 256, 4)
    assert window.sum() == 6244
    assert np.all(window.astype(int) @ window > 0)
    assert lib.same_block(256, 256, 32).sum() == 8192
    strided = lib.strided_causal(256, 256, 16).astype(int)
    assert strided.sum() == 5896
    assert np.array_equal(strided @ strided > 0, lib.causal_from_start(256, 256))


def test_a_sliding_window_reaches_further_in_every_layer():
    """C125: window 2 on both sides, five layers: 21 places; chunks never."""
    reach = np.linalg.matrix_power(lib.sliding_window(64, 64, 2, 2).astype(int), 5) > 0
    assert reach[32].sum() == 21
    chunks = lib.same_block(64, 64, 32).astype(int)
    assert np.array_equal(np.linalg.matrix_power(chunks, 5) > 0, chunks > 0)


def test_linear_attention_is_low_rank():
    """C126: the weights of linear attention have rank at most the number of features."""
    Q, K = normal(64, 4), normal(64, 4, seed=1)
    weights = lib.linear_attention(Q, K, np.eye(64))
    assert np.linalg.matrix_rank(weights) == 4
    assert_close(weights.sum(-1), np.ones(64))


def test_random_features_are_unbiased_for_the_kernel():
    r"""C126: $E[\phi(x) \cdot \phi(y)] = e^{x \cdot y}$, within four standard errors."""
    X, W = normal(2, 3) / 3, lib.random_directions(200_000, 3, seed=1)
    x, y = lib.positive_random_features(X, W) * math.sqrt(len(W))
    products = x * y
    standard_error = products.std() / math.sqrt(len(W))
    assert abs(products.mean() - np.exp(X[0] @ X[1])) < 4 * standard_error


def test_random_feature_attention_comes_closer_with_more_features():
    """C126: entries of deviation 0.5; 4096 features are nearer than 16."""
    Q, K, V = normal(64, 16) / 2, normal(64, 16, seed=1) / 2, normal(64, 3)
    exact = lib.scaled_dot_product_attention(Q, K, V)
    errors = [
        np.abs(
            lib.random_feature_attention(Q, K, V, lib.random_directions(m, 16, seed=2)) - exact
        ).mean()
        for m in (16, 4096)
    ]
    assert errors[1] < errors[0] / 4
