import numpy as np

from course_lib.checking import core, expect_close, float64, hidden

KEYS = 2_003


@core
def test_equals_the_explicit_norm(jacobian_norm, arrays):
    r"""The answer is the norm of the matrix written out, row by row

    $\|\mathrm{diag}(p) - p\,p^\top\|_F$, for every row of a stack.
    """
    for shape in ((2, 3, 5), (7,)):
        p = arrays.weights(*shape)
        expect_close(
            got=jacobian_norm(p),
            expected=arrays.oracle(p),
            hint="which entries of the matrix does your sum contain, and how often?",
        )


def test_two_keys(jacobian_norm, arrays):
    r"""For two keys with weights p and 1 - p it is 2 p (1 - p)

    All four entries of $J$ are $\pm p(1 - p)$.
    """
    first = arrays.uniform(7, low=0.1, high=0.9)
    first = arrays.rounded(np.round(first * 64) / 64)
    p = np.stack([first, 1 - first], axis=-1)
    expect_close(
        got=jacobian_norm(p),
        expected=2 * first * (1 - first),
        hint="how many entries has the matrix of two weights, and how large is each?",
    )


def test_uniform_and_certain(jacobian_norm, arrays):
    r"""Equal weights over n keys give the root of n - 1 over n; a certain row gives 0

    $\sqrt{n - 1}/n$, and 0.
    """
    for n in (4, 16):
        expect_close(
            got=jacobian_norm(np.stack([np.full(n, 1 / n), np.eye(n)[2]])),
            expected=[np.sqrt(n - 1) / n, 0],
            hint="is it the norm you compute, or the trace?",
        )


@float64
def test_nearly_certain_rows_keep_their_digits(jacobian_norm, arrays):
    r"""Where one weight is nearly 1, in any place, the answer still has six right digits

    For $(1 - 3\cdot 10^{-9}, 10^{-9}, 2\cdot 10^{-9})$ it is about $4.36 \cdot 10^{-9}$.
    """
    row = np.array([1 - 3e-9, 1e-9, 2e-9])
    for places in ([0, 1, 2], [1, 0, 2], [2, 1, 0]):
        p = row[places]
        expect_close(
            got=jacobian_norm(p) / arrays.oracle(p),
            expected=1.0,
            hint="which two nearly equal numbers does your formula subtract?",
        )


@hidden
def test_no_square_array(jacobian_norm, arrays):
    r"""For a row of 2,003 weights no array of 2,003 times 2,003 is made

    Memory grows like $n$, not like $n^2$.
    """
    p = arrays.weights(KEYS) / 2
    p[[3, KEYS - 5]] += 1 / 4
    p = arrays.rounded(p)
    squares = p**2
    expected = np.sqrt((squares * (1 - p) ** 2).sum() + squares.sum() ** 2 - (squares**2).sum())
    hint = "which array of yours has two key axes?"
    got = jacobian_norm.within(40 * p.nbytes, hint=hint)(p)
    expect_close(got=got / expected, expected=1.0, slack=5, hint=hint)


def on_the_island():
    p = np.array([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    J = np.diag(p) - np.outer(p, p)
    return f"64 J is {np.round(64 * J).astype(int).tolist()}; the root of the sum of all squares, over 64, is {np.sqrt((J**2).sum()):.4f}"
