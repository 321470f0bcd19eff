from array_api_compat import array_namespace

from course_lib.checking import fails


def _squared(x, X):
    return array_namespace(x).sum((x[:, None, :] - X[None, :, :]) ** 2, axis=-1)


def _average(scores, Y):
    """The right average for given exponents."""
    xp = array_namespace(Y)
    kernel = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    return kernel @ Y / xp.sum(kernel, axis=1, keepdims=True)


@fails("constants_are_reproduced", "written_out", "units_cancel", "far_away_the_nearest_answers")
def not_normalised(x, X, Y, h):
    """the sum of kernels not divided by"""
    return array_namespace(x).exp(-_squared(x, X) / (2 * h**2)) @ Y


@fails("far_away_the_nearest_answers")
def naive_quotient(x, X, Y, h):
    """the quotient as it is printed: 0/0 far from the data"""
    xp = array_namespace(x)
    kernel = xp.exp(-_squared(x, X) / (2 * h**2))
    return kernel @ Y / xp.sum(kernel, axis=1, keepdims=True)


@fails("units_cancel", "written_out")
def bandwidth_not_squared(x, X, Y, h):
    """the bandwidth not squared"""
    return _average(-_squared(x, X) / (2 * h), Y)


@fails(
    "each_question_alone",
    "written_out",
    "constants_are_reproduced",
    "units_cancel",
    "far_away_the_nearest_answers",
)
def normalised_over_questions(x, X, Y, h):
    """normalised over the new points in place of the observations"""
    xp = array_namespace(x)
    scores = -_squared(x, X) / (2 * h**2)
    kernel = xp.exp(scores - xp.max(scores, axis=0, keepdims=True))
    return (kernel / xp.sum(kernel, axis=0, keepdims=True)) @ Y


@fails("written_out", "units_cancel")
def factor_two_missing(x, X, Y, h):
    """the factor 2 under the square left out"""
    return _average(-_squared(x, X) / h**2, Y)


@fails("written_out", "units_cancel", "far_away_the_nearest_answers")
def distance_not_squared(x, X, Y, h):
    """the distance not squared: another kernel"""
    return _average(-(_squared(x, X) ** 0.5) / h, Y)


@fails("units_cancel", "written_out")
def squared_twice(x, X, Y, h):
    """a squared distance that is squared once more"""
    return _average(-(_squared(x, X) ** 2) / (2 * h**2), Y)


@fails("written_out", "units_cancel")
def nearest_only(x, X, Y, h):
    """the nearest observation and no average"""
    return Y[array_namespace(x).argmin(_squared(x, X), axis=1)]
