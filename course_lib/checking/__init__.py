"""Checks that name the mistake, the same in notebook, page, grader and proof of an exercise.

A `tests.py` imports its checks and marks from here and from nowhere else.
"""

from course_lib.checking.expect import (
    expect_close,
    expect_dtype,
    expect_equal,
    expect_less,
    expect_true,
    expect_unchanged,
)
from course_lib.checking.marks import core, fails, float64, hidden, only, oracle

__all__ = [
    "core",
    "expect_close",
    "expect_dtype",
    "expect_equal",
    "expect_less",
    "expect_true",
    "expect_unchanged",
    "fails",
    "float64",
    "hidden",
    "only",
    "oracle",
]
