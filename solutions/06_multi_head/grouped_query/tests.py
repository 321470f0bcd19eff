import numpy as np

from course_lib.checking import core, expect_close, expect_equal, hidden


def _inputs(arrays, batch=2, heads=6, groups=3, n_q=3, n_k=5, d_k=4, d_v=2):
    return {
        "Q": arrays.normal(batch, heads, n_q, d_k),
        "K": arrays.normal(batch, groups, n_k, d_k),
        "V": arrays.normal(batch, groups, n_k, d_v),
    }


def _by_torch(*arrays):
    import torch

    Q, K, V = (torch.from_numpy(np.array(array)) for array in arrays)
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(Q, K, V, enable_gqa=True).numpy()


@core
def test_written_out_head_by_head(grouped_query, arrays):
    r"""Each head's output is its own attention over the keys and values of its group

    $\mathrm{softmax}(Q_h K_{g(h)}^\top/\sqrt{d_k})\,V_{g(h)}$.
    """
    for sizes in ({}, {"heads": 6, "groups": 2, "n_q": 2, "d_k": 3, "d_v": 4, "batch": 1}):
        inputs = _inputs(arrays, **sizes)
        expect_close(
            got=grouped_query(*inputs.values()),
            expected=arrays.oracle(*inputs.values()),
            slack=10,
            hint="which group does head 1 use, and which one the last head?",
        )


def test_agrees_with_torch(grouped_query, arrays):
    r"""The output is that of torch's scaled_dot_product_attention with enable_gqa

    the same sharing, the same scale.
    """
    inputs = _inputs(arrays, heads=8, groups=2)
    expect_close(
        got=grouped_query(*inputs.values()),
        expected=arrays.recorded(_by_torch, *inputs.values()),
        slack=10,
        hint="do keys and values go to the heads in the same order?",
    )


def test_neighbours_share_a_group(grouped_query, arrays):
    r"""Other values in group 0 change the first heads, as many as share it, and no others

    With 6 heads and 3 groups: heads 0 and 1.
    """
    inputs = _inputs(arrays)
    V = inputs["V"].copy()
    V[:, 0] += 1.0
    before = grouped_query(*inputs.values())
    after = grouped_query(*(inputs | {"V": arrays.rounded(V)}).values())
    moved = np.nonzero(np.any(np.abs(before - after) > 0.01, axis=(0, 2, 3)))[0].tolist()
    expect_equal(got=moved, expected=[0, 1], hint="is a list of groups repeated, or each group?")


def test_as_many_groups_as_heads(grouped_query, arrays):
    r"""With as many groups as heads these are ordinary heads

    $g(h) = h$.
    """
    inputs = _inputs(arrays, heads=3, groups=3)
    expect_close(
        got=grouped_query(*inputs.values()),
        expected=arrays.oracle(*inputs.values()),
        slack=10,
        hint="when nobody shares, does every head have its own keys?",
    )


def test_every_head_asks_itself(grouped_query, arrays):
    r"""Heads that share keys still ask their own questions

    Another question in head 0 changes head 0 and no other.
    """
    inputs = _inputs(arrays)
    Q = inputs["Q"].copy()
    Q[:, 0] = arrays.normal(2, 3, 4)
    before, after = grouped_query(*inputs.values()), grouped_query(*(inputs | {"Q": Q}).values())
    expect_close(
        got=after[:, 1:],
        expected=np.asarray(before[:, 1:]),
        hint="what exactly do the heads of a group share?",
    )


@hidden
def test_spelling_out_the_groups_changes_nothing(grouped_query, arrays):
    r"""Writing each shared group out once for every head changes nothing

    Sharing saves memory; it is not another formula.
    """
    inputs = _inputs(arrays)
    spelled = {name: np.repeat(inputs[name], 2, axis=1) for name in ("K", "V")}
    got = grouped_query(*inputs.values())
    expect_close(
        got=got,
        expected=np.asarray(grouped_query(*(inputs | spelled).values())),
        slack=10,
        hint="does anything in the formula count how many heads share?",
    )


def on_the_island():
    return "one set of keys and places, two hands: heads 0 and 1 share the only group, one turned to Ada, one to Cem"
