import numpy as np

from course_lib.checking import fails, only


@fails("small_sizes_count", "the_smallest_sum")
@only("numpy")
def unweighted(n, seconds):
    """plain least squares: the longest run decides alone"""
    a, b = np.linalg.lstsq(np.stack([n, n**2], axis=1), seconds)[0]
    return a, b


@fails(
    "exact_data", "the_smallest_sum", "units_pass_through", "purely_quadratic", "small_sizes_count"
)
@only("numpy")
def slope_of_the_logs(n, seconds):
    """the slope of the log-log line taken for a price"""
    slope, height = np.polyfit(np.log(n), np.log(seconds), 1)
    return np.exp(height), slope


@fails("small_sizes_count", "the_smallest_sum")
@only("numpy")
def with_a_constant(n, seconds):
    """a free constant besides the two prices"""
    rows = np.stack([n, n**2, np.ones_like(n)], axis=1) / seconds[:, None]
    a, b, _ = np.linalg.lstsq(rows, np.ones_like(n))[0]
    return a, b


@fails("exact_data", "the_smallest_sum", "purely_quadratic", "small_sizes_count")
@only("numpy")
def exchanged(n, seconds):
    """the two prices in the wrong order"""
    a, b = np.linalg.lstsq(np.stack([n, n**2], axis=1) / seconds[:, None], np.ones_like(n))[0]
    return b, a


@fails("purely_quadratic", "exact_data", "the_smallest_sum", "small_sizes_count")
@only("numpy")
def one_run_each(n, seconds):
    """one price from the shortest run, the other from the longest"""
    return seconds[0] / n[0], seconds[-1] / n[-1] ** 2


@fails("units_pass_through", "the_smallest_sum", "small_sizes_count")
@only("numpy")
def weights_with_a_unit(n, seconds):
    """weights 1 / (1 + s), which depend on the unit of time"""
    weights = 1 / (1 + seconds)
    rows = np.stack([n, n**2], axis=1) * weights[:, None]
    a, b = np.linalg.lstsq(rows, seconds * weights)[0]
    return a, b


@fails("the_smallest_sum", "small_sizes_count")
@only("numpy")
def half_weighted(n, seconds):
    """divided by the root of the time"""
    weights = seconds**-0.5
    rows = np.stack([n, n**2], axis=1) * weights[:, None]
    a, b = np.linalg.lstsq(rows, seconds * weights)[0]
    return a, b
