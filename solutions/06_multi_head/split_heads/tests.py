import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, expect_equal, hidden


def _labelled(batch, n, d_model):
    """Story, token and feature can be read from the number: 213 is story 2, token 1, feature 3."""
    return (
        100.0 * np.arange(batch)[:, None, None]
        + 10.0 * np.arange(n)[:, None]
        + np.arange(float(d_model))
    )


@core
def test_every_entry_is_where_it_belongs(split_heads, arrays):
    r"""Labelled entries are where they belong, for 2 and for 3 heads

    $X^{(h)}_{ie} = X_{i,\,hd + e}$.
    """
    for sizes, heads in (((2, 5, 6), 2), ((2, 5, 6), 3), ((3, 4, 8), 2)):
        X = _labelled(*sizes)
        expect_close(
            got=split_heads(X, heads),
            expected=arrays.oracle(X, heads),
            hint="which axis is cut, and which axes change places?",
        )


def test_tokens_stay_whole(split_heads, arrays):
    r"""Changing one token changes that token in every head, and no other token anywhere

    $X_i$ fills row $i$ of every head.
    """
    X = arrays.normal(2, 5, 6)
    changed = X.copy()
    changed[:, 2] += 3.0
    for heads in (2, 3):
        before, after = split_heads(X, heads), split_heads(arrays.rounded(changed), heads)
        expect_equal(
            got=np.shape(before),
            expected=(2, heads, 5, 6 // heads),
            hint="in which order do the four axes stand?",
        )
        tokens = [
            sorted(set(np.nonzero(np.any(before[:, h] != after[:, h], axis=(0, -1)))[0].tolist()))
            for h in range(heads)
        ]
        expect_equal(
            got=tokens,
            expected=[[2]] * heads,
            hint="token 2 was changed; in which rows of each head does it show?",
        )


@hidden
def test_neighbouring_features_share_a_head(split_heads, arrays):
    r"""Neighbouring features of a token go to the same head

    Head 0 holds the features $0, \dots, d - 1$ and the last head the last $d$.
    """
    X = np.broadcast_to(np.arange(12.0), (2, 3, 12))
    for heads in (2, 4):
        got = split_heads(X, heads)
        d = 12 // heads
        blocks = np.arange(12.0).reshape(heads, 1, d)
        expect_close(
            got=got,
            expected=np.broadcast_to(blocks, (2, heads, 3, d)),
            hint="are features dealt out like cards, or cut like a pack?",
        )


def on_the_island():
    cards = island.cards()
    return f"Ada's card {cards[0].tolist()} with 2 heads: head 0 gets her name {cards[0, :2].tolist()}, head 1 her place {cards[0, 2:].tolist()}"
