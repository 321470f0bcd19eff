from course_lib.checking import fails


@fails("ordinary_numbers", "a_case_known_by_heart", "numbers_that_only_the_grader_has")
def name_of_the_mistake(x):
    """FILL: the mistake, in a few words"""
    raise NotImplementedError("FILL: what one types who makes it")
