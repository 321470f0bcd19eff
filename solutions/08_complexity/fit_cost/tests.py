import numpy as np

from course_lib.checking import core, expect_close, expect_less, float64, hidden

LENGTHS = 2.0 ** np.arange(5, 13)
DATA_SETS = 60


def prices(arrays):
    """A price of a token and a price of a pair that meet among the lengths."""
    a = float(arrays.uniform(low=1e-6, high=4e-6))
    return a, a / float(arrays.uniform(low=200, high=600))


@core
@float64
def test_exact_data(fit_cost, arrays):
    r"""Times without error give both prices back, to nine digits

    $s_i = a n_i + b n_i^2$ exactly.
    """
    for lengths in (LENGTHS, LENGTHS[2:7] + 3):
        a, b = prices(arrays)
        found_a, found_b = fit_cost(lengths, a * lengths + b * lengths**2)
        hint = "which two numbers, multiplied with n and n squared, are asked for?"
        expect_close(got=found_a / a, expected=1.0, hint=hint, slack=1e-3)
        expect_close(got=found_b / b, expected=1.0, hint=hint, slack=1e-3)


@float64
def test_the_smallest_sum(fit_cost, arrays):
    r"""No other pair of prices has a smaller sum of squared relative errors

    At the smallest sum, moving $a$ or $b$ a little either way makes it larger.
    """
    for lengths in (LENGTHS, LENGTHS[1:6]):
        a, b = prices(arrays)
        noise = 1 + arrays.uniform(len(lengths), low=-0.2, high=0.2)
        seconds = (a * lengths + b * lengths**2) * noise
        found_a, found_b = fit_cost(lengths, seconds)
        left = (found_a * lengths + found_b * lengths**2 - seconds) / seconds
        slopes = [(left * lengths / seconds).sum() * a, (left * lengths**2 / seconds).sum() * b]
        expect_close(
            got=np.array(slopes),
            expected=np.zeros(2),
            hint="by what is each error divided before it is squared?",
        )


@float64
def test_units_pass_through(fit_cost, arrays):
    r"""The same times in other units give the same prices in those units

    $s \to c\,s$ gives $a \to c\,a$ and $b \to c\,b$.
    """
    a, b = prices(arrays)
    seconds = (a * LENGTHS + b * LENGTHS**2) * (1 + arrays.normal(len(LENGTHS), scale=0.05))
    plain = [float(price) for price in fit_cost(LENGTHS, seconds)]
    for unit in (2.0**-10, 2.0**10):
        other = fit_cost(LENGTHS, unit * seconds)
        for price, before in zip(other, plain, strict=True):
            hint = "which number in your formula carries a unit that the others do not have?"
            expect_close(got=price / (unit * before), expected=1.0, hint=hint)


@float64
def test_purely_quadratic(fit_cost, arrays):
    r"""Purely quadratic times have no price for a token

    Times of exactly $b\,n^2$ give $a = 0$.
    """
    _, b = prices(arrays)
    found_a, found_b = fit_cost(LENGTHS, b * LENGTHS**2)
    hint = "does every run take part in both prices?"
    expect_close(got=found_a / (b * LENGTHS[0]), expected=0.0, hint=hint)
    expect_close(got=found_b / b, expected=1.0, hint=hint)


@hidden
@float64
def test_small_sizes_count(fit_cost, arrays):
    r"""With errors of 5% the two prices come out within 5%, on average over many data sets

    Root mean square of the relative errors, over 60 data sets of eight lengths.
    """
    a, b = prices(arrays)
    found = []
    for _ in range(DATA_SETS):
        clean = a * LENGTHS + b * LENGTHS**2
        found.append(fit_cost(LENGTHS, clean * (1 + arrays.normal(len(LENGTHS), scale=0.05))))
    relative = np.array([[float(one) / a - 1, float(two) / b - 1] for one, two in found])
    expect_less(
        got=np.sqrt(np.mean(relative**2, axis=0)),
        than=np.full(2, 0.05),
        hint="which of the runs has most to say in your sum of squares?",
    )
