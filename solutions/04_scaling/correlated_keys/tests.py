import numpy as np

from course_lib.checking import core, expect_close, expect_true, hidden

PAIRS = 20_000


def _pairs(arrays, d, pairs=PAIRS):
    return arrays.normal(pairs, d), arrays.normal(pairs, d)


@core
def test_aligned_scores_have_the_predicted_moments(correlated_keys, arrays):
    r"""The scaled scores of 20,000 pairs have the predicted mean and variance, up to 5 standard errors

    $q \cdot k/\sqrt d$ has mean $\rho\sqrt d$ and variance $1 + \rho^2$.
    """
    for d, rho in ((64, 0.5), (16, 0.8)):
        Q, noise = _pairs(arrays, d)
        scores = np.sum(Q * correlated_keys(Q, noise, rho), axis=-1) / np.sqrt(d)
        squares = (scores - np.mean(scores)) ** 2
        for what, sample, wanted in (
            ("mean", scores, rho * np.sqrt(d)),
            ("variance", squares, 1 + rho**2),
        ):
            error = 5 * np.std(sample) / np.sqrt(PAIRS)
            expect_true(
                abs(np.mean(sample) - wanted) < error + 1e-3,
                evidence=f"for rho = {rho} and d = {d} the {what} of the scores is {np.mean(sample):.3f}, "
                f"expected {wanted:.3f}",
                hint="what is the mean of q_i k_i, and what is its variance, for your two numbers?",
            )


def test_keys_keep_variance_one(correlated_keys, arrays):
    r"""The entries of the keys have variance one, whatever rho is

    $\mathrm{Var}[k_i] = a^2 + b^2 = 1$.
    """
    Q, noise = _pairs(arrays, 5)
    for rho in (-0.9, -0.5, 0.3, 0.6):
        variance = np.mean(correlated_keys(Q, noise, rho) ** 2)
        expect_true(
            abs(variance - 1) < 0.06,
            evidence=f"for rho = {rho} the entries have variance {variance:.3f}",
            hint="what is the variance of a q + b e when q and e are independent?",
        )


def test_the_ends_are_exact(correlated_keys, arrays):
    r"""For rho = 1 the query comes back, for rho = -1 its opposite

    $k = \pm q$.
    """
    for pairs, d in ((7, 3), (5, 4)):
        Q, noise = _pairs(arrays, d, pairs)
        for rho in (1.0, -1.0):
            expect_close(
                got=correlated_keys(Q, noise, rho),
                expected=rho * Q,
                hint="how much noise is left at the ends, and which way does the key point?",
            )


@hidden
def test_zero_returns_the_noise(correlated_keys, arrays):
    r"""For rho = 0 the noise comes back, every entry of it

    $k = \varepsilon$.
    """
    for pairs, d in ((7, 3), (5, 4)):
        Q, noise = _pairs(arrays, d, pairs)
        expect_close(
            got=correlated_keys(Q, noise, 0.0),
            expected=noise,
            hint="how many noise numbers does one key need?",
        )
