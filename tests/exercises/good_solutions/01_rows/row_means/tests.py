import numpy as np

from course_lib.checking import core, expect_close, hidden


@core
def test_means_of_a_matrix(row_means, arrays):
    r"""Each row of a matrix gives its mean"""
    hint = "what is divided by what?"
    for shape in ((3, 5), (2, 7)):
        x = arrays.normal(*shape)
        expect_close(got=row_means(x), expected=arrays.oracle(x), hint=hint)


def test_equal_entries(row_means, arrays):
    r"""A row of equal entries has this entry as its mean"""
    c = arrays.normal(3, 1)
    got = row_means(np.repeat(c, 7, axis=-1))
    expect_close(got=got, expected=c[:, 0], hint="how many entries are there?")


@hidden
def test_a_stack_of_matrices(row_means, arrays):
    r"""Each row of each matrix in a stack gives its mean"""
    x = arrays.normal(2, 3, 5)
    expect_close(got=row_means(x), expected=arrays.oracle(x), hint="which axis is the last?")
