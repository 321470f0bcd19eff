import numpy as np

from course_lib.checking import core, expect_close, expect_equal, expect_true, hidden

FEATURES = 20_000


def _points(arrays, n, d):
    """Points of length 0.6, so that no average hangs on a few draws."""
    X = arrays.normal(n, d)
    return arrays.rounded(0.6 * X / np.linalg.norm(X, axis=1, keepdims=True))


@core
def test_the_mean_is_the_kernel(positive_features, arrays):
    r"""With 20,000 features the products of points of length 0.6 are the kernel, within 6 standard errors

    $\sum_r \varphi_r(x) \varphi_r(y) \approx e^{x \cdot y}$.
    """
    for n, d in ((4, 3), (3, 5)):
        X, Omega = _points(arrays, n, d), arrays.normal(FEATURES, d)
        features = positive_features(X, Omega)
        expect_equal(
            got=np.shape(features), expected=(n, FEATURES), hint="how many features has a point?"
        )
        for x, phi_x in zip(X, features, strict=True):
            for y, phi_y in zip(X, features, strict=True):
                products = FEATURES * phi_x * phi_y
                mean, error = products.mean(), products.std(ddof=1) / np.sqrt(FEATURES)
                exact = np.exp(x @ y)
                expect_true(
                    abs(mean - exact) < 6 * error + 1e-3,
                    evidence=f"the products average {mean:.4f} with standard error {error:.4f}, expected {exact:.4f}",
                    hint="what is the mean of exp(omega . (x + y)), and what of it is not x . y?",
                )


def test_features_are_positive(positive_features, arrays):
    r"""No feature is negative, and none is the same for all points

    $\varphi_r(x) \ge 0$.
    """
    features = positive_features(2 * _points(arrays, 5, 3), arrays.normal(101, 3))
    expect_true(
        np.all(features >= 0) and np.all(np.ptp(features, axis=0) > 0),
        evidence=f"the smallest feature is {np.min(features):.4g}",
        hint="which function of omega . x is never negative?",
    )


def test_the_zero_vector(positive_features, arrays):
    r"""At the zero vector every feature is one over the root of their number

    $\varphi_r(0) = 1/\sqrt m$.
    """
    for m in (1, 16):
        got = positive_features(np.zeros((2, 3)), arrays.normal(m, 3))
        expect_close(
            got=got,
            expected=np.full((2, m), m**-0.5),
            hint="two features are multiplied: what of the average does each carry?",
        )


@hidden
def test_doubling_the_features(positive_features, arrays):
    r"""Rows of Omega listed twice change no product

    The average over a list and over the list twice is the same.
    """
    X, Omega = _points(arrays, 4, 3), arrays.normal(7, 3)
    once = positive_features(X, Omega)
    twice = positive_features(X, np.concatenate([Omega, Omega]))
    expect_close(
        got=twice @ twice.T, expected=once @ once.T, hint="is the number of features divided by?"
    )


def on_the_island():
    x, y = np.array([1.0, 0.0]), np.array([0.5, 0.75**0.5])
    return f"Ada's and Bo's keys: exp(x . y) is {np.exp(x @ y):.4f}, the mean of exp(omega . (x + y)) is exp(|x + y|^2/2) = {np.exp((x + y) @ (x + y) / 2):.4f}"
