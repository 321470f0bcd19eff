from array_api_compat import array_namespace

from course_lib.checking import fails


@fails(
    "a_constant_gives_zero", "equals_jacobian_times_u", "the_result_sums_to_zero", "no_square_array"
)
def elementwise(p, u):
    """each weight differentiated alone"""
    return p * (1 - p) * u


@fails(
    "a_constant_gives_zero", "equals_jacobian_times_u", "the_result_sums_to_zero", "no_square_array"
)
def mean_forgotten(p, u):
    """no mean taken away"""
    return p * u


@fails("the_result_sums_to_zero", "equals_jacobian_times_u", "no_square_array")
def plain_mean(p, u):
    """the plain mean in place of the weighted one"""
    return p * (u - array_namespace(p).mean(u, axis=-1, keepdims=True))


@fails("no_square_array")
def jacobian_formed(p, u):
    """the Jacobian written down first"""
    xp = array_namespace(p)
    jacobian = (
        xp.eye(p.shape[-1], dtype=p.dtype) * p[..., None, :] - p[..., :, None] * p[..., None, :]
    )
    return xp.sum(jacobian * u[..., None, :], axis=-1)


@fails("the_result_sums_to_zero", "equals_jacobian_times_u", "no_square_array")
def outer_factor_forgotten(p, u):
    """the weighted mean taken away, the factor in front forgotten"""
    return u - array_namespace(p).sum(p * u, axis=-1, keepdims=True)


@fails("equals_jacobian_times_u", "a_constant_gives_zero", "the_result_sums_to_zero")
def sum_over_everything(p, u):
    """one sum over the whole array"""
    return p * (u - array_namespace(p).sum(p * u))
