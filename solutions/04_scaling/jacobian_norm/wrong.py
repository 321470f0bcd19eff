from array_api_compat import array_namespace

from course_lib.checking import fails


@fails(
    "two_keys",
    "equals_the_explicit_norm",
    "uniform_and_certain",
    "nearly_certain_rows_keep_their_digits",
    "no_square_array",
)
def diagonal_only(p):
    """the diagonal entries only"""
    return array_namespace(p).sum((p * (1 - p)) ** 2, axis=-1) ** 0.5


@fails("nearly_certain_rows_keep_their_digits")
def power_sums(p):
    """the square multiplied out: three sums that cancel to noise"""
    xp = array_namespace(p)
    squares = xp.sum(p**2, axis=-1)
    return xp.sqrt(xp.abs(squares - 2 * xp.sum(p**3, axis=-1) + squares**2))


@fails(
    "uniform_and_certain",
    "equals_the_explicit_norm",
    "nearly_certain_rows_keep_their_digits",
    "no_square_array",
)
def trace_for_norm(p):
    """the trace, which agrees for two keys only"""
    return array_namespace(p).sum(p * (1 - p), axis=-1)


@fails(
    "two_keys",
    "equals_the_explicit_norm",
    "uniform_and_certain",
    "nearly_certain_rows_keep_their_digits",
    "no_square_array",
)
def root_forgotten(p):
    """the root forgotten"""
    xp = array_namespace(p)
    squares = p**2
    before = xp.cumulative_sum(squares, axis=-1) - squares
    return xp.sum(squares * (1 - p) ** 2 + 2 * squares * before, axis=-1)


@fails("no_square_array")
def matrix_formed(p):
    """the matrix formed first"""
    xp = array_namespace(p)
    beside = p[..., :, None] * p[..., None, :]
    apart = xp.eye(p.shape[-1], dtype=p.dtype)
    J = apart * (p * (1 - p))[..., None, :] - (1 - apart) * beside
    return xp.sum(J**2, axis=(-2, -1)) ** 0.5


@fails(
    "equals_the_explicit_norm",
    "two_keys",
    "uniform_and_certain",
    "nearly_certain_rows_keep_their_digits",
    "no_square_array",
)
def each_pair_once(p):
    """each pair of keys counted once, where the matrix holds it twice"""
    xp = array_namespace(p)
    squares = p**2
    before = xp.cumulative_sum(squares, axis=-1)[..., :-1]
    beside = xp.sum(squares[..., 1:] * before, axis=-1)
    return (xp.sum(squares * (1 - p) ** 2, axis=-1) + beside) ** 0.5


@fails("nearly_certain_rows_keep_their_digits")
def others_by_subtraction(p):
    """the squares of the others found by subtraction, where one of them is nearly everything"""
    xp = array_namespace(p)
    squares = p**2
    others = xp.sum(squares, axis=-1, keepdims=True) - squares
    return xp.sum(squares * ((1 - p) ** 2 + others), axis=-1) ** 0.5
