"""Chapter 6, multi-head attention: what has a closed form. C-numbers are claims."""

import math

import numpy as np

from course_lib.island import SHARPNESS
from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close


def _multi_head(seed=0, d_model=12):
    rng = np.random.default_rng(seed)
    W = [rng.standard_normal((d_model, d_model)) / 3 for _ in range(4)]
    return lib.MultiHeadWeights(*W, *(rng.standard_normal(d_model) for _ in range(4)))


def test_contributions_of_the_heads_add_up():
    r"""C094: $\mathrm{Concat}(head_h) W_O = \sum_h head_h W_O^{(h)}$."""
    X, Y, weights = normal(2, 5, 12), normal(2, 7, 12, seed=1), _multi_head()
    output, attended = lib.multi_head_attention(X, Y, Y, weights, 3)
    contributions = lib.head_contributions(attended, Y, weights)
    assert_close(contributions.sum(-3) + weights.b_O, output)


def test_the_order_of_heads_is_free():
    r"""C094: heads and their blocks of $W_Q, W_K, W_V, W_O$ in another order: same output."""
    X, weights = normal(5, 12), _multi_head()
    order = np.concatenate([np.arange(4) + 4 * h for h in (2, 0, 1)])
    columns = {
        name: getattr(weights, name)[..., order]
        for name in ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")
    }
    shuffled = weights._replace(**columns, W_O=weights.W_O[order])
    expected = lib.multi_head_attention(X, X, X, weights, 3)[0]
    assert_close(lib.multi_head_attention(X, X, X, shuffled, 3)[0], expected)


def test_split_keeps_tokens_whole_and_merge_undoes_it():
    r"""C095: $X^{(h)}_{ie} = X_{i, hd + e}$."""
    X = np.arange(2.0 * 5 * 6).reshape(2, 5, 6)
    split = lib.split_heads(X, 3)
    assert split[1, 2, 4, 1] == X[1, 4, 5]
    assert_close(lib.merge_heads(split), X)


def test_scores_of_a_head_have_low_rank():
    r"""C096: $\mathrm{rank}(S) \le d_k$."""
    assert np.linalg.matrix_rank(lib.dot_scores(normal(50, 4), normal(50, 4, seed=1))) == 4


def test_one_group_is_the_same_keys_for_all():
    """Multi-query: one key-value head, said or spelled out."""
    Q, K, V = normal(2, 6, 5, 3), normal(2, 1, 7, 3), normal(2, 1, 7, 2)
    shared = lib.scaled_dot_product_attention(Q, K, V, enable_gqa=True)
    spelled = lib.scaled_dot_product_attention(Q, np.repeat(K, 6, 1), np.repeat(V, 6, 1))
    assert_close(shared, spelled)
    narrow = _multi_head()._replace(
        W_K=normal(12, 4), W_V=normal(12, 4, seed=1), b_K=normal(4), b_V=normal(4)
    )
    X = normal(5, 12, seed=2)
    wide = narrow._replace(
        **{
            name: np.concatenate([getattr(narrow, name)] * 3, -1)
            for name in ("W_K", "W_V", "b_K", "b_V")
        }
    )
    assert_close(
        lib.multi_head_attention(X, X, X, narrow, 3)[0],
        lib.multi_head_attention(X, X, X, wide, 3)[0],
    )


def test_the_sharpness_of_the_island_is_two_ln_two():
    assert math.log(4) == SHARPNESS
