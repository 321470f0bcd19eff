import math

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


def _scores(X, projections):
    W_Q, W_K, _ = projections
    return (X @ W_Q) @ (X @ W_K).T / np.sqrt(np.shape(W_Q)[1])


def _output(X, projections):
    loudness = np.exp(_scores(X, projections))
    return loudness / loudness.sum(axis=-1, keepdims=True) @ (X @ projections[2])


def _unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


@core
def test_the_island_answer(roles, arrays):
    r"""The island's cards, asked by name, tell places: Ada's row gives (4, 2.5)

    and asked by place they tell names, with the windows exchanged.
    """
    hint = "which columns of the card does each window show?"
    by_name = roles([2, 2], 0, 1, island.SHARPNESS)
    expect_close(got=_output(island.cards(), by_name)[0], expected=[4.0, 2.5], slack=10, hint=hint)
    cards = np.concatenate([_unit(arrays.normal(5, 3)), arrays.normal(5, 2)], axis=1)
    expected = _output(cards, arrays.oracle([3, 2], 0, 1, 2.0))
    expect_close(
        got=_output(cards, roles([3, 2], 0, 1, 2.0)), expected=expected, slack=10, hint=hint
    )


def test_a_perfect_match_scores_beta(roles, arrays):
    r"""Two cards whose asked fields are equal and one long score beta, cards at right angles score 0

    $S_{ij} = \beta\, k_i \cdot k_j$ for unit fields.
    """
    cards = np.concatenate([np.eye(3), arrays.normal(3, 4)], axis=1)
    got = _scores(cards, roles([3, 4], 0, 1, 1.5))
    expect_close(
        got=got,
        expected=1.5 * np.eye(3),
        slack=10,
        hint="which root will the score be divided by, and on how many sides does beta stand?",
    )


def test_only_the_asked_field_decides(roles, arrays):
    r"""Only the asked field decides the scores, wherever it stands on the card

    $S = \beta\, F F^\top$ with $F$ the columns of the asked field.
    """
    widths = [2, 5, 3]
    cards = arrays.normal(4, 10, scale=0.5)
    field = cards[:, 7:]
    got = _scores(cards, roles(widths, 2, 0, 1.0))
    expect_close(
        got=got,
        expected=field @ field.T,
        slack=20,
        hint="where does a field begin when the fields before it differ in width?",
    )


@hidden
def test_only_the_told_field_is_returned(roles, arrays):
    r"""Only the told field is returned

    $X W_V$ are the columns of the told field, and nothing else.
    """
    cards = arrays.normal(4, 10)
    _, _, W_V = roles([2, 5, 3], 2, 1, 1.0)
    expect_close(got=cards @ W_V, expected=cards[:, 2:7], slack=10, hint="how wide is the answer?")


def on_the_island():
    return (
        f"widths [2, 2], ask 0, tell 1: the query window shows the two numbers of the name, "
        f"times {island.SHARPNESS * math.sqrt(2):.4f}; the value window shows the two numbers of the place"
    )
