import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


def _law(arrays, d):
    """A mean away from zero and a covariance matrix that is no multiple of the unit matrix."""
    mean = arrays.normal(d) + np.sign(arrays.normal(d))
    spread = arrays.normal(d, d)
    covariance = spread @ spread.T / d + 0.2 * np.eye(d)
    return arrays.rounded(mean), arrays.rounded((covariance + covariance.T) / 2)


@core
def test_general_case(score_variance, arrays):
    r"""The answer is the second moment of the score minus the square of its mean

    $\frac1d\big(\sum_{i,l} \mathbb E[q_i q_l]\,\mathbb E[k_i k_l] - (\mu_q \cdot \mu_k)^2\big)$.
    """
    for d in (3, 5):
        arguments = *_law(arrays, d), *_law(arrays, d)
        expect_close(
            got=score_variance(*arguments),
            expected=arrays.oracle(*arguments),
            slack=5,
            hint="which terms are left when the square of the mean is taken from the mean of the square?",
        )


def test_independent_unit_entries(score_variance, arrays):
    r"""Uncorrelated entries of mean 0 and variance 1 give 1, for every d

    $\mathrm{Var}[q \cdot k] = d$.
    """
    for d in (2, 7, 64):
        expect_close(
            got=score_variance(np.zeros(d), np.eye(d), np.zeros(d), np.eye(d)),
            expected=1.0,
            hint="by what is a variance divided when the score is divided by sqrt(d)?",
        )


def test_means_add_variance(score_variance, arrays):
    r"""With mean 1 on every entry and d = 64 the variance is 192/64 = 3

    $1 + 2\mu^2$ for $\mu = 1$.
    """
    d = 64
    expect_close(
        got=score_variance(np.ones(d), np.eye(d), np.ones(d), np.eye(d)),
        expected=3.0,
        hint="does q.k still vary when only one of the two does?",
    )


def test_variances_multiply(score_variance, arrays):
    r"""Entries of variance 4 in the query and 9 in the key give 36

    $\sigma_q^2\,\sigma_k^2$.
    """
    d = 5
    expect_close(
        got=score_variance(np.zeros(d), 4 * np.eye(d), np.zeros(d), 9 * np.eye(d)),
        expected=36.0,
        hint="are these variances or standard deviations?",
    )


@hidden
def test_correlated_entries_add_variance(score_variance, arrays):
    r"""All entries equal give d; entries correlated by 0.3, with d = 64, give 6.67

    $1 + (d - 1)\rho^2$ if both names have entries of variance 1 and correlation $\rho$.
    """
    for d, rho in ((5, 1.0), (64, 0.3)):
        covariance = arrays.rounded((1 - rho) * np.eye(d) + rho * np.ones((d, d)))
        expect_close(
            got=score_variance(np.zeros(d), covariance, np.zeros(d), covariance),
            expected=1 + (d - 1) * rho**2,
            slack=5,
            hint="what happens to the terms with two different indices?",
        )


def on_the_island():
    mean, covariance = island.KEYS.mean(axis=0), np.cov(island.KEYS.T, bias=True)
    turning = island.SHARPNESS**2
    second = covariance + np.outer(mean, mean)
    return (
        f"a hand turned at random has mean (0, 0) and covariance {turning:.3f} I; the four keys have the second moments "
        f"{second.round(3).tolist()}; a scaled score then has variance {turning * np.trace(second) / 2:.3f}, half the squared sharpness"
    )
