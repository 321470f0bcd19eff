from array_api_compat import array_namespace

from course_lib.checking import fails


def _sums(Q, K, W_Q, W_K):
    return (Q @ W_Q)[:, None, :] + (K @ W_K)[None, :, :]


@fails(
    "scores_are_bounded",
    "the_two_written_forms_agree",
    "the_bias_sits_inside",
    "the_question_matters",
)
def no_tanh(Q, K, W_Q, W_K, b, v):
    """no tanh: a linear score, whose query part is the same for all keys"""
    return (_sums(Q, K, W_Q, W_K) + b) @ v


@fails("the_question_matters", "the_two_written_forms_agree", "scores_are_bounded")
def tanh_before_adding(Q, K, W_Q, W_K, b, v):
    """tanh of each part by itself, added afterwards"""
    xp = array_namespace(Q)
    return (xp.tanh(Q @ W_Q + b)[:, None, :] + xp.tanh(K @ W_K)[None, :, :]) @ v


@fails("the_bias_sits_inside", "the_two_written_forms_agree", "the_question_matters")
def bias_forgotten(Q, K, W_Q, W_K, b, v):
    """the bias forgotten: changing the sign of query and key changes only the sign of the score"""
    return array_namespace(Q).tanh(_sums(Q, K, W_Q, W_K)) @ v


@fails(
    "the_bias_sits_inside",
    "the_two_written_forms_agree",
    "scores_are_bounded",
    "the_question_matters",
)
def bias_outside(Q, K, W_Q, W_K, b, v):
    """the bias added after the tanh, where it is the same for every pair"""
    return (array_namespace(Q).tanh(_sums(Q, K, W_Q, W_K)) + b) @ v


@fails("the_two_written_forms_agree", "the_bias_sits_inside", "the_question_matters")
def keys_as_rows(Q, K, W_Q, W_K, b, v):
    """one row for each key in place of one for each query"""
    return (array_namespace(Q).tanh(_sums(Q, K, W_Q, W_K) + b) @ v).T
