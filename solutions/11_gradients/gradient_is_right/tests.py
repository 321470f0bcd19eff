import numpy as np
from array_api_compat import array_namespace

from course_lib.checking import core, expect_equal, float64, hidden


def _softmax(x):
    xp = array_namespace(x)
    loudness = xp.exp(x - xp.max(x))
    return loudness / xp.sum(loudness)


def _softmax_vjp(x, u):
    p = _softmax(x)
    return p * (u - p @ u)


def _cube(x):
    return x**3


def _cube_vjp(x, u):
    return 3 * x**2 * u


def _product(W):
    """The function x -> W x and its vjp, for arrays of either library."""

    def matrix(x):
        return array_namespace(x).asarray(W.tolist(), dtype=x.dtype)

    return (lambda x: matrix(x) @ x), (lambda x, u: matrix(x).T @ u)


def _times(factor, function):
    return lambda *args: factor * function(*args)


def _point(arrays, n):
    return np.where(arrays.normal(n) < 0, -1.0, 1.0) * arrays.uniform(n, low=0.5, high=1.5)


def _judged(gradient_is_right, f, vjp, x, right, hint):
    expect_equal(got=gradient_is_right(f, vjp, x), expected=right, hint=hint)


@core
@float64
def test_right_accepted_gross_errors_refused(gradient_is_right, arrays):
    r"""Right programs for softmax, a product with a matrix and a cube are accepted; doubled or negated ones are not

    $2g$ and $-g$ are wrong wherever $g \ne 0$.
    """
    hint = "which two numbers do you compare, and how large is the error of the one you trust?"
    W = arrays.normal(2, 5)
    for f, vjp, n in ((_softmax, _softmax_vjp, 3), (*_product(W), 5), (_cube, _cube_vjp, 7)):
        x = _point(arrays, n)
        _judged(gradient_is_right, f, vjp, x, True, hint)
        _judged(gradient_is_right, f, _times(2.0, vjp), x, False, hint)
        _judged(gradient_is_right, f, _times(-1.0, vjp), x, False, hint)


@float64
def test_an_error_in_the_last_coordinate(gradient_is_right, arrays):
    r"""An error in the last coordinate only is found

    $g_n$ wrong, $g_1, \dots, g_{n-1}$ right.
    """
    hint = "which coordinates of x have you moved?"
    x = _point(arrays, 5)
    _judged(gradient_is_right, _cube, _cube_vjp, x, True, hint)

    def wrong(x, u):
        g = _cube_vjp(x, u)
        g[-1] = 1.5 * g[-1]
        return g

    _judged(gradient_is_right, _cube, wrong, x, False, hint)


@float64
def test_an_error_along_the_ones(gradient_is_right, arrays):
    r"""Softmax with the mean forgotten, or with every slope raised alike, is found

    $p \odot u$ in place of $p \odot (u - p \cdot u)$: for $u = (1, \dots, 1)$ the right answer is 0. And $g + c\,(1, \dots, 1)$ is wrong by
    what a shift of the scores would feel.
    """
    hint = "is there an error that your cotangents, or your directions, cannot feel?"
    x = _point(arrays, 5)
    _judged(gradient_is_right, _softmax, _softmax_vjp, x, True, hint)
    _judged(gradient_is_right, _softmax, lambda x, u: _softmax(x) * u, x, False, hint)

    def raised(x, u):
        return _softmax_vjp(x, u) + u @ u / 5

    def exchanged(x, u):  # right in the direction of the ones, wrong in others
        return array_namespace(x).flip(_softmax_vjp(x, u), axis=(0,))

    _judged(gradient_is_right, _softmax, raised, x, False, hint)
    _judged(gradient_is_right, _softmax, exchanged, np.sort(x), False, hint)


@float64
def test_small_and_large_functions(gradient_is_right, arrays):
    r"""A function a million times smaller or larger is judged as strictly

    $10^{-6} f$ and $10^6 f$ with slopes two percent off are refused, with right slopes accepted.
    """
    hint = "small compared with what?"
    for factor in (1e-6, 1e6):
        f, vjp = _times(factor, _softmax), _times(factor, _softmax_vjp)
        x = _point(arrays, 5)
        _judged(gradient_is_right, f, vjp, x, True, hint)
        _judged(gradient_is_right, f, _times(1.02, vjp), x, False, hint)


@hidden
@float64
def test_a_constant_function(gradient_is_right, arrays):
    r"""A constant function with gradient zero is accepted, with any other it is not

    $f(x) = c$ gives $g = 0$.
    """
    hint = "what do you divide by when every slope is zero?"
    c = float(arrays.uniform(1, low=1.0, high=2.0)[0])

    def constant(x):
        return 0 * x[:2] + c

    def none(x, u):
        return 0 * x

    def some(x, u):
        return 0 * x + u[1]

    _judged(gradient_is_right, constant, none, _point(arrays, 3), True, hint)
    _judged(gradient_is_right, constant, some, _point(arrays, 3), False, hint)


@hidden
@float64
def test_strong_curvature(gradient_is_right, arrays):
    r"""Strong curvature does not make a right gradient wrong

    $f_a(x) = e^{50 (x_a - 1)}/50$ has second derivatives fifty times the first.
    """
    hint = "how does the error of your difference depend on the step, and on the curvature?"

    def bent(x):
        return array_namespace(x).exp(50 * (x - 1)) / 50

    def bent_vjp(x, u):
        return array_namespace(x).exp(50 * (x - 1)) * u

    x = arrays.uniform(3, low=0.99, high=1.01)
    _judged(gradient_is_right, bent, bent_vjp, x, True, hint)
    _judged(gradient_is_right, bent, _times(1.02, bent_vjp), x, False, hint)


def on_the_island():
    p, h = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8]), 1e-5
    x = np.log(8 * p)
    up, down = (_softmax(x + s * h * np.eye(4)[0]) for s in (1, -1))
    return f"a central difference of the weights in Ada's score: {((up - down) / (2 * h)).round(6)}; in all four scores at once: {(_softmax(x + h) - _softmax(x - h)).round(12) + 0}"
