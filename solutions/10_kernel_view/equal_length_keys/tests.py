import numpy as np

from course_lib.checking import core, expect_close, expect_equal, hidden

SIZES = ((3, 5, 4), (2, 7, 3))


def _rows(arrays, n_q, n_k, d):
    """Queries, and keys whose lengths differ by construction."""
    K = arrays.normal(n_k, d)
    K = K / np.linalg.norm(K, axis=1, keepdims=True) * np.linspace(0.5, 2, n_k)[:, None]
    return arrays.normal(n_q, d), arrays.rounded(K)


def _softmax(scores):
    loud = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return loud / loud.sum(axis=-1, keepdims=True)


@core
def test_gaussian_equals_dot_product(equal_length_keys, arrays):
    r"""The scalar products are kept, and Gaussian weights of the new rows are the dot-product weights of the old

    $Q' K'^\top = Q K^\top$ and $\mathrm{softmax}_j(-|q'_i - k'_j|^2/(2\sqrt d)) = \mathrm{softmax}_j(q_i \cdot k_j/\sqrt d)$.
    """
    hint = "what must the new coordinate of a query be, if that of a key is not zero?"
    for n_q, n_k, d in SIZES:
        Q, K = _rows(arrays, n_q, n_k, d)
        Q2, K2 = equal_length_keys(Q, K)
        expect_equal(
            got=(np.shape(Q2), np.shape(K2)),
            expected=((n_q, d + 1), (n_k, d + 1)),
            hint="how many coordinates does each new row have?",
        )
        expect_close(got=Q2 @ K2.T, expected=Q @ K.T, hint=hint)
        squared = ((Q2[:, None, :] - K2) ** 2).sum(axis=-1)
        expect_close(
            got=_softmax(-squared / (2 * np.sqrt(d))),
            expected=_softmax(Q @ K.T / np.sqrt(d)),
            hint="which term of the expanded square still depends on the key?",
            slack=5,
        )


def test_all_keys_have_one_length(equal_length_keys, arrays):
    r"""All new keys have one length

    $|k'_1| = \dots = |k'_n|$.
    """
    for n_q, n_k, d in SIZES:
        _, K2 = equal_length_keys(*_rows(arrays, n_q, n_k, d))
        lengths = np.linalg.norm(K2, axis=-1)
        expect_close(
            got=lengths,
            expected=np.full(n_k, np.nanmax(lengths)),
            hint="how much is missing to the longest key, and is it a length or its square?",
        )


def test_old_coordinates_are_kept(equal_length_keys, arrays):
    r"""The old coordinates stand in front, unchanged

    $q' = (q, \cdot)$ and $k' = (k, \cdot)$.
    """
    for n_q, n_k, d in SIZES:
        Q, K = _rows(arrays, n_q, n_k, d)
        Q2, K2 = equal_length_keys(Q, K)
        hint = "which coordinates may you write to?"
        expect_close(got=Q2[:, :d], expected=Q, hint=hint)
        expect_close(got=K2[:, :d], expected=K, hint=hint)


@hidden
def test_nothing_to_lengthen(equal_length_keys, arrays):
    r"""A single key, and keys that have one length already, are served too

    All products and lengths are finite and as they should be.
    """
    hint = "what is missing when nothing is missing?"
    for Q, K in (
        (arrays.normal(3, 4), arrays.normal(1, 4)),
        (arrays.normal(2, 2), np.array([[3.0, 4.0], [-4.0, 3.0], [5.0, 0.0]])),
    ):
        Q2, K2 = equal_length_keys(Q, K)
        expect_close(got=Q2 @ K2.T, expected=Q @ K.T, hint=hint)
        lengths = np.linalg.norm(K2, axis=-1)
        expect_close(got=lengths, expected=np.full(len(K), np.nanmax(lengths)), hint=hint)


def on_the_island():
    lengths = np.array([1.0, 3.0, 1.0, 1.0])
    missing = np.sqrt(lengths.max() ** 2 - lengths**2)
    return f"Bo three times as loud: the keys have lengths {lengths}, the new coordinates are {missing.round(4)}, the new lengths {np.hypot(lengths, missing).round(4)}"
