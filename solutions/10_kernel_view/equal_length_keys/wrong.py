from array_api_compat import array_namespace

from course_lib.checking import fails


def _squared(K):
    return array_namespace(K).sum(K**2, axis=-1, keepdims=True)


def _with(X, column):
    return array_namespace(X).concat([X, column], axis=-1)


def _zero(X):
    return array_namespace(X).zeros_like(X[:, :1])


@fails("all_keys_have_one_length", "gaussian_equals_dot_product")
def root_forgotten(Q, K):
    """the square root forgotten"""
    squared = _squared(K)
    return _with(Q, _zero(Q)), _with(K, array_namespace(K).max(squared) - squared)


@fails("all_keys_have_one_length", "gaussian_equals_dot_product")
def lengths_not_squared(Q, K):
    """the lengths not squared under the root"""
    xp = array_namespace(K)
    length = _squared(K) ** 0.5
    return _with(Q, _zero(Q)), _with(K, xp.sqrt(xp.max(length) - length))


@fails("all_keys_have_one_length", "gaussian_equals_dot_product")
def difference_of_lengths(Q, K):
    """as much longer as the longest is: lengths added, not squares"""
    length = _squared(K) ** 0.5
    return _with(Q, _zero(Q)), _with(K, array_namespace(K).max(length) - length)


@fails("gaussian_equals_dot_product", "nothing_to_lengthen")
def queries_lengthened_too(Q, K):
    """the same done to the queries: the products change"""
    xp = array_namespace(K)
    top = xp.max(_squared(K)) + xp.max(_squared(Q))
    return _with(Q, xp.sqrt(top - _squared(Q))), _with(K, xp.sqrt(top - _squared(K)))


@fails("all_keys_have_one_length", "gaussian_equals_dot_product")
def mean_for_maximum(Q, K):
    """the mean in place of the maximum: the root of a negative number"""
    xp = array_namespace(K)
    squared = _squared(K)
    return _with(Q, _zero(Q)), _with(K, xp.sqrt(xp.mean(squared) - squared))


@fails("old_coordinates_are_kept", "gaussian_equals_dot_product", "nothing_to_lengthen")
def keys_normalised(Q, K):
    """keys scaled to length one"""
    return _with(Q, _zero(Q)), _with(K / _squared(K) ** 0.5, _zero(K))


@fails("old_coordinates_are_kept", "gaussian_equals_dot_product", "nothing_to_lengthen")
def divided_by_the_longest(Q, K):
    """keys divided by the longest: right directions, sharpness lost"""
    xp = array_namespace(K)
    K = K / xp.max(_squared(K)) ** 0.5
    return _with(Q, _zero(Q)), _with(K, xp.sqrt(xp.maximum(1 - _squared(K), _zero(K))))
