import math

from array_api_compat import array_namespace

from course_lib.checking import fails


def _features(X, Omega, correction):
    xp = array_namespace(X)
    return xp.exp(X @ Omega.T - correction) / math.sqrt(Omega.shape[0])


def _square(X):
    return array_namespace(X).sum(X**2, axis=-1, keepdims=True)


@fails("the_mean_is_the_kernel")
def no_norm_correction(X, Omega):
    """nothing taken away for the lengths"""
    return _features(X, Omega, 0 * _square(X))


@fails("doubling_the_features", "the_mean_is_the_kernel", "the_zero_vector")
def not_averaged(X, Omega):
    """not divided by the number of features"""
    return _features(X, Omega, _square(X) / 2) * math.sqrt(Omega.shape[0])


@fails("the_mean_is_the_kernel")
def whole_squared_norm(X, Omega):
    """the whole squared length taken away in place of its half"""
    return _features(X, Omega, _square(X))


@fails("features_are_positive", "the_zero_vector", "doubling_the_features")
def cosines(X, Omega):
    """cosines and sines: unbiased, and negative now and then"""
    xp = array_namespace(X)
    half = (Omega.shape[0] + 1) // 2
    angles = X @ Omega.T
    waves = xp.concat(
        [xp.cos(angles[:, :half]), xp.sin(angles[:, : Omega.shape[0] - half])], axis=-1
    )
    return xp.exp(_square(X) / 2) * waves * math.sqrt(2 / Omega.shape[0])


@fails("the_zero_vector", "the_mean_is_the_kernel", "doubling_the_features")
def divided_by_m(X, Omega):
    """divided by the number of features in each factor"""
    return _features(X, Omega, _square(X) / 2) / math.sqrt(Omega.shape[0])


@fails("the_mean_is_the_kernel")
def norm_not_squared(X, Omega):
    """the length not squared"""
    return _features(X, Omega, _square(X) ** 0.5 / 2)


@fails("the_mean_is_the_kernel", "the_zero_vector")
def length_of_omega(X, Omega):
    """the length of omega taken away in place of the length of x"""
    return _features(X, Omega, _square(Omega)[:, 0][None, :] / 2)
