import numpy as np

from course_lib.checking import fails, only


def _window(widths, field, start=None):
    start = sum(widths[:field]) if start is None else start
    matrix = np.zeros((sum(widths), widths[field]))
    for e in range(widths[field]):
        if start + e < sum(widths):
            matrix[start + e, e] = 1.0
    return matrix


def _roles(widths, ask, tell, query=1.0, key=1.0):
    return query * _window(widths, ask), key * _window(widths, ask), _window(widths, tell)


@fails("a_perfect_match_scores_beta", "the_island_answer", "only_the_asked_field_decides")
@only("numpy")
def root_forgotten(widths, ask, tell, beta):
    """the later division by the root not made up for"""
    return _roles(widths, ask, tell, query=beta)


@fails("a_perfect_match_scores_beta", "the_island_answer")
@only("numpy")
def beta_on_both_sides(widths, ask, tell, beta):
    """beta in the query and once more in the key"""
    return _roles(widths, ask, tell, query=beta * widths[ask] ** 0.5, key=beta)


@fails("a_perfect_match_scores_beta", "the_island_answer", "only_the_asked_field_decides")
@only("numpy")
def root_of_the_card_width(widths, ask, tell, beta):
    """the root of the whole card's width"""
    return _roles(widths, ask, tell, query=beta * sum(widths) ** 0.5)


@fails(
    "the_island_answer",
    "a_perfect_match_scores_beta",
    "only_the_asked_field_decides",
    "only_the_told_field_is_returned",
)
@only("numpy")
def ask_and_tell_swapped(widths, ask, tell, beta):
    """the two fields exchanged"""
    return _roles(widths, tell, ask, query=beta * widths[tell] ** 0.5)


@fails("only_the_asked_field_decides", "the_island_answer", "only_the_told_field_is_returned")
@only("numpy")
def fields_of_equal_width(widths, ask, tell, beta):
    """field f taken to begin at f times its own width"""
    window = _window(widths, ask, start=ask * widths[ask])
    return (
        beta * widths[ask] ** 0.5 * window,
        window,
        _window(widths, tell, start=tell * widths[tell]),
    )


@fails("only_the_told_field_is_returned", "the_island_answer")
@only("numpy")
def whole_card_as_value(widths, ask, tell, beta):
    """the whole card returned"""
    W_Q, W_K, _ = _roles(widths, ask, tell, query=beta * widths[ask] ** 0.5)
    return W_Q, W_K, np.eye(sum(widths))
