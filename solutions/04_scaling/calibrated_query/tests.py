import numpy as np

from course_lib.checking import core, expect_close, expect_true, hidden

PAIRS = 40_000


def _given(arrays, d_model, d_k):
    """Projections that resemble each other, and tokens whose entries are correlated."""
    W_Q = arrays.normal(d_model, d_k)
    W_K = arrays.rounded(W_Q + 0.3 * arrays.normal(d_model, d_k))
    root = arrays.normal(d_model, d_model) * 0.5 + np.diag(arrays.uniform(d_model, low=1, high=3))
    covariance = root @ root.T
    return W_Q, W_K, arrays.rounded((covariance + covariance.T) / 2)


@core
def test_simulated_variance_is_one(calibrated_query, arrays):
    r"""The scores of 40,000 simulated pairs have variance one, up to 5 standard errors

    $\mathrm{Var}\big[(x\,cW_Q) \cdot (y\,W_K)/\sqrt{d_k}\big] = 1$.
    """
    for d_model, d_k in ((5, 3), (7, 4)):
        W_Q, W_K, Sigma = _given(arrays, d_model, d_k)
        calibrated = calibrated_query(W_Q, W_K, Sigma)
        root = np.linalg.cholesky(Sigma).T
        x, y = arrays.normal(PAIRS, d_model) @ root, arrays.normal(PAIRS, d_model) @ root
        expect_close(
            got=calibrated * 0,
            expected=np.zeros((d_model, d_k)),
            hint="which shape has the projection that you were given?",
        )
        squares = np.sum((x @ calibrated) * (y @ W_K), axis=-1) ** 2 / d_k
        error = 5 * np.std(squares) / np.sqrt(PAIRS)
        expect_true(
            abs(np.mean(squares) - 1) < error,
            evidence=f"the simulated variance is {np.mean(squares):.3f}, give or take {error / 5:.3f}",
            hint="what are the covariances of x W_Q and of y W_K?",
        )


def test_the_direction_is_kept(calibrated_query, arrays):
    r"""Only the length of the projection changes: one positive number multiplies all entries

    $cW_Q$ with $c > 0$.
    """
    for d_model, d_k in ((5, 3), (7, 4)):
        W_Q, W_K, Sigma = _given(arrays, d_model, d_k)
        got = calibrated_query(W_Q, W_K, Sigma)
        expect_close(
            got=got / np.linalg.norm(got),
            expected=W_Q / np.linalg.norm(W_Q),
            hint="does every column get the same number?",
        )


def test_key_scale_does_not_matter(calibrated_query, arrays):
    r"""Keys eight times larger give the same calibrated scores

    $c(W_Q, 8\,W_K, \Sigma) \cdot 8 = c(W_Q, W_K, \Sigma)$.
    """
    W_Q, W_K, Sigma = _given(arrays, 5, 3)
    expect_close(
        got=8 * 100 * calibrated_query(W_Q, arrays.rounded(8 * W_K), Sigma),
        expected=100 * calibrated_query(W_Q, W_K, Sigma),
        hint="is it a variance or a standard deviation that you divide by?",
    )


@hidden
def test_token_scale_enters_squared(calibrated_query, arrays):
    r"""Tokens twice as large, in both places, need a projection four times smaller

    $c(W_Q, W_K, 4\Sigma) = c(W_Q, W_K, \Sigma)/4$.
    """
    W_Q, W_K, Sigma = _given(arrays, 5, 3)
    expect_close(
        got=4 * 100 * calibrated_query(W_Q, W_K, arrays.rounded(4 * Sigma)),
        expected=100 * calibrated_query(W_Q, W_K, Sigma),
        hint="in how many places of the score does a token stand?",
    )
