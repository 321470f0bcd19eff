import math

from array_api_compat import array_namespace

from course_lib.checking import fails


def _logsumexp(x):
    """The right one, to be spoilt below."""
    xp = array_namespace(x)
    shift = _finite_maximum(x)
    return xp.log(xp.sum(xp.exp(x - shift), axis=-1)) + shift[..., 0]


def _finite_maximum(x):
    xp = array_namespace(x)
    largest = xp.max(x, axis=-1, keepdims=True)
    return xp.where(xp.isinf(largest), xp.zeros_like(largest), largest)


@fails("a_shift_passes_through")
def naive(x):
    """the formula typed as it stands"""
    xp = array_namespace(x)
    return xp.log(xp.sum(xp.exp(x), axis=-1))


@fails(
    "equal_scores_add_ln_n",
    "the_island_sum",
    "a_shift_passes_through",
    "its_slope_is_softmax",
    "nothing_visible_is_minus_infinity",
)
def only_the_maximum(x):
    """the maximum alone"""
    return array_namespace(x).max(x, axis=-1)


@fails(
    "a_shift_passes_through",
    "the_island_sum",
    "equal_scores_add_ln_n",
    "its_slope_is_softmax",
    "nothing_visible_is_minus_infinity",
)
def maximum_not_added_back(x):
    """the maximum subtracted and never added back"""
    xp = array_namespace(x)
    return xp.log(xp.sum(xp.exp(x - _finite_maximum(x)), axis=-1))


@fails("nothing_visible_is_minus_infinity")
def nan_for_nothing(x):
    """-inf minus -inf in a row that sees nothing"""
    xp = array_namespace(x)
    largest = xp.max(x, axis=-1, keepdims=True)
    return xp.log(xp.sum(xp.exp(x - largest), axis=-1)) + largest[..., 0]


@fails(
    "equal_scores_add_ln_n",
    "the_island_sum",
    "a_shift_passes_through",
    "nothing_visible_is_minus_infinity",
)
def log_of_the_mean(x):
    """the mean of the exponentials in place of their sum"""
    return _logsumexp(x) - math.log(x.shape[-1])


@fails("its_slope_is_softmax")
def computed_in_float32(x):
    """cast to float32 on the way"""
    xp = array_namespace(x)
    return xp.astype(_logsumexp(xp.astype(x, xp.float32)), x.dtype)


@fails(
    "the_island_sum",
    "equal_scores_add_ln_n",
    "a_shift_passes_through",
    "its_slope_is_softmax",
    "nothing_visible_is_minus_infinity",
)
def in_bits(x):
    """the logarithm to base 2"""
    return _logsumexp(x) / math.log(2)


@fails("the_island_sum")
def squeezed(x):
    """every axis of length one taken away, the rows' own axes too"""
    xp = array_namespace(x)
    sums = _logsumexp(x)
    return xp.reshape(sums, tuple(n for n in sums.shape if n > 1))


@fails("a_shift_passes_through")
def shifted_only_when_large(x):
    """the maximum subtracted only where it is beyond 999"""
    xp = array_namespace(x)
    largest = xp.max(x, axis=-1, keepdims=True)
    shift = xp.where(xp.abs(largest) > 999, _finite_maximum(x), xp.zeros_like(largest))
    return xp.log(xp.sum(xp.exp(x - shift), axis=-1)) + shift[..., 0]
