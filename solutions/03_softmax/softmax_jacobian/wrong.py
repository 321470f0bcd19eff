from array_api_compat import array_namespace

from course_lib.checking import fails


def _eye(p):
    return array_namespace(p).eye(p.shape[-1], dtype=p.dtype)


@fails(
    "a_shift_moves_nothing", "the_island_matrix", "equals_finite_differences", "one_matrix_per_row"
)
def diagonal_only(p):
    """each weight differentiated alone: p (1 - p) on the diagonal and nothing beside it"""
    return _eye(p) * (p * (1 - p))[..., None, :]


@fails(
    "equals_finite_differences", "the_island_matrix", "a_shift_moves_nothing", "one_matrix_per_row"
)
def plus_outer_product(p):
    """the outer product added"""
    return _eye(p) * p[..., None, :] + p[..., :, None] * p[..., None, :]


@fails(
    "symmetric",
    "the_island_matrix",
    "a_shift_moves_nothing",
    "equals_finite_differences",
    "one_matrix_per_row",
)
def own_index_twice(p):
    """the own index used twice: the square of one weight where the product of two belongs"""
    return p[..., :, None] * _eye(p) - (p**2)[..., :, None]


@fails("one_matrix_per_row")
def rows_flattened(p):
    """all rows flattened into one"""
    xp = array_namespace(p)
    row = xp.reshape(p, (-1,))
    return _eye(row) * row - row[:, None] * row


@fails("the_island_matrix", "symmetric", "equals_finite_differences", "one_matrix_per_row")
def of_log_softmax(p):
    """the Jacobian of the logarithm of softmax"""
    return _eye(p) - p[..., None, :]


@fails(
    "a_shift_moves_nothing", "the_island_matrix", "equals_finite_differences", "one_matrix_per_row"
)
def outer_product_only(p):
    """the diagonal forgotten"""
    return -p[..., :, None] * p[..., None, :]
