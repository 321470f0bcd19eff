import numpy as np

from course_lib.checking import fails, only


def _steps_back(n_q, n_k, ahead):
    return np.arange(n_q)[:, None] + ahead - np.arange(n_k)


def _ahead(n_q, n_k, align):
    return n_k - n_q if align == "end" else 0


@fails("square_masks_agree", "two_of_four", "the_newest_sees_all", "the_oldest_sees_one")
@only("numpy")
def strictly_past(n_q, n_k, align):
    """the query's own place left out"""
    return _steps_back(n_q, n_k, _ahead(n_q, n_k, align)) > 0


@fails("two_of_four", "square_masks_agree", "the_newest_sees_all", "the_oldest_sees_one")
@only("numpy")
def true_means_hidden(n_q, n_k, align):
    """True where it should be hidden"""
    return _steps_back(n_q, n_k, _ahead(n_q, n_k, align)) < 0


@fails("square_masks_agree", "two_of_four", "the_newest_sees_all", "the_oldest_sees_one")
@only("numpy")
def the_future_only(n_q, n_k, align):
    """the future allowed, the past hidden"""
    return _steps_back(n_q, n_k, _ahead(n_q, n_k, align)) <= 0


@fails("the_newest_sees_all", "two_of_four")
@only("numpy")
def always_from_the_start(n_q, n_k, align):
    """aligned at the start, whatever was asked for"""
    return _steps_back(n_q, n_k, 0) >= 0


@fails("the_newest_sees_all", "two_of_four")
@only("numpy")
def offset_reversed(n_q, n_k, align):
    """the offset with the wrong sign"""
    return _steps_back(n_q, n_k, -_ahead(n_q, n_k, align)) >= 0


@fails("the_newest_sees_all")
@only("numpy")
def offset_never_negative(n_q, n_k, align):
    """no offset when there are more queries than keys"""
    return _steps_back(n_q, n_k, max(0, _ahead(n_q, n_k, align))) >= 0


@fails("the_oldest_sees_one", "two_of_four")
@only("numpy")
def always_to_the_end(n_q, n_k, align):
    """aligned at the end, whatever was asked for"""
    return _steps_back(n_q, n_k, n_k - n_q) >= 0


@fails("the_table_holds_booleans")
@only("numpy")
def integers_for_booleans(n_q, n_k, align):
    """a triangle of ones and zeros"""
    return np.tril(np.ones((n_q, n_k), dtype=int), _ahead(n_q, n_k, align))


@fails("the_table_holds_booleans")
@only("numpy")
def numbers_from_the_start(n_q, n_k, align):
    """a triangle of numbers where both begin together, booleans else"""
    if align == "start":
        return np.tri(n_q, n_k)
    return _steps_back(n_q, n_k, _ahead(n_q, n_k, align)) >= 0
