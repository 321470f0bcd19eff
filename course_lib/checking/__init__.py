"""Checks that name the mistake, the same in notebook, page, grader and proof of an exercise.

A `tests.py` imports its checks and marks from here and from nowhere else. A student's bundle holds
all of this package.

What a test is made of
expect, marks       what it says about an answer; what an author writes above it
arrays, call        its inputs; the function under test, wherever that lives
terms, setting      what the exercise withholds and allows; library, dtype, device and seed
findings            what came out, as data

Where the student's function is: the kernel, the page, or a child of the grader (not trusted there)
perform             calls it once
returned, nested    what it gave, in NumPy; containers within one another
withheld, devices   library functions that refuse; what would break on a GPU
answers             an answer rebuilt from cells

Where tests are: the student's kernel, the page, the proof of an exercise, the grader (trusted)
verdicts, judge     one test; all tests of a folder
recordings, codec   what oracle and mistakes gave, kept in record.json
blocks              proofs that are built

What a student uses
examine             one answer among cells
notebook, page      check() in a notebook; the cells of a page
work, percent       a student's file; notebooks as plain Python
__main__            course.py
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
