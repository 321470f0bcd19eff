from array_api_compat import array_namespace

from course_lib.checking import fails


def _shares(loudness, axis=-1):
    return loudness / array_namespace(loudness).sum(loudness, axis=axis, keepdims=True)


@fails(
    "equal_values_come_back",
    "the_island_answer",
    "only_differences_count",
    "one_unit_is_a_factor_e",
    "each_question_alone",
)
def softmax_of_each_score_alone(scores, V):
    """the share of each score taken by itself, which is always one"""
    xp = array_namespace(scores)
    return xp.ones_like(scores) @ V


@fails(
    "equal_values_come_back",
    "the_island_answer",
    "only_differences_count",
    "one_unit_is_a_factor_e",
    "each_question_alone",
)
def weights_not_normalised(scores, V):
    """exponentials never divided by their sum"""
    return array_namespace(scores).exp(scores) @ V


@fails(
    "each_question_alone",
    "the_island_answer",
    "equal_values_come_back",
    "only_differences_count",
    "one_unit_is_a_factor_e",
)
def normalised_over_questions(scores, V):
    """shares added up down the column, so that questions compete for a key"""
    return _shares(array_namespace(scores).exp(scores), axis=0) @ V


@fails(
    "only_differences_count", "the_island_answer", "one_unit_is_a_factor_e", "each_question_alone"
)
def share_of_the_score(scores, V):
    """the share of the score itself, without an exponential"""
    return _shares(scores) @ V


@fails(
    "one_unit_is_a_factor_e", "the_island_answer", "only_differences_count", "each_question_alone"
)
def powers_of_two(scores, V):
    """powers of two, read off from the island's halves"""
    return _shares(2**scores) @ V


@fails(
    "the_island_answer", "only_differences_count", "one_unit_is_a_factor_e", "each_question_alone"
)
def winner_takes_all(scores, V):
    """the value of the best key alone"""
    return V[array_namespace(scores).argmax(scores, axis=-1)]
