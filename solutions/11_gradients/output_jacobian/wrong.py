from array_api_compat import array_namespace

from course_lib.checking import fails


def _weights(q, K):
    xp = array_namespace(q)
    scores = K @ q / q.shape[0] ** 0.5
    loudness = xp.exp(scores - xp.max(scores))
    return loudness / xp.sum(loudness)


@fails(
    "only_differences_count",
    "equals_the_derivative",
    "a_certain_query_feels_nothing",
    "nothing_to_tell_apart",
    "rows_are_outputs",
)
def not_centred(q, K, V):
    """the weighted mean of the products, nothing taken away"""
    return (V.T * _weights(q, K)) @ K / q.shape[0] ** 0.5


@fails(
    "a_certain_query_feels_nothing",
    "equals_the_derivative",
    "only_differences_count",
    "rows_are_outputs",
)
def plain_covariance(q, K, V):
    """every key counted alike: a covariance without the weights"""
    xp = array_namespace(q)
    centred = V - xp.mean(V, axis=0)
    return centred.T @ K / K.shape[0] / q.shape[0] ** 0.5


@fails(
    "equals_the_derivative",
    "only_differences_count",
    "a_certain_query_feels_nothing",
    "rows_are_outputs",
)
def centred_at_plain_means(q, K, V):
    """weighted, but taken from the plain means of keys and values"""
    xp = array_namespace(q)
    centred = (V - xp.mean(V, axis=0)).T * _weights(q, K)
    return centred @ (K - xp.mean(K, axis=0)) / q.shape[0] ** 0.5


@fails("equals_the_derivative", "only_differences_count", "rows_are_outputs")
def scale_lost(q, K, V):
    """the root of d_k forgotten on the way back"""
    weights = _weights(q, K)
    return ((V - weights @ V).T * weights) @ K


@fails(
    "rows_are_outputs",
    "equals_the_derivative",
    "only_differences_count",
    "a_certain_query_feels_nothing",
    "nothing_to_tell_apart",
)
def transposed(q, K, V):
    """rows and columns exchanged"""
    weights = _weights(q, K)
    return K.T @ ((V - weights @ V).T * weights).T / q.shape[0] ** 0.5


@fails(
    "nothing_to_tell_apart", "equals_the_derivative", "only_differences_count", "rows_are_outputs"
)
def elementwise_softmax(q, K, V):
    """each weight differentiated alone"""
    weights = _weights(q, K)
    return (V.T * (weights * (1 - weights))) @ K / q.shape[0] ** 0.5
