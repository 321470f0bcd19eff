import math

from array_api_compat import array_namespace

from course_lib.checking import fails


def _weights(x):
    xp = array_namespace(x)
    exponentials = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return exponentials / xp.sum(exponentials, axis=-1, keepdims=True)


def _each_entropy(x):
    """p ln p with the zeros skipped: the right numbers, before they are summed."""
    xp = array_namespace(x)
    p = _weights(x)
    return -p * xp.log(xp.where(p > 0, p, xp.ones_like(p)))


def _logsumexp(x):
    xp = array_namespace(x)
    largest = xp.max(x, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - largest), axis=-1)) + largest[..., 0]


@fails("certainty_is_zero")
def log_of_zero(x):
    """p log p with p = 0"""
    xp = array_namespace(x)
    p = _weights(x)
    return -xp.sum(p * xp.log(p), axis=-1)


@fails("known_entropies", "shifting_changes_nothing", "one_number_per_row", "certainty_is_zero")
def in_bits(x):
    """bits in place of nats"""
    return array_namespace(x).sum(_each_entropy(x), axis=-1) / math.log(2)


@fails("certainty_is_zero")
def epsilon_in_the_log(x):
    """a small number added inside the logarithm"""
    xp = array_namespace(x)
    p = _weights(x)
    return -xp.sum(p * xp.log(p + 1e-9), axis=-1)


@fails("known_entropies", "one_number_per_row", "certainty_is_zero", "shifting_changes_nothing")
def plain_mean_of_scores(x):
    """the plain mean of the scores taken away in place of the weighted one"""
    return _logsumexp(x) - array_namespace(x).mean(x, axis=-1)


@fails("shifting_changes_nothing", "certainty_is_zero")
def naive_logsumexp(x):
    """the logarithm of the sum of exponentials typed as it stands"""
    xp = array_namespace(x)
    return xp.log(xp.sum(xp.exp(x), axis=-1)) - xp.sum(_weights(x) * x, axis=-1)


@fails("one_number_per_row", "known_entropies", "shifting_changes_nothing", "certainty_is_zero")
def summed_over_rows(x):
    """one sum over all rows"""
    return array_namespace(x).sum(_each_entropy(x))


@fails("certainty_is_zero")
def nan_replaced(x):
    """the whole row called certain where one weight rounds to zero"""
    xp = array_namespace(x)
    p = _weights(x)
    sums = -xp.sum(p * xp.log(p), axis=-1)
    return xp.where(xp.isnan(sums), xp.zeros_like(sums), sums)


@fails("certainty_is_zero")
def weights_clipped(x):
    """the weights kept from zero by a clip at 1e-12"""
    xp = array_namespace(x)
    p = xp.clip(_weights(x), 1e-12, 1.0)
    return -xp.sum(p * xp.log(p), axis=-1)


@fails("one_number_per_row")
def squeezed(x):
    """every axis of length one taken away, the rows' own axes too"""
    xp = array_namespace(x)
    sums = xp.sum(_each_entropy(x), axis=-1)
    return xp.reshape(sums, tuple(n for n in sums.shape if n > 1))
