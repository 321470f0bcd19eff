import numpy as np

from course_lib.checking import core, expect_close, hidden


@core
def test_ordinary_numbers(the_function, arrays):
    r"""FILL: the property in one sentence, as a student will read it"""
    for shape in ((2, 3, 5), (3, 7)):  # twice, or a constant would pass
        x = arrays.normal(*shape)
        expect_close(got=the_function(x), expected=arrays.oracle(x), hint="FILL: a question?")


def test_a_case_known_by_heart(the_function, arrays):
    r"""FILL: a case whose answer is known without computing"""
    x = np.ones((3, 5))
    known = np.ones((3, 5))  # FILL: that answer
    expect_close(got=the_function(x), expected=known, hint="FILL: a question?")


@hidden
def test_numbers_that_only_the_grader_has(the_function, arrays):
    r"""FILL: what else must hold; the sentence is shown, its numbers are not"""
    x = arrays.normal(3, 7, scale=100)
    expect_close(got=the_function(x), expected=arrays.oracle(x), hint="FILL: a question?")
