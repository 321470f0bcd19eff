from array_api_compat import array_namespace

from course_lib.checking import fails, only


def _weights(x, subtracted, axis):
    xp = array_namespace(x)
    exponentials = xp.exp(x - subtracted)
    return exponentials / xp.sum(exponentials, axis=axis, keepdims=True)


@fails("shifting_changes_nothing", "rows_do_not_disturb_each_other", "one_score_far_above")
def naive(x, axis=-1):
    """the formula typed as it stands"""
    return _weights(x, 0.0, axis)


@fails("rows_do_not_disturb_each_other")
def global_maximum(x, axis=-1):
    """one maximum for the whole array"""
    return _weights(x, array_namespace(x).max(x), axis)


@fails("one_score_far_above")
def mean_subtracted(x, axis=-1):
    """the mean of the row subtracted"""
    return _weights(x, array_namespace(x).mean(x, axis=axis, keepdims=True), axis)


@fails("shifting_changes_nothing", "rows_do_not_disturb_each_other")
def scores_clipped(x, axis=-1):
    """scores cut off at 50"""
    xp = array_namespace(x)
    return _weights(xp.clip(x, -50.0, 50.0), 0.0, axis)


@fails("rows_sum_to_one", "the_island_weights", "the_axis_asked_for")
def axis_one_always(x, axis=-1):
    """axis 1 whatever the rank: right for a matrix, wrong for a stack of matrices"""
    axis = min(1, x.ndim - 1)
    return _weights(x, array_namespace(x).max(x, axis=axis, keepdims=True), axis)


@fails("the_axis_asked_for")
def axis_ignored(x, axis=-1):
    """the last axis, whichever was asked for"""
    return _weights(x, array_namespace(x).max(x, axis=-1, keepdims=True), -1)


@fails("the_input_is_unchanged")
def in_place(x, axis=-1):
    """the maximum subtracted inside the array that was handed over"""
    x -= array_namespace(x).max(x, axis=axis, keepdims=True)
    return _weights(x, 0.0, axis)


@fails(
    "the_island_weights",
    "shifting_changes_nothing",
    "the_axis_asked_for",
    "rows_do_not_disturb_each_other",
    "one_score_far_above",
)
def normalised_sigmoids(x, axis=-1):
    """shares of sigmoids"""
    xp = array_namespace(x)
    sigmoids = 1 / (1 + xp.exp(-x))
    return sigmoids / xp.sum(sigmoids, axis=axis, keepdims=True)


@fails("shifting_changes_nothing", "rows_do_not_disturb_each_other")
def shifted_only_when_large(x, axis=-1):
    """the maximum subtracted only where scores are beyond 999"""
    xp = array_namespace(x)
    largest = xp.max(x, axis=axis, keepdims=True)
    return _weights(x, xp.where(xp.abs(largest) > 999, largest, xp.zeros_like(largest)), axis)


@only("numpy")
@fails("rows_do_not_disturb_each_other")
def computed_in_float32(x, axis=-1):
    """the scores cast to float32 on the way"""
    xp = array_namespace(x)
    rounded = xp.astype(xp.astype(x, xp.float32), x.dtype)
    return _weights(rounded, xp.max(rounded, axis=axis, keepdims=True), axis)
