import numpy as np

from course_lib.checking import core, expect_close, expect_equal, hidden


def _distance(M, projections):
    W_Q, W_K = projections
    return np.linalg.norm(M - W_Q @ np.transpose(W_K), ord=2)


@core
def test_distance_is_the_next_singular_value(factor_scores, arrays):
    r"""The distance to M in the spectral norm is the next singular value, for every width

    $\|M - W_Q W_K^\top\|_2 = \sigma_{d_k+1}$, and 0 at full width.
    """
    M = arrays.normal(5, 5)
    sizes = [*np.linalg.svd(M, compute_uv=False), 0.0]
    for d_k in (1, 2, 4, 5):
        projections = factor_scores(M, d_k)
        expect_equal(
            got=np.shape(projections[0]), expected=(5, d_k), hint="how wide is a projection?"
        )
        expect_close(
            got=_distance(M, projections),
            expected=sizes[d_k],
            slack=100,
            hint="which directions of M are the ones worth keeping?",
        )


def test_rank_d_k_is_reproduced(factor_scores, arrays):
    r"""A matrix of rank d_k is reproduced exactly, although it is not symmetric

    $W_Q W_K^\top = M$.
    """
    M = arrays.rounded(arrays.normal(5, 2) @ arrays.normal(2, 5))
    W_Q, W_K = factor_scores(M, 2)
    expect_close(
        got=W_Q @ np.transpose(W_K),
        expected=M,
        slack=100,
        hint="what does M do that its symmetric part does not?",
    )


def test_wide_and_tall(factor_scores, arrays):
    r"""Wide and tall: the projection of the query fits the rows of M, that of the key the columns

    $W_Q$ is $d_a \times d_k$, $W_K$ is $d_b \times d_k$.
    """
    for shape in ((3, 7), (7, 3)):
        M = arrays.normal(*shape)
        W_Q, W_K = factor_scores(M, 3)
        expect_equal(
            got=(np.shape(W_Q), np.shape(W_K)),
            expected=((shape[0], 3), (shape[1], 3)),
            hint="which side of M belongs to the queries?",
        )
        expect_close(
            got=W_Q @ np.transpose(W_K),
            expected=M,
            slack=100,
            hint="are the right directions rows or columns of what svd returns?",
        )


@hidden
def test_the_product_follows_m(factor_scores, arrays):
    r"""Ten times M needs ten times the product

    $W_Q W_K^\top$ scales like $M$.
    """
    M = arrays.normal(5, 3)
    W_Q, W_K = factor_scores(arrays.rounded(10 * M), 3)
    expect_close(
        got=W_Q @ np.transpose(W_K),
        expected=10 * M,
        slack=300,
        hint="where do the sizes of the directions go?",
    )


def on_the_island():
    M = np.array([[0.0, -1.0], [1.0, 0.0]])
    return f"M = {M.tolist()} turns by a right angle; its singular values are {np.linalg.svd(M, compute_uv=False).tolist()}, so width 1 leaves an error of 1"
