import math

from array_api_compat import array_namespace

from course_lib.checking import fails


def _scores(Q, K):
    return Q @ K.mT / Q.shape[-1] ** 0.5


def _softmax(scores):
    xp = array_namespace(scores)
    powers = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def _softmax_or_zeros(scores):
    xp = array_namespace(scores)
    largest = xp.max(scores, axis=-1, keepdims=True)
    powers = xp.exp(scores - xp.where(xp.isinf(largest), xp.zeros_like(largest), largest))
    total = xp.sum(powers, axis=-1, keepdims=True)
    return powers / xp.where(total > 0, total, xp.ones_like(total))


def _filled(scores, may_attend, number):
    xp = array_namespace(scores)
    return xp.where(may_attend, scores, xp.full_like(scores, number))


def _average(weights, V, may_attend):
    """The average that is not disturbed by hidden nan."""
    xp = array_namespace(V)
    shares = weights[..., None] * V[..., None, :, :]
    return xp.sum(xp.where(may_attend[..., None], shares, xp.zeros_like(shares)), axis=-2)


@fails(
    "equals_attention_on_the_visible_keys",
    "hidden_content_changes_nothing",
    "nothing_visible_gives_zeros",
    "large_visible_scores",
    "a_hidden_giant_changes_nothing",
    "hidden_nan_is_harmless",
)
def true_means_hidden(Q, K, V, may_attend):
    """True taken for hidden"""
    scores = _filled(_scores(Q, K), ~may_attend, -math.inf)
    return _average(_softmax_or_zeros(scores), V, ~may_attend)


ALL_BUT_WHAT_HIDING_CHANGES = (
    "equals_attention_on_the_visible_keys",
    "nothing_visible_gives_zeros",
    "large_visible_scores",
    "a_hidden_giant_changes_nothing",
    "hidden_nan_is_harmless",
)


@fails(*ALL_BUT_WHAT_HIDING_CHANGES)
def not_scaled(Q, K, V, may_attend):
    """scores not divided by the root of d_k"""
    scores = _filled(Q @ K.mT, may_attend, -math.inf)
    return _average(_softmax_or_zeros(scores), V, may_attend)


@fails(*ALL_BUT_WHAT_HIDING_CHANGES)
def scaled_by_the_values(Q, K, V, may_attend):
    """scores divided by the root of the values' width"""
    scores = _filled(Q @ K.mT / V.shape[-1] ** 0.5, may_attend, -math.inf)
    return _average(_softmax_or_zeros(scores), V, may_attend)


@fails(
    "equals_attention_on_the_visible_keys",
    "hidden_content_changes_nothing",
    "nothing_visible_gives_zeros",
    "large_visible_scores",
    "a_hidden_giant_changes_nothing",
    "hidden_nan_is_harmless",
)
def zeroed_not_renormalised(Q, K, V, may_attend):
    """weights set to zero after the softmax, the row not renormalised"""
    return _average(_softmax(_scores(Q, K)), V, may_attend)


@fails(
    "hidden_content_changes_nothing",
    "equals_attention_on_the_visible_keys",
    "nothing_visible_gives_zeros",
    "large_visible_scores",
    "a_hidden_giant_changes_nothing",
    "hidden_nan_is_harmless",
)
def scores_times_mask(Q, K, V, may_attend):
    """scores multiplied by 0 and 1: a hidden score becomes 0"""
    weights = _softmax(_filled(_scores(Q, K), may_attend, 0.0))
    return weights @ V


@fails(
    "hidden_content_changes_nothing",
    "nothing_visible_gives_zeros",
    "large_visible_scores",
    "a_hidden_giant_changes_nothing",
    "hidden_nan_is_harmless",
)
def minus_thirty(Q, K, V, may_attend):
    """30 subtracted from hidden scores"""
    xp = array_namespace(V)
    scores = _scores(Q, K)
    return _softmax(xp.where(may_attend, scores, scores - 30)) @ V


@fails("a_hidden_giant_changes_nothing", "large_visible_scores", "hidden_nan_is_harmless")
def renormalised_afterwards(Q, K, V, may_attend):
    """softmax over all keys, hidden weights set to zero, then renormalised"""
    xp = array_namespace(V)
    weights = _softmax(_scores(Q, K))
    weights = xp.where(may_attend, weights, xp.zeros_like(weights))
    total = xp.sum(weights, axis=-1, keepdims=True)
    weights = weights / xp.where(total > 0, total, xp.ones_like(total))
    return _average(weights, V, may_attend)


@fails("nothing_visible_gives_zeros", "hidden_nan_is_harmless")
def minus_a_billion(Q, K, V, may_attend):
    """hidden scores replaced by a billion below zero"""
    return _softmax(_filled(_scores(Q, K), may_attend, -1e9)) @ V


@fails("nothing_visible_gives_zeros")
def nan_for_empty_rows(Q, K, V, may_attend):
    """minus infinity everywhere, and no policy for a row of nothing else"""
    xp = array_namespace(V)
    weights = _softmax(_filled(_scores(Q, K), may_attend, -math.inf))
    shares = weights[..., None] * V[..., None, :, :]
    seen = may_attend[..., None] | ~xp.any(may_attend, axis=-1)[..., None, None]
    return xp.sum(xp.where(seen, shares, xp.zeros_like(shares)), axis=-2)


@fails("large_visible_scores")
def no_maximum_subtracted(Q, K, V, may_attend):
    """the largest score not subtracted before the exponential"""
    xp = array_namespace(V)
    powers = xp.exp(_filled(_scores(Q, K), may_attend, -math.inf))
    total = xp.sum(powers, axis=-1, keepdims=True)
    return _average(powers / xp.where(total > 0, total, xp.ones_like(total)), V, may_attend)


@fails("hidden_nan_is_harmless")
def zero_times_nan(Q, K, V, may_attend):
    """a weight of zero multiplied with every value, nan included"""
    return _softmax_or_zeros(_filled(_scores(Q, K), may_attend, -math.inf)) @ V


@fails("hidden_nan_is_harmless")
def cleared_where_nobody_looks(Q, K, V, may_attend):
    """values cleared only where nobody at all may look"""
    xp = array_namespace(V)
    weights = _softmax_or_zeros(_filled(_scores(Q, K), may_attend, -math.inf))
    seen = xp.any(may_attend, axis=-2)[..., None]
    return weights @ xp.where(seen, V, xp.zeros_like(V))


@fails("hidden_nan_is_harmless")
def infinity_added(Q, K, V, may_attend):
    """minus infinity added to the scores: nan + -inf stays nan"""
    xp = array_namespace(V)
    scores = _scores(Q, K)
    scores = scores + _filled(xp.zeros_like(scores), may_attend, -math.inf)
    return _average(_softmax_or_zeros(scores), V, may_attend)


@fails("hidden_nan_is_harmless")
def nan_cleared_for_all(Q, K, V, may_attend):
    """every nan replaced by zero, also for those who may see it"""
    xp = array_namespace(V)
    K = xp.where(xp.isfinite(K), K, xp.zeros_like(K))
    V = xp.where(xp.isfinite(V), V, xp.zeros_like(V))
    weights = _softmax_or_zeros(_filled(_scores(Q, K), may_attend, -math.inf))
    return weights @ V
