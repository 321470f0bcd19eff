import numpy as np

from course_lib.checking import fails, only

FIRST, LAST = np.eye(4)[:, :2], np.eye(4)[:, 2:]


def _readers(beta, questions=(FIRST, LAST), tell=LAST, output=None, root=2**0.5):
    return (
        beta * root * np.stack(questions),
        np.stack([FIRST, FIRST]),
        np.stack([tell, tell]),
        np.eye(4) if output is None else output,
    )


@fails("exchanging_names_exchanges_places", "all_pairs_are_found", "distances_can_be_read_off")
@only("numpy")
def both_read_the_first_name(beta):
    """both heads read the first name"""
    return _readers(beta, questions=(FIRST, FIRST))


@fails("distances_can_be_read_off", "all_pairs_are_found", "exchanging_names_exchanges_places")
@only("numpy")
def heads_averaged(beta):
    """W_O averages the heads, so that only the midpoint is left"""
    half = np.eye(2) / 2
    return _readers(beta, output=np.block([[half, half], [half, half]]))


@fails("the_sharpness_is_beta", "all_pairs_are_found", "exchanging_names_exchanges_places")
@only("numpy")
def root_forgotten(beta):
    """the later division by the root not made up for"""
    return _readers(beta, root=1.0)


@fails("the_sharpness_is_beta", "all_pairs_are_found", "exchanging_names_exchanges_places")
@only("numpy")
def root_of_d_model(beta):
    """made up for the root of the card's width"""
    return _readers(beta, root=2.0)


@fails(
    "all_pairs_are_found",
    "the_sharpness_is_beta",
    "distances_can_be_read_off",
    "exchanging_names_exchanges_places",
)
@only("numpy")
def names_returned(beta):
    """names returned, not places"""
    return _readers(beta, tell=FIRST)


@fails(
    "all_pairs_are_found",
    "the_sharpness_is_beta",
    "distances_can_be_read_off",
    "exchanging_names_exchanges_places",
)
@only("numpy")
def one_query_for_both(beta):
    """both heads asked with the sum of the two names"""
    return _readers(beta, questions=(FIRST + LAST, FIRST + LAST))


@fails("exchanging_names_exchanges_places", "all_pairs_are_found")
@only("numpy")
def answers_exchanged(beta):
    """the answer of the second head put first"""
    return _readers(beta, output=np.roll(np.eye(4), 2, axis=0))
