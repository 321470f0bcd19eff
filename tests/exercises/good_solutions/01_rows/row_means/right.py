import math

import numpy as np

from course_lib.checking import only, oracle


@oracle
@only("numpy")
def with_loops(x):
    """Row by row, summed without rounding."""
    rows = x.reshape(-1, x.shape[-1])
    means = [math.fsum(row) / len(row) for row in rows]
    return np.array(means, dtype=x.dtype).reshape(x.shape[:-1])


def by_the_library(x):
    """The library's own mean, in NumPy and torch."""
    return x.mean(-1)
