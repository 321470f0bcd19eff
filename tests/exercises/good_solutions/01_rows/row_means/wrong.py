from course_lib.checking import fails


@fails("means_of_a_matrix", "equal_entries", "a_stack_of_matrices")
def sum_only(x):
    """the sum, not divided"""
    return x.sum(-1)


@fails("equal_entries", "means_of_a_matrix", "a_stack_of_matrices")
def one_too_few(x):
    """divided by one less than the number of entries"""
    return x.sum(-1) / (x.shape[-1] - 1)


@fails("a_stack_of_matrices")
def second_axis(x):
    """axis 1, whatever the rank"""
    return x.mean(1)
