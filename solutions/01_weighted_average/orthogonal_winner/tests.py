import numpy as np

from course_lib.checking import core, expect_close, expect_equal, expect_true, hidden


def _queries(arrays):
    """Queries in any direction, of several widths and lengths."""
    for width in (2, 3, 5):
        yield arrays.rounded(arrays.normal(width) + np.sign(arrays.normal(width)))


@core
def test_first_is_at_right_angles(orthogonal_winner, arrays):
    r"""The first key is at right angles to the query and one long, whichever way the query points

    $q \cdot k_1 = 0$ and $|k_1| = 1$.
    """
    hint = "which directions are left when the query's own is taken away?"
    for q in _queries(arrays):
        keys = orthogonal_winner(q)
        expect_equal(got=np.shape(keys), expected=(3, len(q)), hint="how many keys, and how wide?")
        expect_close(got=keys[0] @ q, expected=0.0, slack=10, hint=hint)
        expect_close(got=np.linalg.norm(keys[0]), expected=1.0, hint=hint)


def test_all_have_length_one(orthogonal_winner, arrays):
    r"""Every key has length one

    $|k_j| = 1$ for all three.
    """
    for q in _queries(arrays):
        got = np.linalg.norm(orthogonal_winner(q), axis=-1)
        expect_close(got=got, expected=np.ones(3), hint="what did you divide each key by?")


@hidden
def test_first_gets_the_most(orthogonal_winner, arrays):
    r"""The first key's weight is strictly the largest, and the others are not at right angles

    $q \cdot k_2 \ne 0$, $q \cdot k_3 \ne 0$, $\alpha_1 > \alpha_2$ and $\alpha_1 > \alpha_3$.
    """
    for q in _queries(arrays):
        keys = orthogonal_winner(q)
        scores = keys @ q
        expect_true(
            scores[1:] < scores[0] - 0.01,
            evidence=f"the scores are {np.asarray(scores).round(3).tolist()}; the first is not the largest",
            hint="which scores are smaller than zero?",
        )


def on_the_island():
    return "hand on Ada, keys at 90, 180 and 180 degrees: scores 0, minus 2 ln 2 and minus 2 ln 2; Cem's place wins with the score 0"
