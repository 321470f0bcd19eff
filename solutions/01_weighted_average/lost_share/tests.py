import numpy as np

from course_lib.checking import core, expect_close, hidden


@core
def test_half_the_slots_half_the_message(lost_share, arrays):
    r"""A random code of 10 numbers for a message of 20 loses one half

    $1 - d/n$ for $d$ independent rows; so do other sizes.
    """
    hint = "into how many dimensions can the reader see?"
    expect_close(got=lost_share(arrays.normal(10, 20)), expected=0.5, hint=hint)
    expect_close(got=lost_share(arrays.normal(3, 7)), expected=4 / 7, hint=hint)
    expect_close(got=lost_share(arrays.normal(2, 5)), expected=3 / 5, hint=hint)


def test_an_invertible_code_loses_nothing(lost_share, arrays):
    r"""A code that can be inverted loses nothing

    $D = E^{-1}$ gives $\hat x = x$.
    """
    turn, _ = np.linalg.qr(arrays.normal(7, 7))
    E = arrays.rounded(turn * arrays.uniform(7, low=1.0, high=2.0))
    expect_close(
        got=lost_share(E),
        expected=0.0,
        hint="is this the share that is kept or the share that is lost?",
    )


def test_repeating_adds_nothing(lost_share, arrays):
    r"""Sending the same code twice recovers nothing new

    A repeated row adds no dimension.
    """
    E = arrays.normal(3, 11)
    got = lost_share(np.concatenate([E, E]))
    expect_close(
        got=got, expected=8 / 11, hint="how many of the rows say something that the others do not?"
    )


@hidden
def test_volume_does_not_matter(lost_share, arrays):
    r"""A code a thousand times fainter or louder loses no less and no more

    $c E$ has the same reader, divided by $c$.
    """
    E = arrays.normal(5, 13)
    for volume in (2.0**-10, 2.0**10):
        got = lost_share(arrays.rounded(volume * E))
        expect_close(
            got=got, expected=8 / 13, hint="compared with what is a number of the code small?"
        )


def on_the_island():
    return "keep only how far east the four places lie, and not how far north: one number of two, half of the energy is lost"
