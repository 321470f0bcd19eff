import numpy as np

from course_lib.checking import core, expect_close, hidden


def _symmetric(arrays, n):
    """Symmetric scores in which some tokens are louder than others, by construction."""
    B = arrays.normal(n, n)
    loud = np.linspace(-1, 1, n)
    return arrays.rounded((B + B.T) / 2 + loud[:, None] + loud)


def _walk(S):
    loud = np.exp(S - S.max(axis=-1, keepdims=True))
    return loud / loud.sum(axis=-1, keepdims=True)


@core
def test_one_step_changes_nothing(stationary, arrays):
    r"""After one step the distribution is what it was before

    $\sum_i \pi_i A_{ij} = \pi_j$ for every $j$, with $A$ the softmax of the rows of $S$.
    """
    for n in (3, 6):
        S = _symmetric(arrays, n)
        pi = stationary(S)
        expect_close(
            got=pi, expected=arrays.oracle(S), hint="how much flows from i to j, and how much back?"
        )
        expect_close(
            got=pi @ _walk(S),
            expected=arrays.oracle(S),
            hint="on which side of A does a distribution stand?",
        )


def test_sums_to_one(stationary, arrays):
    r"""The distribution sums to one

    $\sum_i \pi_i = 1$.
    """
    for n in (2, 5):
        got = np.sum(stationary(_symmetric(arrays, n)))
        expect_close(got=got, expected=1.0, hint="what is left to divide by?")


def test_flows_balance(stationary, arrays):
    r"""As much flows from i to j as from j to i

    $\pi_i A_{ij} = \pi_j A_{ji}$.
    """
    S = _symmetric(arrays, 5)
    flow = stationary(S)[:, None] * _walk(S)
    expect_close(got=flow, expected=flow.T, hint="which factor makes exp(S) out of A again?")


def test_equal_scores_are_uniform(stationary, arrays):
    r"""Equal scores give equal shares, and a token that is louder for everybody gets more

    $S = 0$ gives $\pi_i = 1/n$; adding $c$ to row $i$ and to column $i$ is felt.
    """
    hint = "what can a row that sums to one tell about the row?"
    expect_close(got=stationary(np.zeros((4, 4))), expected=np.full(4, 0.25), hint=hint)
    S = np.zeros((3, 3))
    S[1], S[:, 1] = 1.0, 1.0
    S[1, 1] = 2.0
    expect_close(got=stationary(S), expected=arrays.oracle(S), hint=hint)


@hidden
def test_a_common_shift_cancels(stationary, arrays):
    r"""Adding 1000 to all scores, or taking 1000 away, changes nothing; and one pair may score 3000 below the rest

    $A$ does not change, so $\pi$ does not.
    """
    hint = "what may be taken away from every score before the exponential?"
    for shift in (1000.0, -1000.0):
        S = arrays.rounded(_symmetric(arrays, 4) + shift)
        expect_close(got=stationary(S), expected=arrays.oracle(S), hint=hint)
    S = _symmetric(arrays, 4)
    S[0, 2] = S[2, 0] = -3000.0
    expect_close(got=stationary(S), expected=arrays.oracle(S), hint=hint)


def on_the_island():
    names, S = ("Ada", "Bo", "Cem", "Dia"), _dial()
    sums = np.exp(S).sum(axis=1)
    return (
        "everybody turns the hand to their own key; the exponentials of the rows of scores sum to "
        + ", ".join(f"{name} {total:.3f}" for name, total in zip(names, sums, strict=True))
    )


def _dial():
    angles = np.radians([0.0, 60.0, 90.0, 270.0])
    return 2 * np.log(2) * np.cos(angles[:, None] - angles)
