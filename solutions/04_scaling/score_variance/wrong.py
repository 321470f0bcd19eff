import math

from array_api_compat import array_namespace

from course_lib.checking import fails


def _trace(A):
    return sum(A[i, i] for i in range(A.shape[0]))


def _spread(Sigma_q, Sigma_k):
    return array_namespace(Sigma_q).sum(Sigma_q * Sigma_k)


def _shift(mu, Sigma):
    return array_namespace(mu).sum((Sigma @ mu) * mu)


@fails("means_add_variance", "general_case")
def means_forgotten(mu_q, Sigma_q, mu_k, Sigma_k):
    """the means forgotten"""
    return _spread(Sigma_q, Sigma_k) / mu_q.shape[0]


@fails("correlated_entries_add_variance", "general_case")
def diagonals_only(mu_q, Sigma_q, mu_k, Sigma_k):
    """diagonals only, as if the entries were uncorrelated"""
    d = mu_q.shape[0]
    total = 0
    for i in range(d):
        a, b = Sigma_q[i, i], Sigma_k[i, i]
        total = total + a * b + mu_q[i] ** 2 * b + mu_k[i] ** 2 * a
    return total / d


@fails(
    "independent_unit_entries",
    "general_case",
    "means_add_variance",
    "variances_multiply",
    "correlated_entries_add_variance",
)
def traces_multiplied(mu_q, Sigma_q, mu_k, Sigma_k):
    """the product of the traces for the trace of the product"""
    shift = _shift(mu_q, Sigma_k) + _shift(mu_k, Sigma_q)
    return (_trace(Sigma_q) * _trace(Sigma_k) + shift) / mu_q.shape[0]


@fails(
    "independent_unit_entries",
    "general_case",
    "means_add_variance",
    "variances_multiply",
    "correlated_entries_add_variance",
)
def variance_divided_by_the_root(mu_q, Sigma_q, mu_k, Sigma_k):
    """the variance divided by the root of d"""
    shift = _shift(mu_q, Sigma_k) + _shift(mu_k, Sigma_q)
    return (_spread(Sigma_q, Sigma_k) + shift) / math.sqrt(mu_q.shape[0])


@fails(
    "variances_multiply", "general_case", "means_add_variance", "correlated_entries_add_variance"
)
def deviations_for_variances(mu_q, Sigma_q, mu_k, Sigma_k):
    """the standard deviation in place of the variance"""
    shift = _shift(mu_q, Sigma_k) + _shift(mu_k, Sigma_q)
    return ((_spread(Sigma_q, Sigma_k) + shift) / mu_q.shape[0]) ** 0.5


@fails("means_add_variance", "general_case")
def second_moment(mu_q, Sigma_q, mu_k, Sigma_k):
    """the mean of the square, the square of the mean not taken away"""
    shift = _shift(mu_q, Sigma_k) + _shift(mu_k, Sigma_q)
    mean = array_namespace(mu_q).sum(mu_q * mu_k)
    return (_spread(Sigma_q, Sigma_k) + shift + mean**2) / mu_q.shape[0]


@fails("general_case")
def one_mean_only(mu_q, Sigma_q, mu_k, Sigma_k):
    """only the key's mean counted, and counted twice"""
    return (_spread(Sigma_q, Sigma_k) + 2 * _shift(mu_k, Sigma_q)) / mu_q.shape[0]


@fails("general_case")
def means_crossed(mu_q, Sigma_q, mu_k, Sigma_k):
    """each mean put with its own covariance"""
    shift = _shift(mu_q, Sigma_q) + _shift(mu_k, Sigma_k)
    return (_spread(Sigma_q, Sigma_k) + shift) / mu_q.shape[0]
