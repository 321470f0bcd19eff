from array_api_compat import array_namespace

from course_lib.checking import fails


def _eye(x, n):
    return array_namespace(x).eye(n, dtype=x.dtype)


def _compare(f, vjp, x, directions, cotangents, h=1e-5, difference=None, allowed=None, share=1e-3):
    """Both sides of u . J d, for every pair of the directions and cotangents given."""
    xp = array_namespace(x)
    difference = difference or (lambda d: (f(x + h * d) - f(x - h * d)) / (2 * h))
    seen = xp.stack([xp.stack([u @ difference(d) for d in directions]) for u in cotangents])
    claimed = xp.stack([xp.stack([vjp(x, u) @ d for d in directions]) for u in cotangents])
    if allowed is None:
        allowed = share * xp.max(xp.abs(seen)) + 1e-8 * xp.max(xp.abs(f(x)))
    return bool(xp.max(xp.abs(claimed - seen)) <= allowed)


@fails("an_error_in_the_last_coordinate")
def first_coordinate_only(f, vjp, x):
    """only the first coordinate moved"""
    return _compare(f, vjp, x, _eye(x, x.shape[0])[:1], _eye(x, f(x).shape[0]))


@fails(
    "an_error_along_the_ones", "right_accepted_gross_errors_refused", "small_and_large_functions"
)
def cotangent_of_ones(f, vjp, x):
    """one cotangent, all ones: for softmax every slope then looks like zero"""
    return _compare(f, vjp, x, _eye(x, x.shape[0]), [0 * f(x) + 1])


@fails(
    "an_error_along_the_ones", "right_accepted_gross_errors_refused", "small_and_large_functions"
)
def direction_of_ones(f, vjp, x):
    """one direction, all ones: the one that softmax does not feel"""
    return _compare(f, vjp, x, [0 * x + 1], _eye(x, f(x).shape[0]))


@fails("small_and_large_functions")
def absolute_tolerance(f, vjp, x):
    """the same allowance for every function"""
    return _compare(f, vjp, x, _eye(x, x.shape[0]), _eye(x, f(x).shape[0]), allowed=1e-5)


@fails("strong_curvature")
def one_sided_difference(f, vjp, x):
    """a one-sided difference with a coarse step"""
    return _compare(
        f,
        vjp,
        x,
        _eye(x, x.shape[0]),
        _eye(x, f(x).shape[0]),
        difference=lambda d: (f(x + 1e-3 * d) - f(x)) / 1e-3,
        share=1e-2,
    )


@fails("a_constant_function")
def zero_over_zero(f, vjp, x):
    """a relative error that divides zero by zero"""
    xp = array_namespace(x)
    h, eye = 1e-5, _eye(x, x.shape[0])
    seen = xp.stack([(f(x + h * d) - f(x - h * d)) / (2 * h) for d in eye])
    claimed = xp.stack([vjp(x, u) for u in _eye(x, f(x).shape[0])]).T
    return bool(xp.max(xp.abs(claimed - seen)) / xp.max(xp.abs(seen)) < 1e-3)


@fails(
    "right_accepted_gross_errors_refused",
    "an_error_in_the_last_coordinate",
    "an_error_along_the_ones",
    "small_and_large_functions",
    "strong_curvature",
)
def step_too_small(f, vjp, x):
    """a step of 1e-18, which is lost when it is added"""
    return _compare(f, vjp, x, _eye(x, x.shape[0]), _eye(x, f(x).shape[0]), h=1e-18)
