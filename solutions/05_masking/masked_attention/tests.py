import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


def _table(arrays, *shape):
    """Who may see whom: at random, but everybody sees somebody and nobody sees all."""
    table = arrays.uniform(*shape) < 0.5
    table[..., 0], table[..., 1] = True, False
    return table


@core
def test_equals_attention_on_the_visible_keys(masked_attention, arrays):
    r"""Each answer is attention computed on the visible keys alone

    $o_i = \mathrm{softmax}(q_i K_J^\top / \sqrt{d_k})\,V_J$ with $J$ the keys that query $i$ may see.
    """
    hint = "which keys are in the sum that you divide by?"
    for batch in ((), (2, 3)):
        Q, K = arrays.normal(*batch, 3, 5), arrays.normal(*batch, 7, 5)
        V, table = arrays.normal(*batch, 7, 2), _table(arrays, *batch, 3, 7)
        got = masked_attention(Q, K, V, table)
        expect_close(got=got, expected=arrays.oracle(Q, K, V, table), hint=hint)


def test_hidden_content_changes_nothing(masked_attention, arrays):
    r"""Other keys and values in the places that nobody may see change no answer

    $o$ does not depend on $k_j, v_j$ if $M_{ij}$ is False for all $i$.
    """
    Q, K, V = arrays.normal(3, 4), arrays.normal(7, 4), arrays.normal(7, 2)
    Q = arrays.rounded(2 * Q / np.linalg.norm(Q, axis=-1, keepdims=True))
    table = np.ones((3, 7), dtype=bool)
    table[:, 4:] = False
    before = masked_attention(Q, K, V, table)
    K[4:], V[4:] = arrays.rounded(25 * Q), 10
    hint = "what weight is left on a hidden key, whatever its score?"
    expect_close(got=masked_attention(Q, K, V, table), expected=before, hint=hint)


def test_nothing_visible_gives_zeros(masked_attention, arrays):
    r"""A query that may see nothing gets zeros, and its neighbours get their answer

    $o_i = 0$ if $M_{ij}$ is False for all $j$.
    """
    Q, K, V = arrays.normal(2, 3, 4), arrays.normal(2, 5, 4), arrays.normal(2, 5, 2)
    table = _table(arrays, 2, 3, 5)
    table[:, 1] = False
    expect_close(
        got=masked_attention(Q, K, V, table),
        expected=arrays.oracle(Q, K, V, table),
        hint="what does your formula divide by when nothing is visible?",
    )


@hidden
def test_large_visible_scores(masked_attention, arrays):
    r"""Visible scores of 1,000 and more, or of -1,000 and less, are no trouble

    Weights depend on differences of scores only.
    """
    whole = np.array([1.0, 2.0, 0.0, -1.0])
    K = np.stack([whole, whole + [0, 0, 1, 0], whole - [0, 0, 1, 0], -whole])
    V = arrays.normal(4, 2)
    table = np.array([[1, 1, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1]], dtype=bool)
    for size in (512.0, -512.0):
        Q = np.array([size, size, 2.0, 0.0]) * np.ones((3, 1))
        expect_close(
            got=masked_attention(Q, K, V, table),
            expected=arrays.oracle(Q, K, V, table),
            hint="how large is the largest exponent that you take?",
        )


@hidden
def test_a_hidden_giant_changes_nothing(masked_attention, arrays):
    r"""A hidden score 2,000 above the visible ones changes nothing

    The shift that keeps exponentials in range is chosen among the visible scores.
    """
    Q, K, V = arrays.normal(3, 4), arrays.normal(5, 4), arrays.normal(5, 2)
    table = _table(arrays, 3, 5)
    Q[:, 0], K[:, 0] = 4, 0
    K[1, 0] = 1_000 + 100
    V[1] = 50
    expect_close(
        got=masked_attention(Q, K, V, table),
        expected=arrays.oracle(Q, K, V, table),
        hint="which scores decide the number that you subtract?",
    )


@hidden
def test_hidden_nan_is_harmless(masked_attention, arrays):
    r"""A nan or an inf in a key and its value reaches the queries that may see it, and no others

    $o_i$ has no term with $j$ if $M_{ij}$ is False; $0 \cdot \mathrm{nan}$ is $\mathrm{nan}$.
    """
    Q, K, V = arrays.normal(5, 4), arrays.normal(5, 4), arrays.normal(5, 2)
    causal = np.tri(5, dtype=bool)
    expected = arrays.oracle(Q, K, V, causal)
    hint = "what is zero times nan, and where do you compute it?"
    for bad in (np.nan, np.inf):
        K[4], V[4] = bad, bad
        got = masked_attention(Q, K, V, causal)
        expect_close(got=got[:4], expected=expected[:4], hint=hint)
        if np.isnan(bad):
            honest = "does whoever sees a nan get to know of it?"
            expect_close(got=got[4], expected=[np.nan, np.nan], hint=honest)
        nobody = causal.copy()
        nobody[:, 4] = False
        got = masked_attention(Q, K, V, nobody)
        expect_close(got=got[:4], expected=expected[:4], hint=hint)


def on_the_island():
    p = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    left = p * [True, False, True, True]
    return (
        f"weights {p}, Bo hidden: {left}, their sum {left.sum():g}, "
        f"weights {(left / left.sum()).round(4)}, answer {(left / left.sum() @ island.VALUES).round(4)}"
    )
