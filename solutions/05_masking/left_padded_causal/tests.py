import numpy as np

from course_lib.checking import core, expect_close, expect_true, hidden


@core
def test_two_short_stories(left_padded_causal, arrays):
    r"""Stories of 3 and 5 words in rows of 5, written out as booleans; and one of 2 words in a row of 3

    $M_{bij} = [\,j \le i\,]\,[\,j > n - \ell_b\,]$, places counted from 1.
    """
    hint = "at which end of its row does a story stand, and whose length is it?"
    three = [[0] * 5, [0] * 5, [0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 1]]
    got = 1.0 * left_padded_causal(np.array([3, 5]), 5)
    expect_close(got=got, expected=np.stack([three, np.tri(5)]), hint=hint)
    two = [[[0, 0, 0], [0, 1, 0], [0, 1, 1]]]
    got = left_padded_causal(np.array([2]), 3)
    expect_close(got=1.0 * got, expected=two, hint=hint)
    expect_true(
        got.dtype == bool,
        evidence=f"the entries are of dtype {got.dtype}",
        hint="what does a comparison of two arrays return?",
    )


def test_padding_is_never_seen(left_padded_causal, arrays):
    r"""No query sees padding, and what stands before the story sees nothing

    The first $n - \ell_b$ columns are False; so are the first $n - \ell_b$ rows.
    """
    lengths = 2 + arrays.permutation(4)[:3]
    got = 1.0 * left_padded_causal(lengths, 7)
    hint = "is a padding word hidden as a key, or only as a query?"
    for story, length in zip(got, lengths, strict=True):
        padding = 7 - length
        expect_close(got=story[:, :padding], expected=np.zeros((7, padding)), hint=hint)
        expect_close(got=story[:padding], expected=np.zeros((padding, 7)), hint=hint)


def test_the_last_token_is_real(left_padded_causal, arrays):
    r"""The last place holds a word, which sees the whole story and itself

    Row $n$ of story $b$ holds $\ell_b$ times True, at the end.
    """
    lengths = 1 + arrays.permutation(5)[:3]
    got = 1.0 * left_padded_causal(lengths, 7)
    expected = [[0.0] * (7 - length) + [1.0] * int(length) for length in lengths]
    expect_close(
        got=got[:, -1],
        expected=expected,
        hint="which places of a row hold words, the first or the last?",
    )


def test_full_length_is_causal(left_padded_causal, arrays):
    r"""A story that fills its row has the causal mask

    $\ell_b = n$ gives $M_{bij} = [\,j \le i\,]$.
    """
    got = 1.0 * left_padded_causal(np.array([5, 5, 5]), 5)
    expect_close(
        got=got,
        expected=np.tile(np.tri(5), (3, 1, 1)),
        hint="must a key satisfy one of the two conditions, or both?",
    )


@hidden
def test_batch_equal_to_n(left_padded_causal, arrays):
    r"""With as many stories as places each story keeps its own length

    Nothing is confused when batch and $n$ happen to be equal.
    """
    lengths = np.array([1, 4, 2, 3])
    expect_close(
        got=1.0 * left_padded_causal(lengths, 4),
        expected=arrays.oracle(lengths, 4),
        hint="along which axis does the list of lengths run when shapes are matched from the right?",
    )


@hidden
def test_an_empty_story(left_padded_causal, arrays):
    r"""In a story without words nobody sees anything

    $\ell_b = 0$ gives a table of False.
    """
    lengths = np.array([0, 3])
    expect_close(
        got=1.0 * left_padded_causal(lengths, 5),
        expected=arrays.oracle(lengths, 5),
        hint="how many columns are left over for a story of length 0?",
    )


def on_the_island():
    return (
        "`. Ada harbour Ada` and `. Bo mill Cem tower Bo` in rows of 6: the first has length 4 and two places of "
        f"padding; its last row is {[0, 0, 1, 1, 1, 1]}, its first two rows are all 0"
    )
