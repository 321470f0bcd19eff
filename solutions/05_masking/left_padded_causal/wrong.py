import numpy as np

from course_lib.checking import fails, only


def _causal(n):
    return np.tri(n, dtype=bool)


def _is_word(lengths, n):
    return np.arange(n) >= n - lengths[:, None]


@fails(
    "padding_is_never_seen",
    "two_short_stories",
    "the_last_token_is_real",
    "batch_equal_to_n",
    "an_empty_story",
)
@only("numpy")
def rows_hidden(lengths, n):
    """padding hidden as query, not as key"""
    return _causal(n) & _is_word(lengths, n)[:, :, None]


@fails(
    "the_last_token_is_real",
    "two_short_stories",
    "padding_is_never_seen",
    "batch_equal_to_n",
    "an_empty_story",
)
@only("numpy")
def padded_at_the_end(lengths, n):
    """padding taken to stand at the end"""
    return _causal(n) & (np.arange(n) < lengths[:, None])[:, None, :]


@fails(
    "full_length_is_causal",
    "two_short_stories",
    "padding_is_never_seen",
    "the_last_token_is_real",
    "batch_equal_to_n",
    "an_empty_story",
)
@only("numpy")
def or_for_and(lengths, n):
    """causal or a word, where both are needed"""
    return _causal(n) | _is_word(lengths, n)[:, None, :]


@fails(
    "an_empty_story",
    "two_short_stories",
    "padding_is_never_seen",
    "the_last_token_is_real",
    "batch_equal_to_n",
)
@only("numpy")
def one_too_many(lengths, n):
    """one key too many at the border of the padding"""
    return _causal(n) & (np.arange(n) >= n - 1 - lengths[:, None])[:, None, :]


@fails("batch_equal_to_n")
@only("numpy")
def lengths_along_the_keys(lengths, n):
    """lengths matched with the keys when there are as many stories as places"""
    if len(lengths) == n:
        return _causal(n) & np.stack([np.arange(n) >= n - lengths] * n)[:, None, :]
    return _causal(n) & _is_word(lengths, n)[:, None, :]


@fails(
    "two_short_stories",
    "padding_is_never_seen",
    "the_last_token_is_real",
    "batch_equal_to_n",
    "an_empty_story",
)
@only("numpy")
def one_length_for_all(lengths, n):
    """the longest length for all"""
    return _causal(n) & _is_word(np.full_like(lengths, lengths.max()), n)[:, None, :]


@fails("padding_is_never_seen", "two_short_stories", "batch_equal_to_n", "an_empty_story")
@only("numpy")
def sees_itself_always(lengths, n):
    """padding sees itself, so that no row is empty"""
    return (_causal(n) & _is_word(lengths, n)[:, None, :]) | np.eye(n, dtype=bool)


@fails("two_short_stories")
@only("numpy")
def ones_and_zeros(lengths, n):
    """ones and zeros in place of booleans"""
    return (_causal(n) & _is_word(lengths, n)[:, None, :]).astype(int)
