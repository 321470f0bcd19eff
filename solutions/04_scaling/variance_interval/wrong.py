import math

from array_api_compat import array_namespace

from course_lib.checking import fails


def _moments(x):
    """Mean, variance and fourth central moment."""
    xp = array_namespace(x)
    mean = xp.mean(x)
    return mean, xp.mean((x - mean) ** 2), xp.mean((x - mean) ** 4)


def _around(middle, error, times=1.96):
    return middle - times * error, middle + times * error


@fails("covers_products_of_normals", "covers_other_laws")
def normal_theory(x):
    """the error that holds for normal numbers, whatever the numbers are"""
    _, variance, _ = _moments(x)
    return _around(variance, variance * math.sqrt(2 / x.shape[0]))


@fails("scales_with_the_square", "covers_products_of_normals", "covers_other_laws")
def error_of_the_mean(x):
    """the standard error of the mean in place of that of the variance"""
    _, variance, _ = _moments(x)
    return _around(variance, (variance / x.shape[0]) ** 0.5)


@fails("four_times_the_data_half_the_width", "covers_products_of_normals", "covers_other_laws")
def root_n_forgotten(x):
    """the scatter of the squares, not the error of their mean"""
    _, variance, fourth = _moments(x)
    return _around(variance, (fourth - variance**2) ** 0.5)


@fails("covers_other_laws")
def moments_about_zero(x):
    """the fourth moment about zero"""
    xp = array_namespace(x)
    _, variance, _ = _moments(x)
    return _around(variance, ((xp.mean(x**4) - variance**2) / x.shape[0]) ** 0.5)


@fails("centred_at_the_sample_variance", "four_times_the_data_half_the_width")
def from_zero(x):
    """one-sided: from zero to the upper end"""
    _, variance, fourth = _moments(x)
    high = variance + 1.645 * ((fourth - variance**2) / x.shape[0]) ** 0.5
    return high - high, high


@fails("covers_products_of_normals", "covers_other_laws")
def one_standard_error(x):
    """one standard error, which covers two times out of three"""
    _, variance, fourth = _moments(x)
    return _around(variance, ((fourth - variance**2) / x.shape[0]) ** 0.5, times=1)
