import numpy as np

from course_lib.checking import fails, only


def _turn(angle):
    """Turns row vectors counter-clockwise."""
    return np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


@fails("the_next_comes_first", "the_relation_is_directed", "the_neighbour_wins_clearly")
@only("numpy")
def turned_backwards(n):
    """the rotation of column vectors applied to rows: everybody looks at the one before"""
    return _turn(2 * np.pi / n).T, np.eye(2)


@fails("the_relation_is_directed", "the_next_comes_first", "the_neighbour_wins_clearly")
@only("numpy")
def query_and_key_turned_alike(n):
    """query and key turned by the same angle: everybody looks at themselves"""
    return _turn(2 * np.pi / n), _turn(2 * np.pi / n)


@fails("the_next_comes_first", "the_neighbour_wins_clearly")
@only("numpy")
def degrees_for_radians(n):
    """degrees given where radians are taken"""
    return _turn(360 / n), np.eye(2)


@fails("the_neighbour_wins_clearly")
@only("numpy")
def half_a_step(n):
    """half a step: a tie between oneself and the next"""
    return _turn(np.pi / n + 1e-4), np.eye(2)


@fails("the_next_comes_first", "the_neighbour_wins_clearly")
@only("numpy")
def always_a_quarter_turn(n):
    """a quarter turn, however many tokens there are"""
    return _turn(np.pi / 2), np.eye(2)
