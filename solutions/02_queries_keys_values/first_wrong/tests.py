import numpy as np

from course_lib.checking import core, expect_equal, float64, hidden
from course_lib.worked_examples import DOG_ATE_DINNER

TABLES = ("Q", "K", "V", "scores", "scaled", "weights", "output")


def _page(arrays, decimals=2):
    """A small page with one-decimal inputs and correctly rounded tables."""
    n, d_model, d_k, d_v = 3, 4, 2, 3
    return _printed(
        {
            "X": arrays.integers(n, d_model, low=-9, high=10) / 10,
            "W_Q": arrays.integers(d_model, d_k, low=-19, high=20) / 10,
            "W_K": arrays.integers(d_model, d_k, low=-19, high=20) / 10,
            "W_V": arrays.integers(d_model, d_v, low=-19, high=20) / 10,
        },
        decimals,
    )


def _printed(page, decimals):
    """The inputs of a page with all its tables, rounded correctly, halves up."""
    Q, K, V = page["X"] @ page["W_Q"], page["X"] @ page["W_K"], page["X"] @ page["W_V"]
    scores = Q @ K.T
    scaled = scores / np.sqrt(Q.shape[-1])
    loudness = np.exp(scaled)
    weights = loudness / loudness.sum(axis=-1, keepdims=True)
    exact = dict(zip(TABLES, (Q, K, V, scores, scaled, weights, weights @ V), strict=True))
    return page | {
        name: np.floor(table * 10**decimals + 0.5 + 1e-9) / 10**decimals
        for name, table in exact.items()
    }


def _spoilt(page, table, by, where=(1, 1)):
    spoilt = page | {table: page[table].copy()}
    spoilt[table][where] += by
    return spoilt


@core
@float64
def test_a_rounded_page_is_right(first_wrong, arrays):
    r"""A page that is rounded correctly has no wrong table, and a page with a large error has one

    Every printed entry lies within half a unit of the last place.
    """
    for _ in range(20):
        expect_equal(
            got=first_wrong(_page(arrays), 2),
            expected=None,
            hint="from which numbers do you recompute a table?",
        )
    inputs = {name: getattr(DOG_ATE_DINNER, name) for name in ("X", "W_Q", "W_K", "W_V")}
    expect_equal(
        got=first_wrong(_printed(inputs, 2), 2),  # its score 1.355 is printed as 1.36
        expected=None,
        hint="how far does a half move when it is rounded?",
    )
    for table in ("scores", "K", "output"):
        got = first_wrong(_spoilt(_page(arrays), table, 1.0), 2)
        expect_equal(got=got, expected=table, hint="against what is each table compared?")


@float64
def test_each_table_is_checked(first_wrong, arrays):
    r"""One entry changed by 0.04, up or down, and its table is named, whichever it is

    $0.04$ is eight times what rounding to two decimals can do.
    """
    for table in TABLES:
        for by in (0.04, -0.04):
            got = first_wrong(_spoilt(_page(arrays), table, by), 2)
            expect_equal(
                got=got,
                expected=table,
                hint="does a number that is too small count as much as one too large?",
            )


@float64
def test_row_sums_prove_nothing(first_wrong, arrays):
    r"""Weights can be wrong although their rows still sum to one

    Moving 0.05 from one key to another leaves $\sum_j A_{ij} = 1$.
    """
    hint = "what besides the sums is known about the weights?"
    for _ in range(10):
        page = _spoilt(_spoilt(_page(arrays), "weights", 0.05, (0, 0)), "weights", -0.05, (0, 1))
        expect_equal(got=first_wrong(page, 2), expected="weights", hint=hint)


@hidden
@float64
def test_one_unit_counts(first_wrong, arrays):
    r"""One unit in the last place counts, up and down, for 2 and for 4 decimals

    Rounding moves a number by half a unit at most.
    """
    for decimals in (2, 4):
        for by in (1, -1):
            page = _spoilt(_page(arrays, decimals), "K", by * 10.0**-decimals)
            expect_equal(
                got=first_wrong(page, decimals),
                expected="K",
                hint="how far can rounding to this many decimals move a number?",
            )


@hidden
@float64
def test_the_first_is_named(first_wrong, arrays):
    r"""Of two wrong tables the first in the order of the computation is named

    $Q, K, V, S, S/\sqrt{d_k}, A, O$.
    """
    page = _spoilt(_spoilt(_page(arrays), "weights", 0.1), "V", 0.1)
    expect_equal(got=first_wrong(page, 2), expected="V", hint="in which order do you look?")
