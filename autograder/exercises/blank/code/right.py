import numpy as np

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(x):
    """One row after the other, as plainly as can be; this one the tests believe."""

    def one_row(row):
        raise NotImplementedError("FILL: the answer for one row, in loops")

    return np.apply_along_axis(one_row, -1, x)


def another_way(x):
    """For NumPy and torch."""
    raise NotImplementedError("FILL: right as well, and written differently")
