import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


@core
def test_written_out(three_weights, arrays):
    r"""The three rows are the weights of the three scores, in the order of the task

    $\alpha_j = e^{s_j} / \sum_i e^{s_i}$ for $s_{\mathrm{dot}}$, $s_{\cos}$ and $s_{\mathrm{Gauss}}$.
    """
    for keys, width in ((5, 3), (7, 2)):
        q, K = arrays.normal(width), arrays.normal(keys, width)
        expect_close(
            got=three_weights(q, K),
            expected=arrays.oracle(q, K),
            hint="which row differs, and which sign has the square?",
        )


def test_rows_sum_to_one(three_weights, arrays):
    r"""Each of the three rows sums to one

    $\sum_j \alpha_j = 1$.
    """
    got = three_weights(arrays.normal(3), arrays.normal(5, 3))
    expect_close(
        got=np.sum(got, axis=-1),
        expected=np.ones(3),
        hint="are these kernel values, or shares of them?",
    )


def test_a_loud_key_wins(three_weights, arrays):
    r"""Bo three times as loud gets the largest dot weight: (2/7, 4/7, 1/14, 1/14)

    $s_{\mathrm{dot}}$ grows with the length of the key.
    """
    q = arrays.rounded(island.hand(0) / np.sqrt(2))
    loud = arrays.rounded(island.KEYS * np.array([[1], [3], [1], [1]]))
    got = three_weights(q, loud)
    expect_close(
        got=got[0],
        expected=[2 / 7, 4 / 7, 1 / 14, 1 / 14],
        hint="does the dot product know how long a key is?",
    )


def test_cosine_forgets_lengths(three_weights, arrays):
    r"""Stretching the query and each key, by factors of their own, changes no cosine weight

    $s_{\cos}(a q, b k) = s_{\cos}(q, k)$ for positive $a$ and $b$.
    """
    q, K = arrays.normal(3), arrays.normal(5, 3)
    longer = arrays.rounded(q * 3), arrays.rounded(K * arrays.uniform(5, 1, low=0.5, high=2.0))
    expect_close(
        got=three_weights(*longer)[1],
        expected=arrays.oracle(q, K)[1],
        slack=10,
        hint="which two lengths does the cosine divide by?",
    )


@hidden
def test_gaussian_forgets_the_origin(three_weights, arrays):
    r"""Moving the query and all keys together changes no Gaussian weight

    $|q - k|$ is the same after a common shift.
    """
    q, K, shift = arrays.normal(3), arrays.normal(5, 3), arrays.normal(3)
    moved = arrays.rounded(q + shift), arrays.rounded(K + shift)
    expect_close(
        got=three_weights(*moved)[2],
        expected=arrays.oracle(q, K)[2],
        slack=10,
        hint="what is left of |q - k|² when you write it out?",
    )


@hidden
def test_equal_lengths_make_dot_gaussian(three_weights, arrays):
    r"""For keys of one length the Gaussian weights are the dot weights

    $-\tfrac12|q - k|^2 = q \cdot k - \tfrac12|q|^2 - \tfrac12|k|^2$, and the last two terms are constant in a row.
    """
    q, K = arrays.normal(3), arrays.normal(5, 3)
    K = arrays.rounded(1.5 * K / np.linalg.norm(K, axis=-1, keepdims=True))
    expected = arrays.oracle(q, K)[0]
    expect_close(
        got=three_weights(q, K)[2],
        expected=expected,
        slack=10,
        hint="is the distance squared, halved, and Euclidean?",
    )


@hidden
def test_turning_changes_nothing(three_weights, arrays):
    r"""Turning the query and the keys together changes none of the three rows

    $Rq \cdot Rk = q \cdot k$ for every rotation $R$.
    """
    q, K = arrays.normal(3), arrays.normal(5, 3)
    turn, _ = np.linalg.qr(arrays.normal(3, 3))
    turned = arrays.rounded(q @ turn), arrays.rounded(K @ turn)
    expect_close(
        got=three_weights(*turned),
        expected=arrays.oracle(q, K),
        slack=10,
        hint="which distance is the same after a turn?",
    )


def on_the_island():
    dot = island.scores()
    loudness = np.exp(dot)
    return f"all keys have length one there; dot scores {dot.round(3)}, weights {loudness / loudness.sum()}"
