from array_api_compat import array_namespace

from course_lib.checking import fails


def _weights(Q, K, may_attend, empty_rows=True):
    xp = array_namespace(Q)
    scores = Q @ K.T / Q.shape[1] ** 0.5
    if may_attend is not None:
        scores = xp.where(may_attend, scores, -xp.inf)
    largest = xp.max(scores, axis=1, keepdims=True)
    if empty_rows:
        largest = xp.where(xp.isinf(largest), 0.0, largest)
    loudness = xp.exp(scores - largest)
    total = xp.sum(loudness, axis=1, keepdims=True)
    return loudness / (xp.where(total == 0, 1.0, total) if empty_rows else total)


def _back(Q, K, V, dO, A, dS=None, scale=None):
    xp = array_namespace(Q)
    dA = dO @ V.T
    dS = A * (dA - xp.sum(A * dA, axis=1, keepdims=True)) if dS is None else dS
    scale = Q.shape[1] ** -0.5 if scale is None else scale
    return dS @ K * scale, dS.T @ Q * scale, A.T @ dO


@fails(
    "the_scale_is_felt_once",
    "equals_the_derivative",
    "equals_the_derivative_with_a_mask",
    "an_empty_row_gives_zeros",
    "large_scores_are_safe",
)
def scale_forgotten(Q, K, V, dO, may_attend=None):
    """the root of d_k forgotten on the way back"""
    return _back(Q, K, V, dO, _weights(Q, K, may_attend), scale=1.0)


@fails(
    "equal_values_pull_at_nothing",
    "equals_the_derivative",
    "equals_the_derivative_with_a_mask",
    "forces_balance",
    "the_scale_is_felt_once",
    "an_empty_row_gives_zeros",
    "large_scores_are_safe",
)
def softmax_skipped(Q, K, V, dO, may_attend=None):
    """the gradient at the weights used as if it were the one at the scores"""
    return _back(Q, K, V, dO, _weights(Q, K, may_attend), dS=dO @ V.T)


@fails(
    "equal_values_pull_at_nothing",
    "equals_the_derivative",
    "equals_the_derivative_with_a_mask",
    "forces_balance",
    "the_scale_is_felt_once",
    "an_empty_row_gives_zeros",
    "large_scores_are_safe",
)
def softmax_elementwise(Q, K, V, dO, may_attend=None):
    """each weight differentiated alone"""
    A = _weights(Q, K, may_attend)
    return _back(Q, K, V, dO, A, dS=A * (1 - A) * (dO @ V.T))


@fails(
    "forces_balance",
    "equals_the_derivative",
    "equals_the_derivative_with_a_mask",
    "the_scale_is_felt_once",
    "an_empty_row_gives_zeros",
    "large_scores_are_safe",
)
def plain_row_mean(Q, K, V, dO, may_attend=None):
    """the plain mean of the row taken away in place of the weighted one"""
    A, dA = _weights(Q, K, may_attend), dO @ V.T
    return _back(Q, K, V, dO, A, dS=A * (dA - array_namespace(Q).mean(dA, axis=1, keepdims=True)))


@fails(
    "forces_balance",
    "equals_the_derivative",
    "equals_the_derivative_with_a_mask",
    "equal_values_pull_at_nothing",
    "the_scale_is_felt_once",
    "an_empty_row_gives_zeros",
    "large_scores_are_safe",
)
def summed_down_the_columns(Q, K, V, dO, may_attend=None):
    """the weighted mean taken over the queries in place of the keys"""
    A, dA = _weights(Q, K, may_attend), dO @ V.T
    return _back(
        Q, K, V, dO, A, dS=A * (dA - array_namespace(Q).sum(A * dA, axis=0, keepdims=True))
    )


@fails("equals_the_derivative_with_a_mask", "an_empty_row_gives_zeros")
def mask_forgotten(Q, K, V, dO, may_attend=None):
    """the mask used for the output only: hidden pairs come back with a weight"""
    shown, A = _weights(Q, K, may_attend), _weights(Q, K, None)
    dQ, dK, _ = _back(Q, K, V, dO, A)
    return dQ, dK, shown.T @ dO


@fails("an_empty_row_gives_zeros")
def nan_for_empty_rows(Q, K, V, dO, may_attend=None):
    """0/0 in a row that sees nothing"""
    return _back(Q, K, V, dO, _weights(Q, K, may_attend, empty_rows=False))


@fails(
    "equals_the_derivative",
    "equals_the_derivative_with_a_mask",
    "an_empty_row_gives_zeros",
    "large_scores_are_safe",
)
def values_through_the_scores(Q, K, V, dO, may_attend=None):
    """the values reached through the scores"""
    xp = array_namespace(Q)
    A, dA = _weights(Q, K, may_attend), dO @ V.T
    dS = A * (dA - xp.sum(A * dA, axis=1, keepdims=True))
    dQ, dK, _ = _back(Q, K, V, dO, A)
    return dQ, dK, dS.T @ dO


@fails("large_scores_are_safe")
def no_largest_score_subtracted(Q, K, V, dO, may_attend=None):
    """exponentials of the scores as they are"""
    xp = array_namespace(Q)
    loudness = xp.exp(Q @ K.T / Q.shape[1] ** 0.5)
    if may_attend is not None:
        loudness = xp.where(may_attend, loudness, 0.0)
    total = xp.sum(loudness, axis=1, keepdims=True)
    return _back(Q, K, V, dO, loudness / xp.where(total == 0, 1.0, total))
