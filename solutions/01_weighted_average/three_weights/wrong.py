from array_api_compat import array_namespace

from course_lib.checking import fails


def _rows(q, K, **spoilt):
    """The three rows of scores, with one of them spoilt."""
    xp = array_namespace(K)
    dot = K @ q
    rows = {
        "dot": dot,
        "cosine": dot / _length(q) / _length(K),
        "gaussian": -xp.sum((K - q) ** 2, axis=-1) / 2,
    } | spoilt
    return xp.stack(list(rows.values()))


def _length(x):
    xp = array_namespace(x)
    return xp.sqrt(xp.sum(x**2, axis=-1))


def _weights(rows):
    xp = array_namespace(rows)
    loudness = xp.exp(rows)
    return loudness / xp.sum(loudness, axis=-1, keepdims=True)


@fails("cosine_forgets_lengths", "written_out", "turning_changes_nothing")
def cosine_keeps_the_query_length(q, K):
    """the dot product divided by the key's length only"""
    return _weights(_rows(q, K, cosine=K @ q / _length(K)))


@fails(
    "equal_lengths_make_dot_gaussian",
    "written_out",
    "gaussian_forgets_the_origin",
    "turning_changes_nothing",
)
def distance_not_squared(q, K):
    """the distance not squared"""
    return _weights(_rows(q, K, gaussian=-_length(K - q) / 2))


@fails(
    "equal_lengths_make_dot_gaussian",
    "written_out",
    "gaussian_forgets_the_origin",
    "turning_changes_nothing",
)
def half_forgotten(q, K):
    """the half forgotten: a narrower Gaussian"""
    return _weights(_rows(q, K, gaussian=-(_length(K - q) ** 2)))


@fails(
    "turning_changes_nothing",
    "written_out",
    "gaussian_forgets_the_origin",
    "equal_lengths_make_dot_gaussian",
)
def city_block_distance(q, K):
    """the sum of absolute differences taken for the distance"""
    xp = array_namespace(K)
    return _weights(_rows(q, K, gaussian=-(xp.sum(xp.abs(K - q), axis=-1) ** 2) / 2))


@fails("gaussian_forgets_the_origin", "written_out", "turning_changes_nothing")
def norms_always_cancel(q, K):
    """the lengths of the keys dropped for good: the Gaussian taken for the dot product"""
    return _weights(_rows(q, K, gaussian=K @ q))


@fails("a_loud_key_wins", "written_out", "turning_changes_nothing")
def dot_of_unit_vectors(q, K):
    """the dot product of vectors made one long"""
    return _weights(_rows(q, K, dot=K @ q / _length(q) / _length(K)))


@fails(
    "rows_sum_to_one",
    "written_out",
    "a_loud_key_wins",
    "cosine_forgets_lengths",
    "gaussian_forgets_the_origin",
    "equal_lengths_make_dot_gaussian",
    "turning_changes_nothing",
)
def kernel_values_for_weights(q, K):
    """exponentials of the scores in place of their shares"""
    return array_namespace(K).exp(_rows(q, K))


@fails(
    "written_out",
    "gaussian_forgets_the_origin",
    "equal_lengths_make_dot_gaussian",
    "turning_changes_nothing",
)
def minus_sign_lost(q, K):
    """the minus sign of the Gaussian lost: the farthest key gets most"""
    return _weights(_rows(q, K, gaussian=_length(K - q) ** 2 / 2))
