import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


def _inputs(arrays, heads=3, n_q=2, n_k=5, d_model=4, d_v=2, d_out=6):
    return {
        "A": arrays.weights(heads, n_q, n_k),
        "X": arrays.normal(n_k, d_model),
        "W_V": arrays.normal(d_model, heads * d_v),
        "W_O": arrays.normal(heads * d_v, d_out),
    }


def _concatenated(A, X, W_V, W_O):
    width = W_V.shape[1] // len(A)
    values = X @ W_V
    blocks = [a @ values[:, h * width : (h + 1) * width] for h, a in enumerate(A)]
    return np.concatenate(blocks, axis=1) @ W_O


@core
def test_contributions_add_up(head_contributions, arrays):
    r"""Each contribution is what its head adds, and together they are the layer's output

    $\sum_h A^{(h)} X W_V^{(h)} W_O^{(h)} = \mathrm{Concat}(\dots)\,W_O$.
    """
    hint = "which columns of W_V and which rows of W_O belong to a head?"
    for sizes in ({}, {"heads": 2, "n_q": 4, "d_v": 3, "d_out": 5}):
        inputs = _inputs(arrays, **sizes)
        got = head_contributions(*inputs.values())
        expect_close(got=got, expected=arrays.oracle(*inputs.values()), slack=20, hint=hint)
        expect_close(got=np.sum(got, axis=0), expected=_concatenated(**inputs), slack=20, hint=hint)


def test_a_silenced_head_adds_nothing(head_contributions, arrays):
    r"""Rows of W_O set to zero silence exactly their head

    $W_O^{(1)} = 0$: head 1 adds zeros, the others what they added before.
    """
    inputs = _inputs(arrays)
    expected = arrays.oracle(*inputs.values())
    expected[1] = 0
    W_O = inputs["W_O"].copy()
    W_O[2:4] = 0
    got = head_contributions(*(inputs | {"W_O": W_O}).values())
    expect_close(got=got, expected=expected, slack=20, hint="which rows of W_O does head 1 meet?")


def test_heads_attend_on_their_own(head_contributions, arrays):
    r"""Other weights in one head change the contribution of that head and of no other

    Head $h$ sees $A^{(h)}$ only.
    """
    inputs = _inputs(arrays)
    before = head_contributions(*inputs.values())
    A = inputs["A"].copy()
    A[0] = arrays.weights(2, 5)
    after = head_contributions(*(inputs | {"A": A}).values())
    expect_close(
        got=after[1:],
        expected=np.asarray(before[1:]),
        hint="do the heads share one table of weights?",
    )


@hidden
def test_permuting_heads_permutes(head_contributions, arrays):
    r"""Heads in another order, with their columns of W_V and rows of W_O: contributions in that order

    The number of a head means nothing.
    """
    inputs = _inputs(arrays)
    order = [2, 0, 1]
    columns = np.arange(6).reshape(3, 2)[order].ravel()
    moved = {
        "A": inputs["A"][order],
        "X": inputs["X"],
        "W_V": inputs["W_V"][:, columns],
        "W_O": inputs["W_O"][columns],
    }
    got = head_contributions(*moved.values())
    expect_close(
        got=got,
        expected=arrays.oracle(*inputs.values())[order],
        slack=20,
        hint="which columns of W_V stand together?",
    )


def on_the_island():
    sharp = island.VALUES[[0, 2]]
    return f"one head on Ada, one on Cem, W_O = (I, -I) one above the other: they add {sharp[0].tolist()} and {(-sharp[1]).tolist()}, together {(sharp[0] - sharp[1]).tolist()}, of length {np.linalg.norm(sharp[0] - sharp[1]):.0f} km"
