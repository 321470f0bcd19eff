import numpy as np

from course_lib.checking import core, expect_equal, expect_true, hidden


def _scores(n, projections):
    angles = 2 * np.pi * np.arange(n) / n
    X = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    W_Q, W_K = projections
    return (X @ W_Q) @ (X @ W_K).T / np.sqrt(2)


def _next_comes_first(point_to_next, n):
    winners = np.argmax(_scores(n, point_to_next(n)), axis=-1).tolist()
    expected = [(i + 1) % n for i in range(n)]
    expect_equal(
        got=winners,
        expected=expected,
        hint="which way does a row turn when a matrix multiplies it from the right?",
    )


@core
def test_the_next_comes_first(point_to_next, arrays):
    r"""The largest score of each token is at the next one, for circles of 3, 5 and 8 tokens

    $\arg\max_j S_{ij} = i + 1$ (modulo $n$).
    """
    for n in (3, 5, 8):
        projections = point_to_next(n)
        expect_equal(
            got=np.shape(projections[0]), expected=(2, 2), hint="how large is a projection here?"
        )
        _next_comes_first(point_to_next, n)


def test_the_relation_is_directed(point_to_next, arrays):
    r"""The score of one token on another differs from the score the other way round

    $S_{i,i+1} > S_{i+1,i}$: a look has a direction.
    """
    for n in (3, 5, 8):
        scores = _scores(n, point_to_next(n))
        there, back = scores[0, 1], scores[1, 0]
        expect_true(
            there > back + 0.01,
            evidence=f"with {n} tokens the first scores the second {there:.3f} and the second the first {back:.3f}",
            hint="what is W_Q W_K^T when both turn by the same angle?",
        )


@hidden
def test_the_neighbour_wins_clearly(point_to_next, arrays):
    r"""The neighbour wins clearly: there is no tie with the token itself or with the one after, also for 12 tokens

    $S_{i,i+1} - S_{ij} > 0.01$ for all other $j$.
    """
    for n in (4, 12):
        _next_comes_first(point_to_next, n)
        ordered = np.sort(_scores(n, point_to_next(n)), axis=-1)
        lead = np.min(ordered[:, -1] - ordered[:, -2])
        expect_true(
            lead > 0.01,
            evidence=f"with {n} tokens the neighbour leads by {lead:.3g}",
            hint="how far is one step?",
        )


def on_the_island():
    return f"four tokens at 0, 90, 180 and 270 degrees: a step is a quarter turn, cos and sin of it are {np.cos(np.pi / 2):.0f} and {np.sin(np.pi / 2):.0f}"
