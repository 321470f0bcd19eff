from array_api_compat import array_namespace

from course_lib.checking import fails


def _softmax(x):
    xp = array_namespace(x)
    loud = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return loud / xp.sum(loud, axis=-1, keepdims=True)


@fails("one_step_changes_nothing", "flows_balance", "a_common_shift_cancels")
def one_step_from_uniform(S):
    """the column means of A: one step from the uniform distribution"""
    return array_namespace(S).mean(_softmax(S), axis=0)


@fails(
    "equal_scores_are_uniform",
    "one_step_changes_nothing",
    "flows_balance",
    "a_common_shift_cancels",
)
def the_right_eigenvector(S):
    """the uniform distribution: the eigenvector on the wrong side"""
    xp = array_namespace(S)
    return xp.ones_like(S[0]) / S.shape[0]


@fails(
    "one_step_changes_nothing",
    "flows_balance",
    "equal_scores_are_uniform",
    "a_common_shift_cancels",
)
def softmax_of_row_sums(S):
    """the softmax of the sums of the scores"""
    return _softmax(array_namespace(S).sum(S, axis=-1))


@fails(
    "sums_to_one", "one_step_changes_nothing", "equal_scores_are_uniform", "a_common_shift_cancels"
)
def not_normalised(S):
    """the sums of the kernel's rows, not divided by their total"""
    xp = array_namespace(S)
    return xp.sum(xp.exp(S - xp.max(S)), axis=-1)


@fails("a_common_shift_cancels")
def naive_exponentials(S):
    """exponentials of scores as they are"""
    xp = array_namespace(S)
    sums = xp.sum(xp.exp(S), axis=-1)
    return sums / xp.sum(sums)


@fails("flows_balance", "one_step_changes_nothing", "a_common_shift_cancels")
def softmax_of_row_maxima(S):
    """the softmax of the largest scores"""
    return _softmax(array_namespace(S).max(S, axis=-1))


@fails(
    "one_step_changes_nothing",
    "flows_balance",
    "equal_scores_are_uniform",
    "a_common_shift_cancels",
)
def each_row_from_its_own_maximum(S):
    """each row counted from its own maximum, which is not given back"""
    xp = array_namespace(S)
    sums = xp.sum(xp.exp(S - xp.max(S, axis=-1, keepdims=True)), axis=-1)
    return sums / xp.sum(sums)


@fails("one_step_changes_nothing", "flows_balance", "a_common_shift_cancels")
def first_row(S):
    """the first row of A: where one step leads from token 0"""
    return _softmax(S)[0]
