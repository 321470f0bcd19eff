"""Chapter 7, symmetry and position: what has a closed form. C-numbers are claims."""

import numpy as np
import pytest

from tests.course_lib.cases import normal
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close, assert_digits

ORDER = [3, 0, 4, 1, 2]


def test_a_permutation_matrix_reorders_rows():
    r"""$(PX)_i = X_{\pi(i)}$."""
    X = normal(5, 3)
    assert_close(lib.permutation_matrix(ORDER) @ X, X[ORDER])


def test_attention_follows_queries_and_ignores_the_order_of_keys():
    r"""C099: $\mathrm{Attention}(P_m Q, P_n K, P_n V) = P_m \mathrm{Attention}(Q, K, V)$."""
    Q, K, V = normal(3, 2), normal(5, 2, seed=1), normal(5, 7)
    expected = lib.scaled_dot_product_attention(Q, K, V)[[2, 0, 1]]
    shuffled = lib.scaled_dot_product_attention(Q[[2, 0, 1]], K[ORDER], V[ORDER])
    assert_close(shuffled, expected)
    torn = lib.scaled_dot_product_attention(Q[[2, 0, 1]], K[ORDER], V)
    assert np.abs(torn - expected).max() > 0.1


def test_a_mask_must_be_shuffled_with_its_tokens():
    r"""C101: $\mathrm{SA}_{PMP^\top}(PX) = P\,\mathrm{SA}_M(X)$."""
    X, M = normal(5, 3), lib.causal_from_start(5, 5)

    def layer(X, M):
        return lib.scaled_dot_product_attention(X, X, X, attn_mask=M)

    assert_close(layer(X[ORDER], lib.permute_mask(M, ORDER)), layer(X, M)[ORDER])
    P = lib.permutation_matrix(ORDER)
    assert_close(lib.permute_mask(M, ORDER), P @ M @ P.T == 1)
    assert np.abs(layer(X[ORDER], M) - layer(X, M)[ORDER]).max() > 0.1


def test_sinusoids_are_the_printed_ones():
    r"""C103: $\mathrm{PE}(0), \mathrm{PE}(1)$ for d = 8; scores by offset for d = 512."""
    PE = lib.sinusoidal_positions(2, 8)
    assert_digits(PE[0], [0, 1] * 4, 4)
    assert_digits(PE[1], [0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 1.0000, 0.0010, 1.0000], 4)
    wide = lib.sinusoidal_positions(51, 512)
    by_offset = (wide @ wide[0])[[0, 1, 2, 5, 10, 50]]
    assert_digits(by_offset, [256.0, 249.1, 231.7, 189.6, 173.8, 131.1], 1)


def test_sinusoids_know_only_offsets():
    r"""C103: $\mathrm{PE}_{p+k} = \mathrm{PE}_p R_k$, and the Gram matrix is Toeplitz."""
    PE = lib.sinusoidal_positions(20, 8)
    assert_close(PE[7:], PE[:-7] @ lib.sinusoid_shift(7.0, 8))
    gram = PE @ PE.T
    assert_close(gram[1:, 1:], gram[:-1, :-1])


@pytest.mark.parametrize("layout", ["pairs", "halves"])
def test_rotary_scores_see_the_offset_only(layout):
    r"""C105: places (3, 1), (10, 8), (102, 100) give one score; lengths are kept."""
    q, k = normal(1, 8), normal(1, 8, seed=1)
    found = [
        lib.rotary(q, a, layout) @ lib.rotary(k, b, layout).T
        for a, b in ((3, 1), (10, 8), (102, 100))
    ]
    assert_close(np.array(found), np.array([found[0]] * 3))
    assert_close(np.linalg.norm(lib.rotary(q, 5, layout)), np.linalg.norm(q))
    assert_close(lib.rotary(q, 0, layout), q)


def test_the_two_rotary_layouts_differ_by_a_reordering():
    """Features (0, 1, 2, 3) of "pairs" are features (0, 2, 1, 3) of "halves"."""
    X, reorder = normal(5, 8), [0, 2, 4, 6, 1, 3, 5, 7]
    assert_close(lib.rotary(X, 3)[:, reorder], lib.rotary(X[:, reorder], 3, "halves"))


def test_alibi_slopes_are_powers_of_two():
    """Eight heads: 1/2, 1/4, ..., 1/256."""
    assert_close(-lib.alibi_bias(8, 1, 2)[:, 0, 1], 0.5 ** np.arange(1, 9))
