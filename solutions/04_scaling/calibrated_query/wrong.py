import math

from array_api_compat import array_namespace

from course_lib.checking import fails


def _variance(W_Q, W_K, Sigma):
    xp = array_namespace(W_Q)
    return xp.sum((W_Q.T @ Sigma @ W_Q) * (W_K.T @ Sigma @ W_K)) / W_Q.shape[1]


@fails("key_scale_does_not_matter", "simulated_variance_is_one", "token_scale_enters_squared")
def divided_by_the_variance(W_Q, W_K, Sigma):
    """divided by the variance, not by its root"""
    return W_Q / _variance(W_Q, W_K, Sigma)


@fails("token_scale_enters_squared", "simulated_variance_is_one")
def covariance_ignored(W_Q, W_K, Sigma):
    """the covariance of the tokens ignored"""
    xp = array_namespace(W_Q)
    return W_Q / _variance(W_Q, W_K, xp.eye(W_Q.shape[0], dtype=W_Q.dtype)) ** 0.5


@fails("simulated_variance_is_one")
def scale_not_counted(W_Q, W_K, Sigma):
    """the division by the root of d_k not counted"""
    return W_Q / (_variance(W_Q, W_K, Sigma) * W_Q.shape[1]) ** 0.5


@fails("the_direction_is_kept")
def columns_normalised(W_Q, W_K, Sigma):
    """each column of the projection normalised by itself"""
    xp = array_namespace(W_Q)
    unit = W_Q / xp.sum(W_Q**2, axis=0, keepdims=True) ** 0.5
    return unit / _variance(unit, W_K, Sigma) ** 0.5


@fails("simulated_variance_is_one")
def token_with_itself(W_Q, W_K, Sigma):
    """a token paired with itself"""
    xp = array_namespace(W_Q)
    M = W_Q @ W_K.T @ Sigma
    return W_Q / (_variance(W_Q, W_K, Sigma) + xp.sum(M * M.T) / W_Q.shape[1]) ** 0.5


@fails("key_scale_does_not_matter", "simulated_variance_is_one", "token_scale_enters_squared")
def divided_by_the_width(W_Q, W_K, Sigma):
    """trusts the theorem: the root of the width, whatever the weights are"""
    return W_Q / math.sqrt(W_Q.shape[0])


@fails("simulated_variance_is_one")
def traces_multiplied(W_Q, W_K, Sigma):
    """the product of the traces for the trace of the product"""
    xp = array_namespace(W_Q)
    traces = xp.sum(W_Q * (Sigma @ W_Q)) * xp.sum(W_K * (Sigma @ W_K))
    return W_Q / (traces / W_Q.shape[1]) ** 0.5
