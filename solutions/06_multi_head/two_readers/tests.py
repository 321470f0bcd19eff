import itertools

import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


def _answers(questions, facts, matrices):
    """The two heads at work: [questions, 4]."""
    W_Q, W_K, W_V, W_O = matrices
    heads = []
    for h in range(2):
        scores = (questions @ W_Q[h]) @ (facts @ W_K[h]).T / np.sqrt(2)
        loudness = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        heads.append(loudness / loudness.sum(axis=-1, keepdims=True) @ (facts @ W_V[h]))
    return np.concatenate(heads, axis=-1) @ W_O


PAIRS = list(itertools.permutations(range(4), 2))
QUESTIONS = np.array([np.concatenate(island.KEYS[list(pair)]) for pair in PAIRS])
PLACES = np.array([np.concatenate(island.VALUES[list(pair)]) for pair in PAIRS])


@core
def test_all_pairs_are_found(two_readers, arrays):
    r"""At sharpness 200 all 12 pairs of people are placed, and at sharpness 3 the answers are soft ones

    $\mathrm{out} = (v_a, v_b)$ for the names $a$, $b$.
    """
    expect_close(
        got=_answers(QUESTIONS, island.cards(), two_readers(200.0)),
        expected=PLACES,
        slack=10,
        hint="which two numbers of the question card should each head read?",
    )
    expect_close(
        got=_answers(QUESTIONS, island.cards(), two_readers(3.0)),
        expected=_answers(QUESTIONS, island.cards(), arrays.oracle(3.0)),
        slack=10,
        hint="what should a perfect match score?",
    )


def test_the_sharpness_is_beta(two_readers, arrays):
    r"""At the standard sharpness, asked for Ada twice, both heads answer (4, 2.5)

    $\beta = 2 \ln 2$ gives the weights $\tfrac12, \tfrac14, \tfrac18, \tfrac18$ in each head.
    """
    question = np.concatenate([island.KEYS[0], island.KEYS[0]])[None]
    expect_close(
        got=_answers(question, island.cards(), two_readers(island.SHARPNESS)),
        expected=[[4.0, 2.5, 4.0, 2.5]],
        slack=10,
        hint="which root will the score be divided by, and who makes up for it?",
    )


def test_distances_can_be_read_off(two_readers, arrays):
    r"""The distance between two people can be read off the output, 10 km from Ada to Cem

    $|v_a - v_b|$ from the first two and the last two numbers.
    """
    got = _answers(QUESTIONS, island.cards(), two_readers(200.0))
    expect_close(
        got=np.linalg.norm(got[:, :2] - got[:, 2:], axis=-1),
        expected=np.linalg.norm(PLACES[:, :2] - PLACES[:, 2:], axis=-1),
        slack=10,
        hint="what is lost when two answers are added?",
    )


@hidden
def test_exchanging_names_exchanges_places(two_readers, arrays):
    r"""Exchanging the two names exchanges the two places, on another island too

    $\mathrm{out}(b, a)$ is $\mathrm{out}(a, b)$ with its halves exchanged.
    """
    angles = np.array([0.3, 1.4, 3.0, 4.1, 5.2])
    names = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    facts = np.concatenate([names, 5 * arrays.normal(5, 2)], axis=1)
    matrices = two_readers(2.0)
    there = np.concatenate([names[:4], names[1:]], axis=1)
    back = np.concatenate([names[1:], names[:4]], axis=1)
    got = _answers(back, facts, matrices)
    expected = _answers(there, facts, arrays.oracle(2.0))[:, [2, 3, 0, 1]]
    expect_close(got=got, expected=expected, slack=30, hint="which name does the second head read?")


def on_the_island():
    both = np.linalg.norm(island.VALUES[0] - island.VALUES[2])
    return f"question card Ada, Cem: {np.concatenate(island.KEYS[[0, 2]]).tolist()}; places {island.VALUES[0].tolist()} and {island.VALUES[2].tolist()}, {both:.0f} km apart"
