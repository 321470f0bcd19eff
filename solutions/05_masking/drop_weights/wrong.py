from array_api_compat import array_namespace

from course_lib.checking import fails


def _zeroed(A, kept):
    xp = array_namespace(A)
    return xp.where(kept, A, xp.zeros_like(A))


@fails("survivors_do_not_notice_each_other", "the_expectation_is_exact")
def renormalised(A, kept, p):
    """rows divided by their sum after dropping"""
    xp = array_namespace(A)
    left = _zeroed(A, kept)
    total = xp.sum(left, axis=-1, keepdims=True)
    return left / xp.where(total == 0, xp.ones_like(total), total)


@fails("survivors_do_not_notice_each_other", "the_expectation_is_exact")
def scaled_by_the_number_kept(A, kept, p):
    """scaled by how many were kept, in place of how many are kept on average"""
    xp = array_namespace(A)
    count = xp.sum(xp.astype(kept, A.dtype), axis=-1, keepdims=True)
    return _zeroed(A, kept) * A.shape[-1] / xp.where(count == 0, xp.ones_like(count), count)


@fails("the_expectation_is_exact", "survivors_do_not_notice_each_other")
def not_rescaled(A, kept, p):
    """dropped and not rescaled"""
    return _zeroed(A, kept)


@fails("the_expectation_is_exact", "survivors_do_not_notice_each_other", "nothing_dropped")
def divided_by_p(A, kept, p):
    """divided by the rate of dropping, not of keeping"""
    return _zeroed(A, kept) / max(p, 1e-3)


@fails("the_expectation_is_exact", "survivors_do_not_notice_each_other")
def multiplied(A, kept, p):
    """multiplied by 1 - p in place of divided"""
    return _zeroed(A, kept) * (1 - p)


@fails("the_expectation_is_exact", "survivors_do_not_notice_each_other")
def unchanged(A, kept, p):
    """returned as it came"""
    return A + 0


@fails("the_expectation_is_exact", "survivors_do_not_notice_each_other", "nothing_dropped")
def pattern_inverted(A, kept, p):
    """the dropped ones kept"""
    return _zeroed(A, ~kept) / (1 - p)


@fails("the_input_is_unchanged")
def in_place(A, kept, p):
    """dropped inside the array that was handed over"""
    A[~kept] = 0
    A /= 1 - p
    return A
