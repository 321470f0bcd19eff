import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden

MATRICES = ("W_Q", "W_K", "W_V", "W_O")


def _inputs(arrays, batch=2, n_q=3, n_k=5, d_model=6, heads=3):
    inputs = {"X_q": arrays.normal(batch, n_q, d_model), "X_kv": arrays.normal(batch, n_k, d_model)}
    inputs |= {name: arrays.normal(d_model, d_model, scale=0.5) for name in MATRICES}
    return inputs | {"heads": heads}


def _softmax(x):
    loudness = np.exp(x - x.max(axis=-1, keepdims=True))
    return loudness / loudness.sum(axis=-1, keepdims=True)


def _mask(arrays, batch, n_q, n_k):
    """Every query sees some keys and not others; stories and questions differ."""
    seen = arrays.integers(batch, n_q, n_k, low=0, high=2) == 1
    for b, i in np.ndindex(batch, n_q):
        seen[b, i, (2 * b + i) % n_k], seen[b, i, (2 * b + i + 1) % n_k] = True, False
    return seen


def _by_torch(inputs, seen):
    import torch

    module = torch.nn.MultiheadAttention(6, 3, bias=False, batch_first=True, dtype=torch.float64)
    side_by_side = np.concatenate([inputs[name] for name in MATRICES[:3]], axis=1)
    asking, telling = (torch.from_numpy(np.array(inputs[name])) for name in ("X_q", "X_kv"))
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.from_numpy(side_by_side.T.copy()))
        module.out_proj.weight.copy_(torch.from_numpy(inputs["W_O"].T.copy()))
        hides = torch.from_numpy(~np.repeat(seen, 3, axis=0))
        return module(asking, telling, telling, attn_mask=hides)[0].numpy()


@core
def test_written_out_head_by_head(multi_head, arrays):
    r"""The output is that of the layer written out head by head

    $\sum_h \mathrm{softmax}(Q_h K_h^\top/\sqrt d)\, V_h\, W_O^{(h)}$.
    """
    for sizes in ({}, {"batch": 1, "n_q": 4, "n_k": 3, "d_model": 8, "heads": 2}):
        inputs = _inputs(arrays, **sizes)
        expect_close(
            got=multi_head(*inputs.values()),
            expected=arrays.oracle(*inputs.values()),
            slack=20,
            hint="which features, which scale and which table of weights are a head's own?",
        )


def test_agrees_with_torch(multi_head, arrays):
    r"""The output is that of torch.nn.MultiheadAttention with the same weights, mask included

    Its matrices are the transposes of ours, and in its mask True means hidden.
    """
    inputs = _inputs(arrays)
    seen = _mask(arrays, 2, 3, 5)
    expect_close(
        got=multi_head(*inputs.values(), seen),
        expected=arrays.recorded(_by_torch, inputs, seen),
        slack=20,
        hint="without a mask the layers agree or not: which of the two tells you where to look?",
    )


def test_one_head_is_plain_attention(multi_head, arrays):
    r"""One head is plain attention over all features, projected once more

    $H = 1$: $\mathrm{softmax}(QK^\top/\sqrt{d_{model}})\,V\,W_O$.
    """
    inputs = _inputs(arrays, heads=1)
    Q = inputs["X_q"] @ inputs["W_Q"]
    K, V = inputs["X_kv"] @ inputs["W_K"], inputs["X_kv"] @ inputs["W_V"]
    expected = _softmax(Q @ K.mT / np.sqrt(6)) @ V @ inputs["W_O"]
    expect_close(
        got=multi_head(*inputs.values()),
        expected=expected,
        slack=20,
        hint="with one head, what happens before the weights, and what after the average?",
    )


def test_the_order_of_heads_is_free(multi_head, arrays):
    r"""Heads in another order, with their columns of W_Q, W_K, W_V and rows of W_O: the same output

    A sum does not depend on the order of its terms.
    """
    inputs = _inputs(arrays)
    columns = np.arange(6).reshape(3, 2)[[2, 0, 1]].ravel()
    moved = {name: inputs[name][:, columns] for name in MATRICES[:3]}
    got = multi_head(*(inputs | moved | {"W_O": inputs["W_O"][columns]}).values())
    expect_close(
        got=got,
        expected=arrays.oracle(*inputs.values()),
        slack=20,
        hint="is there a head that is treated unlike the others?",
    )


def test_each_story_has_its_own_mask(multi_head, arrays):
    r"""Each story of a batch has its own mask, even if there are as many stories as heads

    A query sees the keys that its own row of its own story allows.
    """
    for batch in (3, 2):
        inputs = _inputs(arrays, batch=batch) | {"may_attend": _mask(arrays, batch, 3, 5)}
        expect_close(
            got=multi_head(*inputs.values()),
            expected=arrays.oracle(*inputs.values()),
            slack=20,
            hint="the scores have four axes and the mask has three: which one is missing?",
        )


def test_each_question_alone(multi_head, arrays):
    r"""Another token in the query sequence changes its own row of the output only

    Row $i$ of the output knows $X_{q,i}$ and no other question.
    """
    inputs = _inputs(arrays)
    X_q = inputs["X_q"].copy()
    X_q[:, 1] = arrays.normal(2, 6)
    before, after = multi_head(*inputs.values()), multi_head(*(inputs | {"X_q": X_q}).values())
    expect_close(
        got=after[:, [0, 2]],
        expected=np.asarray(before)[:, [0, 2]],
        hint="question 1 was changed; how does it get into the other rows?",
    )


@hidden
def test_many_narrow_heads(multi_head, arrays):
    r"""One head for each feature is that many attentions of width one

    $d = 1$: no division, and $O = \sum_e \mathrm{softmax}(q_e k_e^\top)\,v_e\,w_e$ with the row $w_e$ of $W_O$.
    """
    inputs = _inputs(arrays, heads=6)
    Q = inputs["X_q"] @ inputs["W_Q"]
    K, V = inputs["X_kv"] @ inputs["W_K"], inputs["X_kv"] @ inputs["W_V"]
    expected = 0
    for e in range(6):
        weights = _softmax(Q[:, :, e : e + 1] * K[:, None, :, e])
        expected = expected + (weights @ V[:, :, e : e + 1]) * inputs["W_O"][e]
    expect_close(
        got=multi_head(*inputs.values()),
        expected=expected,
        slack=20,
        hint="how wide is a head, and what stands under the root?",
    )


def on_the_island():
    distance = np.linalg.norm(island.VALUES[0] - island.VALUES[2])
    return f"two heads on one card, names and places read by windows: sharp enough, they return {island.VALUES[0].tolist()} and {island.VALUES[2].tolist()}, {distance:.0f} km apart"
