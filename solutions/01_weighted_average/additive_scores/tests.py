import numpy as np

from course_lib.checking import core, expect_close, expect_true, hidden


def _inputs(arrays, n_q=3, n_k=5, d_q=2, d_k=7, d_a=4):
    return {
        "Q": arrays.normal(n_q, d_q),
        "K": arrays.normal(n_k, d_k),
        "W_Q": arrays.normal(d_q, d_a),
        "W_K": arrays.normal(d_k, d_a),
        "b": arrays.uniform(d_a, low=0.5, high=1.0),
        "v": arrays.normal(d_a),
    }


@core
def test_the_two_written_forms_agree(additive_scores, arrays):
    r"""The table holds v · tanh([q; k] W + b), computed for each pair by itself

    $s_{ij} = v \cdot \tanh(q_i W_Q + k_j W_K + b)$, one row for each query.
    """
    hint = "which axis belongs to the queries, which to the keys, and which is summed?"
    for sizes in ({}, {"n_q": 5, "n_k": 2, "d_a": 3}):
        inputs = _inputs(arrays, **sizes)
        expect_close(
            got=additive_scores(*inputs.values()),
            expected=arrays.oracle(*inputs.values()),
            slack=5,
            hint=hint,
        )


def test_scores_are_bounded(additive_scores, arrays):
    r"""No score exceeds the sum of the absolute values of v, however long query and key are

    $|s_{ij}| \le \sum_a |v_a|$, because $|\tanh| < 1$.
    """
    inputs = _inputs(arrays, d_q=5)
    signs = np.sign(inputs["v"])
    inputs["b"] = inputs["b"] * signs
    for tokens, W in (("Q", "W_Q"), ("K", "W_K")):  # long, and everything pulls the same way
        inputs[tokens] = arrays.rounded(
            np.repeat(100 * signs[None, :] @ np.linalg.pinv(inputs[W]), 3, axis=0)
        )
    got, bound = np.abs(additive_scores(*inputs.values())), np.abs(inputs["v"]).sum()
    expect_true(
        got <= bound * 1.0001,
        evidence=f"a score has size {np.max(got):.4g}, the bound is {bound:.4g}",
        hint="what keeps each number of the hidden layer between -1 and 1?",
    )


def test_the_bias_sits_inside(additive_scores, arrays):
    r"""A zero query and a zero key have the score v · tanh(b)

    $s(0, 0) = v \cdot \tanh(b)$: the bias is what keeps the score from being odd.
    """
    inputs = _inputs(arrays)
    inputs["Q"], inputs["K"] = np.zeros((3, 2)), np.zeros((5, 7))
    expected = np.full((3, 5), np.tanh(inputs["b"]) @ inputs["v"])
    expect_close(
        got=additive_scores(*inputs.values()),
        expected=expected,
        slack=5,
        hint="where is the bias added, before tanh or after it?",
    )


@hidden
def test_the_question_matters(additive_scores, arrays):
    r"""How far one key lies ahead of another depends on who asks

    $s_{1j} - s_{1l} \ne s_{2j} - s_{2l}$ in general; without the tanh they would be equal.
    """
    inputs = _inputs(arrays)
    expected = arrays.oracle(*inputs.values())
    got = additive_scores(*inputs.values())
    expect_close(
        got=got[:, 1:] - got[:, :-1],
        expected=expected[:, 1:] - expected[:, :-1],
        slack=10,
        hint="do query and key meet before the tanh or only after it?",
    )


def on_the_island():
    return f"a hidden layer of one unit, v = W_Q = W_K = 1, b = 0: query 1 and key 1 score {np.tanh(2):.4f}"
