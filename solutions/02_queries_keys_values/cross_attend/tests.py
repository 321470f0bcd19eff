import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


def _inputs(arrays, n_q=3, n_k=5, d_a=7, d_b=6, d_k=2, d_v=4):
    return {
        "X_q": arrays.normal(n_q, d_a),
        "X_kv": arrays.normal(n_k, d_b),
        "W_Q": arrays.normal(d_a, d_k, scale=0.7),
        "W_K": arrays.normal(d_b, d_k, scale=0.7),
        "W_V": arrays.normal(d_b, d_v),
    }


@core
def test_written_out(cross_attend, arrays):
    r"""Weights and output are those of the mechanism written out with loops

    $A = \mathrm{softmax}(QK^\top/\sqrt{d_k})$ and $O = AV$.
    """
    hint = "which five arrays meet in which order, and what is divided by what?"
    for sizes in ({}, {"n_q": 5, "n_k": 2, "d_k": 3, "d_v": 2}):
        inputs = _inputs(arrays, **sizes)
        weights, output = cross_attend(*inputs.values())
        expected_weights, expected_output = arrays.oracle(*inputs.values())
        expect_close(got=weights, expected=expected_weights, slack=10, hint=hint)
        expect_close(got=output, expected=expected_output, slack=20, hint=hint)


def test_rows_sum_to_one(cross_attend, arrays):
    r"""Each row of weights sums to one

    $\sum_j A_{ij} = 1$: a row belongs to one question.
    """
    weights, _ = cross_attend(*_inputs(arrays).values())
    expect_close(
        got=np.sum(weights, axis=-1),
        expected=np.ones(3),
        hint="does anything happen to the weights after softmax?",
    )


def test_unread_features_change_nothing(cross_attend, arrays):
    r"""Features that the projections do not read change no weight

    A row of zeros in $W_Q$ and $W_K$ makes a feature invisible.
    """
    inputs = _inputs(arrays)
    expected, _ = arrays.oracle(*inputs.values())
    wider = inputs | {
        "X_q": np.concatenate([inputs["X_q"], arrays.normal(3, 9)], axis=1),
        "W_Q": np.concatenate([inputs["W_Q"], np.zeros((9, 2))]),
    }
    got, _ = cross_attend(*wider.values())
    expect_close(got=got, expected=expected, slack=10, hint="whose width goes under the root?")


def test_wider_values_change_no_weight(cross_attend, arrays):
    r"""Wider values change no weight

    $d_v$ enters only in the last product.
    """
    inputs = _inputs(arrays)
    expected, _ = arrays.oracle(*inputs.values())
    got, _ = cross_attend(*(inputs | {"W_V": arrays.normal(6, 11)}).values())
    expect_close(got=got, expected=expected, slack=10, hint="whose width goes under the root?")


@hidden
def test_a_new_key_keeps_the_ratio(cross_attend, arrays):
    r"""Adding a key leaves the ratio of two other weights as it was

    $A_{i1}/A_{i2} = e^{S_{i1} - S_{i2}}$, whatever else is there.
    """
    inputs = _inputs(arrays)
    few, _ = arrays.oracle(*inputs.values())
    more = inputs | {"X_kv": np.concatenate([inputs["X_kv"], arrays.normal(4, 6)])}
    got, _ = cross_attend(*more.values())
    expected = np.log(few[:, 0] / few[:, 1])
    expect_close(
        got=np.log(got[:, 0] / got[:, 1]),
        expected=expected,
        slack=100,
        hint="does the number of keys enter a score?",
    )


@hidden
def test_doubling_d_k_gives_root_two(cross_attend, arrays):
    r"""Writing query and key twice side by side multiplies differences of scores by the square root of 2

    $2\,q \cdot k/\sqrt{2 d_k} = \sqrt{2}\,q \cdot k/\sqrt{d_k}$.
    """
    inputs = _inputs(arrays)
    once, _ = arrays.oracle(*inputs.values())
    twice = inputs | {name: np.tile(inputs[name], (1, 2)) for name in ("W_Q", "W_K")}
    got, _ = cross_attend(*twice.values())
    expected = np.sqrt(2) * np.log(once[:, 0] / once[:, 1])
    expect_close(
        got=np.log(got[:, 0] / got[:, 1]),
        expected=expected,
        slack=100,
        hint="by which power of d_k are the scores divided?",
    )


def on_the_island():
    cards, read_key, read_value = island.cards(), np.eye(4)[:, :2], np.eye(4)[:, 2:]
    scores = (island.SHARPNESS * np.sqrt(2) * cards @ read_key) @ (cards @ read_key).T / np.sqrt(2)
    weights = np.exp(scores[0]) / np.exp(scores[0]).sum()
    return f"Ada's row: scores {scores[0].round(3)}, weights {weights.round(3)}, output {(weights @ cards @ read_value).round(3)}"
