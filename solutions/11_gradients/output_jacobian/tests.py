import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden


def _inputs(arrays, n=5, d_k=3, d_v=2):
    return arrays.normal(d_k), arrays.normal(n, d_k), arrays.normal(n, d_v)


@core
def test_equals_the_derivative(output_jacobian, arrays):
    r"""Each column is how fast the answer moves when one entry of the query moves

    $J_{fe} = \partial o_f/\partial q_e$.
    """
    hint = "which weights move when one entry of the query moves, and by how much each?"
    for sizes in ({}, {"n": 7, "d_k": 2, "d_v": 5}):
        inputs = _inputs(arrays, **sizes)
        expect_close(
            got=output_jacobian(*inputs), expected=arrays.oracle(*inputs), slack=10, hint=hint
        )


def test_only_differences_count(output_jacobian, arrays):
    r"""Moving all keys by one vector, or all values, leaves every slope as it was

    $k_j \to k_j + a$ and $v_j \to v_j + b$ change no difference between keys or values.
    """
    q, K, V = _inputs(arrays)
    a, b = arrays.normal(3), 3 + arrays.uniform(2)
    hint = "if all values stood 3 kilometres further east, would the answer move faster?"
    moved = (q, K, arrays.rounded(V + b))
    expect_close(got=output_jacobian(*moved), expected=arrays.oracle(q, K, V), slack=50, hint=hint)
    moved = (q, arrays.rounded(K + a), V)
    expect_close(got=output_jacobian(*moved), expected=arrays.oracle(q, K, V), slack=50, hint=hint)


def test_a_certain_query_feels_nothing(output_jacobian, arrays):
    r"""If one key has all the weight, no slope is left

    $\alpha = (1, 0, \dots, 0)$ gives $\partial o/\partial q = 0$.
    """
    K, V = arrays.uniform(5, 3, low=-1.0), arrays.normal(5, 2)
    K[0] = 9.0
    expect_close(
        got=output_jacobian(np.full(3, 8.0), K, V),
        expected=np.zeros((2, 3)),
        hint="how much weight is there to move when one key has all of it?",
    )


def test_nothing_to_tell_apart(output_jacobian, arrays):
    r"""Equal values, or equal keys: the answer does not move

    $v_j = v$ for all $j$, or $k_j = k$ for all $j$, gives $\partial o/\partial q = 0$.
    """
    q, K, V = _inputs(arrays)
    same_value, same_key = (np.repeat(x[:1], 5, axis=0) for x in (V, K))
    hint = "if one weight grows, who pays, and what is lost with the payment?"
    zero = np.zeros((2, 3))
    expect_close(got=output_jacobian(q, K, same_value), expected=zero, slack=5, hint=hint)
    expect_close(got=output_jacobian(q, same_key, V), expected=zero, slack=5, hint=hint)


@hidden
def test_rows_are_outputs(output_jacobian, arrays):
    r"""Rows belong to numbers of the answer, columns to numbers of the query, also when there are as many

    A value feature that is the same for all keys has a row of zeros.
    """
    q, K, V = _inputs(arrays, n=7, d_k=3, d_v=3)
    V[:, 1] = 2.0
    expected = arrays.oracle(q, K, V)
    expected[1] = 0
    expect_close(
        got=output_jacobian(q, K, V),
        expected=expected,
        slack=10,
        hint="what moves along a row of your matrix, and what along a column?",
    )


def on_the_island():
    weights = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    centred = island.VALUES - weights @ island.VALUES
    return f"weights {weights}; the values seen from the answer {weights @ island.VALUES}: {centred.tolist()}; weighted, they sum to {weights @ centred}"
