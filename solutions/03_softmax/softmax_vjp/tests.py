import numpy as np

from course_lib.checking import core, expect_close, hidden

KEYS = 2_003


@core
def test_equals_jacobian_times_u(softmax_vjp, arrays):
    r"""The answer is the Jacobian times u, row by row

    $J^\top u$ with $J = \mathrm{diag}(p) - p\,p^\top$, for every row of a stack.
    """
    hint = "which of your sums runs over one row, and which over more?"
    for shape in ((2, 3, 5), (7,), (1, 4), (3, 1)):
        p, u = arrays.weights(*shape), arrays.normal(*shape)
        expect_close(got=softmax_vjp(p, u), expected=arrays.oracle(p, u), hint=hint)


def test_a_constant_gives_zero(softmax_vjp, arrays):
    r"""If u is the same for every key the answer is zero

    $J\,c\,(1, \ldots, 1)^\top = 0$.
    """
    p = arrays.weights(3, 5)
    u = np.repeat(arrays.normal(3, 1), 5, axis=-1)
    expect_close(
        got=softmax_vjp(p, u),
        expected=np.zeros((3, 5)),
        hint="what does a common shift of the scores move?",
    )


def test_the_result_sums_to_zero(softmax_vjp, arrays):
    r"""Each row of the answer sums to zero

    $\sum_i (J^\top u)_i = 0$: what one weight gains another loses.
    """
    got = softmax_vjp(arrays.weights(3, 7), arrays.normal(3, 7))
    expect_close(
        got=np.sum(got, axis=-1),
        expected=np.zeros(3),
        hint="which mean, plain or weighted, is taken away?",
    )


@hidden
def test_no_square_array(softmax_vjp, arrays):
    r"""For a row of 2,003 weights no array of 2,003 times 2,003 is made

    Memory grows like $n$, not like $n^2$.
    """
    p, u = arrays.weights(KEYS), arrays.normal(KEYS)
    hint = "which array of yours has two key axes?"
    got = softmax_vjp.within(40 * p.nbytes, hint=hint)(p, u)
    expect_close(got=KEYS * got, expected=KEYS * arrays.oracle(p, u), hint=hint)


def on_the_island():
    p, u = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8]), np.array([1.0, 9.0, 9.0, 1.0])
    return f"weights {p}, u = {u} (how far east each stands), weighted mean {p @ u:g}, first entry {p[0] * (u[0] - p @ u):g}"
