import numpy as np

from course_lib import island
from course_lib.checking import core, expect_close, hidden

NAMES = ("dX", "dW_Q", "dW_K", "dW_V")


def _inputs(arrays, n=5, d_model=7, d_k=3, d_v=2):
    return {
        "X": arrays.normal(n, d_model),
        "W_Q": arrays.normal(d_model, d_k),
        "W_K": arrays.normal(d_model, d_k),
        "W_V": arrays.normal(d_model, d_v),
        "dQ": arrays.normal(n, d_k),
        "dK": arrays.normal(n, d_k),
        "dV": arrays.normal(n, d_v),
    }


@core
def test_equals_the_derivative(projection_grads, arrays):
    r"""All four arrays are the derivatives of the loss, taken entry by entry

    $dX = \partial L/\partial X$ and $dW = \partial L/\partial W$ for
    $L = \langle dQ, XW_Q\rangle + \langle dK, XW_K\rangle + \langle dV, XW_V\rangle$.
    """
    hint = "which entries of Q, K and V move when one entry of this array moves?"
    for sizes in ({}, {"n": 2, "d_model": 3, "d_k": 5, "d_v": 7}):
        inputs = _inputs(arrays, **sizes).values()
        for got, expected in zip(projection_grads(*inputs), arrays.oracle(*inputs), strict=True):
            expect_close(got=got, expected=expected, slack=10, hint=hint)


def test_each_path_reaches_the_input(projection_grads, arrays):
    r"""With two of the three paths silent, the third alone arrives at the tokens

    $dX = dQ\,W_Q^\top$ if $dK = 0$ and $dV = 0$, and so for the other two.
    """
    for alone in ("dQ", "dK", "dV"):
        inputs = _inputs(arrays)
        for path in {"dQ", "dK", "dV"} - {alone}:
            inputs[path] = np.zeros_like(inputs[path])
        expected, *_ = arrays.oracle(*inputs.values())
        dX, *_ = projection_grads(*inputs.values())
        expect_close(
            got=dX,
            expected=expected,
            slack=10,
            hint="through which arrays does a token reach the loss, and through which matrix each?",
        )


def test_weight_gradients_keep_to_their_path(projection_grads, arrays):
    r"""The gradient of each matrix has its shape and hears only its own path

    $dW_Q = X^\top dQ$ does not change with $dK$ and $dV$.
    """
    inputs = _inputs(arrays)
    _, *expected = arrays.oracle(*inputs.values())
    for place, path in enumerate(("dQ", "dK", "dV")):
        others = {"dQ", "dK", "dV"} - {path}
        elsewhere = inputs | {name: arrays.normal(*inputs[name].shape) for name in others}
        expect_close(
            got=projection_grads(*elsewhere.values())[place + 1],
            expected=expected[place],
            slack=10,
            hint="which shape has this matrix, and which products of X with a gradient have it too?",
        )


@hidden
def test_gradients_add_over_tokens(projection_grads, arrays):
    r"""Every token written twice: the gradients of the matrices double, those of the tokens stay

    $dW = \sum_i x_i\, dQ_i^\top$ is a sum over tokens, $dX_i$ belongs to one.
    """
    inputs = _inputs(arrays)
    dX, *dW = arrays.oracle(*inputs.values())
    twice = inputs | {name: np.concatenate([inputs[name]] * 2) for name in ("X", "dQ", "dK", "dV")}
    got_X, *got_W = projection_grads(*twice.values())
    hint = "what does a second copy of a token add to the loss?"
    expect_close(got=got_X, expected=np.concatenate([dX, dX]), slack=10, hint=hint)
    for got, expected in zip(got_W, dW, strict=True):
        expect_close(got=got, expected=2 * expected, slack=20, hint=hint)


def on_the_island():
    cards, read_value, u = island.cards(), np.eye(4)[:, 2:], np.array([3.0, 1.5])
    dV = np.outer([1 / 2, 1 / 4, 1 / 8, 1 / 8], u)
    return f"only the value path speaks: Ada's card gets {(dV @ read_value.T)[0]}, and W_V gets the rows {(cards.T @ dV).round(3).tolist()}"
