import math

from array_api_compat import array_namespace

from course_lib.checking import fails


def _softmax(x):
    xp = array_namespace(x)
    exponentials = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return exponentials / xp.sum(exponentials, axis=-1, keepdims=True)


def _shared_by_the_largest(x):
    xp = array_namespace(x)
    largest = xp.astype(x == xp.max(x, axis=-1, keepdims=True), x.dtype)
    return largest / xp.sum(largest, axis=-1, keepdims=True)


def _with_ends(x, t, between):
    """The two ends as they should be, and something else between them."""
    if t == 0:
        return _shared_by_the_largest(x)
    if math.isinf(t):
        return _softmax(0 * x)
    return between(x)


def _below(x):
    return x - array_namespace(x).max(x, axis=-1, keepdims=True)


@fails("hotter_is_flatter", "ordinary_temperatures", "tiny_temperature_is_finite")
def multiplied_by_t(x, t):
    """scores multiplied by the temperature"""
    return _with_ends(x, t, lambda x: _softmax(x * t))


@fails("tiny_temperature_is_finite")
def divided_first(x, t):
    """divided first, the maximum subtracted afterwards"""
    return _with_ends(x, t, lambda x: _softmax(x / t))


@fails("zero_shares_among_the_largest")
def one_winner_at_zero(x, t):
    """a single winner at t = 0"""
    xp = array_namespace(x)
    if t == 0:
        places = xp.arange(x.shape[-1])
        return xp.astype(places == xp.argmax(x, axis=-1, keepdims=True), x.dtype)
    return _with_ends(x, t, lambda x: _softmax(_below(x) / t))


@fails("zero_shares_among_the_largest")
def no_case_for_zero(x, t):
    """no case of its own for t = 0"""
    xp = array_namespace(x)
    return _softmax(_below(x) / (xp.asarray(t, dtype=x.dtype) if t == 0 else t))


@fails("hotter_is_flatter", "ordinary_temperatures", "tiny_temperature_is_finite")
def weights_divided(x, t):
    """the weights divided by the temperature, not the scores"""

    def between(x):
        xp = array_namespace(x)
        divided = _softmax(x) / t
        return divided / xp.sum(divided, axis=-1, keepdims=True)

    return _with_ends(x, t, between)


@fails("infinity_is_uniform")
def zeros_at_infinity(x, t):
    """no weight for anybody at t = infinity"""
    return 0 * x if math.isinf(t) else _with_ends(x, t, lambda x: _softmax(_below(x) / t))


@fails("ordinary_temperatures", "tiny_temperature_is_finite")
def squared_temperature(x, t):
    """divided by the square of the temperature"""
    return _with_ends(x, t, lambda x: _softmax(_below(x) / t / t))


@fails("tiny_temperature_is_finite")
def limit_taken_early(x, t):
    """every temperature below a millionth treated as zero"""
    return _with_ends(x, 0 if t < 2e-6 else t, lambda x: _softmax(_below(x) / t))


@fails("tiny_temperature_is_finite")
def clamped_temperature(x, t):
    """the temperature clamped to a range"""
    clamped = min(max(t, 1e-4), 1e4)
    return _with_ends(x, t, lambda x: _softmax(_below(x) / clamped))
