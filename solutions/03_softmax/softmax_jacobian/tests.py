import numpy as np

from course_lib.checking import core, expect_close, float64, hidden


@core
def test_the_island_matrix(softmax_jacobian, arrays):
    r"""At the island's weights 64 times the Jacobian is a matrix of whole numbers, the one on the page

    $J = \mathrm{diag}(p) - p\,p^\top$, there and at other weights.
    """
    hint = "which entries feel only their own weight, and which feel two?"
    got = softmax_jacobian(np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8]))
    island = [[16, -8, -4, -4], [-8, 12, -2, -2], [-4, -2, 7, -1], [-4, -2, -1, 7]]
    expect_close(got=64 * np.asarray(got), expected=island, hint=hint)
    p = arrays.weights(5)
    expect_close(got=softmax_jacobian(p), expected=arrays.oracle(p), hint=hint)


def test_a_shift_moves_nothing(softmax_jacobian, arrays):
    r"""Every row of the Jacobian sums to zero: a common shift of the scores moves no weight

    $J\,(1, \ldots, 1)^\top = 0$.
    """
    got = softmax_jacobian(arrays.weights(7))
    expect_close(
        got=np.sum(got, axis=-1), expected=np.zeros(7), hint="if one weight grows, who pays?"
    )


def test_symmetric(softmax_jacobian, arrays):
    r"""Score j moves weight i as much as score i moves weight j

    $J = J^\top$.
    """
    got = softmax_jacobian(arrays.weights(5))
    expect_close(
        got=got, expected=np.swapaxes(got, -1, -2), hint="which index belongs to which factor?"
    )


@float64
def test_equals_finite_differences(softmax_jacobian, arrays):
    r"""The Jacobian is what central differences of softmax give

    $J_{ij} \approx \big(p_i(x + h e_j) - p_i(x - h e_j)\big) / 2h$.
    """
    p, step = arrays.weights(5), 1e-4
    moved = p * np.exp(step * np.eye(5)), p * np.exp(-step * np.eye(5))
    up, down = (row / row.sum(axis=-1, keepdims=True) for row in moved)
    slopes = ((up - down) / (2 * step)).T
    expect_close(
        got=softmax_jacobian(p),
        expected=slopes,
        slack=0.01,
        hint="which sign has the effect of another's score?",
    )


@hidden
def test_one_matrix_per_row(softmax_jacobian, arrays):
    r"""A stack of rows gives the stack of their matrices

    $J_{b} = \mathrm{diag}(p_b) - p_b\,p_b^\top$ for every row $b$.
    """
    hint = "how many rows does one matrix see?"
    for shape in ((2, 3, 5), (1, 4, 1), (1, 3)):
        p = arrays.weights(*shape)
        rows = [arrays.oracle(row) for row in p.reshape(-1, shape[-1])]
        expected = np.reshape(rows, (*shape, shape[-1]))
        expect_close(got=softmax_jacobian(p), expected=expected, hint=hint)
    certain = np.tile(np.eye(5)[2], (2, 1))  # a weight of one, and weights of exactly zero
    expect_close(got=softmax_jacobian(certain), expected=np.zeros((2, 5, 5)), hint=hint)


def on_the_island():
    p = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    own, others = p[0] - p[0] ** 2, -p[0] * p[1]
    return f"weights {p}: Ada's weight moves by {own:g} for each unit of her own score and by {others:g} for each of Bo's"
