import numpy as np

from course_lib.checking import core, expect_equal, expect_true, hidden


def _expect_witness(z, G, hint):
    expect_true(z is not None, evidence="the answer is None, but some z has z^T G z < 0", hint=hint)
    expect_equal(got=np.shape(z), expected=(len(G),), hint="how many entries has z?")
    value = z @ G @ z
    bound = -1e-5 * np.abs(G).max() * (z @ z)
    expect_true(
        value < bound, evidence=f"z^T G z is {value:.4g} for the z that came back", hint=hint
    )


def _expect_none(z, G, hint):
    value = "" if z is None or np.shape(z) != (len(G),) else f", and has z^T G z = {z @ G @ z:.4g}"
    expect_true(
        z is None,
        evidence=f"a vector came back{value}; expected None, since no z is below zero by more than rounding",
        hint=hint,
    )


def _rotated(arrays, eigenvalues):
    """A symmetric matrix that has these eigenvalues."""
    basis, _ = np.linalg.qr(arrays.normal(len(eigenvalues), len(eigenvalues)))
    G = basis @ np.diag(eigenvalues) @ basis.T
    return arrays.rounded((G + G.T) / 2)


@core
def test_the_plus_minus_one_example(negative_witness, arrays):
    r"""exp(-xy) between +1 and -1 has a witness, also with a third point; exp(xy) and tables of scalar products have none

    $z^\top G z$ for $G_{ij} = e^{\mp x_i x_j}$ and for $G = BB^\top$.
    """
    hint = "which signs in z make large entries count negatively?"
    for points in ([1.0, -1.0], [1.0, -1.0, 0.5]):
        products = np.outer(points, points)
        G = arrays.rounded(np.exp(-products))
        _expect_witness(negative_witness(G), G, hint)
        G = arrays.rounded(np.exp(products))
        _expect_none(negative_witness(G), G, hint)
    B = arrays.normal(4, 6)
    G = arrays.rounded(B @ B.T)
    _expect_none(negative_witness(G), G, hint)


def test_an_even_number_of_negatives(negative_witness, arrays):
    r"""Two negative eigenvalues make the determinant positive, and yet there is a witness

    $\det G > 0$ says nothing about $z^\top G z$.
    """
    G = _rotated(arrays, [-1.0, -2.0, 3.0, 4.0, 5.0])
    _expect_witness(negative_witness(G), G, "how many signs can a product of eigenvalues show?")


def test_positive_entries_do_not_help(negative_witness, arrays):
    r"""A table of positive numbers can have a witness, and one with negative numbers none

    $\begin{pmatrix} 1 & 3 \\ 3 & 1 \end{pmatrix}$ has $z = (1, -1)$.
    """
    hint = "of which sum are the entries only the terms?"
    for n in (2, 5):
        G = arrays.rounded(3 - 2 * np.eye(n) + 0.1 * arrays.uniform(n, 1) * arrays.uniform(1, n))
        _expect_witness(negative_witness(G), G, hint)
    G = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    _expect_none(negative_witness(G), G, hint)


@hidden
def test_rounding_is_no_witness(negative_witness, arrays):
    r"""Tables of scalar products of few features, times 10^8, have no witness: what is below zero there is rounding; a hundredth less on the diagonal, and they have one

    $G = 10^8 BB^\top$ with $B$ of size $7 \times 2$ has five eigenvalues of zero, $G - 10^{-2} g I$ has five below.
    """
    hint = "how large is the rounding error of an entry of this size?"
    for _ in range(5):
        B = arrays.normal(7, 2)
        B[:3, 0], B[3:, 1] = 0, 0
        G = arrays.rounded(1e8 * (B @ B.T))
        _expect_none(negative_witness(G), G, hint)
    lowered = arrays.rounded(G - 0.01 * np.abs(G).max() * np.eye(7))
    _expect_witness(negative_witness(lowered), lowered, hint)
    _expect_none(negative_witness(np.zeros((3, 3))), np.zeros((3, 3)), hint)


@hidden
def test_small_matrices_count(negative_witness, arrays):
    r"""A negative value counts, however small, if the whole table is that small

    $10^{-12} G$ has the witnesses of $G$.
    """
    G = arrays.rounded(1e-12 * _rotated(arrays, [-1.0, 2.0, 3.0, 4.0]))
    _expect_witness(negative_witness(G), G, "small compared with what?")


@hidden
def test_unsymmetric_matrices(negative_witness, arrays):
    r"""What is skew in G counts for nothing, whichever triangle it enlarges

    $z^\top G z = \tfrac12 z^\top (G + G^\top) z$.
    """
    hint = "what do the entries (i, j) and (j, i) add up to in the sum?"
    for sign in (1, -1):
        skew = 3 * sign * (np.triu(np.ones((4, 4))) - np.tril(np.ones((4, 4))))
        G = arrays.rounded(_rotated(arrays, [1.0, 2.0, 3.0, 4.0]) + skew)
        _expect_none(negative_witness(G), G, hint)
        G = arrays.rounded(_rotated(arrays, [-1.0, 2.0, 3.0, 4.0]) + skew)
        _expect_witness(negative_witness(G), G, hint)


def on_the_island():
    facing = np.radians([0.0, 180.0])
    G = np.exp(-np.cos(facing[:, None] - facing))
    return f"two hands turned by 180 degrees, keys at 0 and 180: table {G.round(3).tolist()}; z = (1, 1) gives {G.sum():.3f}, z = (1, 0) gives {G[0, 0]:.3f}"
