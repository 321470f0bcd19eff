import numpy as np

from course_lib.checking import core, expect_close, expect_equal, expect_true, hidden

SAMPLES, SIZE = 500, 1_500


def _ends(variance_interval, x):
    got = variance_interval(x)
    expect_equal(got=np.shape(got), expected=(2,), hint="does your function return two numbers?")
    return float(got[0]), float(got[1])


def _covers(variance_interval, samples, variance, what, hint):
    # every other sample is cut short, so that both lengths must be served
    samples = [x if i % 2 else x[:-100] for i, x in enumerate(samples)]
    ends = np.array([_ends(variance_interval, x) for x in samples])
    covered = np.mean((ends[:, 0] <= variance) & (variance <= ends[:, 1]))
    expect_true(
        0.88 <= covered <= 0.985,
        evidence=f"of {len(samples)} intervals from {what}, {100 * covered:.1f} percent cover the true variance",
        hint=hint,
    )


@core
def test_covers_products_of_normals(variance_interval, arrays):
    r"""Of 500 intervals from products of two normal numbers about 95 percent cover the true variance 1

    Between 88 and 98.5 percent do; samples have 1,400 or 1,500 numbers.
    """
    samples = arrays.rounded(arrays.normal(SAMPLES, SIZE) * arrays.normal(SAMPLES, SIZE))
    hint = (
        "how widely do the squared deviations scatter here, compared with those of normal numbers?"
    )
    _covers(variance_interval, samples, 1.0, "products of normals", hint)


def test_centred_at_the_sample_variance(variance_interval, arrays):
    r"""The middle of the interval is the sample variance, divided by n or by n - 1

    $\frac12(\mathrm{low} + \mathrm{high}) = s^2$.
    """
    for size in (300, 700):
        x = arrays.rounded(3 + arrays.normal(size, scale=2))
        low, high = _ends(variance_interval, x)
        expect_close(
            got=(low + high) / 2,
            expected=np.var(x) * (1 + 0.5 / (size - 1)),
            slack=max(1.0, 0.7 / size / 1e-6) if arrays.setting.dtype == "float64" else 200,
            hint="how far are the two ends from the sample variance?",
        )


def test_scales_with_the_square(variance_interval, arrays):
    r"""Ten times larger numbers make both ends a hundred times larger

    $\mathrm{Var}[10\,x] = 100\,\mathrm{Var}[x]$, and its standard error likewise.
    """
    x = arrays.normal(1_000)
    small = _ends(variance_interval, x)
    large = _ends(variance_interval, arrays.rounded(10 * x))
    expect_close(
        got=np.array(large) / 100,
        expected=np.array(small),
        slack=10,
        hint="in which unit is your standard error, that of x or that of its square?",
    )


@hidden
def test_covers_other_laws(variance_interval, arrays):
    r"""It covers about 95 percent too for normal numbers of mean 10 and for uniform ones

    Between 88 and 98.5 percent of 500 intervals.
    """
    hint = "about which point do you take the squares and the fourth powers?"
    shifted = arrays.rounded(10 + arrays.normal(SAMPLES, SIZE))
    _covers(variance_interval, shifted, 1.0, "normal numbers of mean 10", hint)
    uniform = arrays.uniform(SAMPLES, SIZE)
    _covers(variance_interval, uniform, 1 / 12, "uniform numbers", hint)


@hidden
def test_four_times_the_data_half_the_width(variance_interval, arrays):
    r"""The same numbers, each four times, give half the width

    The standard error falls like $1/\sqrt n$.
    """
    x = arrays.normal(2_000)
    (low, high), (low4, high4) = (_ends(variance_interval, np.tile(x, times)) for times in (1, 4))
    expect_true(
        abs((high4 - low4) / (high - low) - 0.5) < 0.01,
        evidence=f"the width goes from {high - low:.4f} to {high4 - low4:.4f}",
        hint="how does the error of a mean depend on how many numbers it is the mean of?",
    )
