from array_api_compat import array_namespace

from course_lib.checking import fails


def _pinv(E):
    xp = array_namespace(E)
    return xp.linalg.pinv(E, rtol=1e-4)


def _trace(M):
    return array_namespace(M).sum(array_namespace(M).linalg.diagonal(M))


@fails("repeating_adds_nothing")
def one_minus_d_over_n(E):
    """slots counted in place of independent slots"""
    return 1 - E.shape[0] / E.shape[1]


@fails(
    "half_the_slots_half_the_message",
    "an_invertible_code_loses_nothing",
    "repeating_adds_nothing",
    "volume_does_not_matter",
)
def transpose_as_decoder(E):
    """the transpose taken for the inverse"""
    xp = array_namespace(E)
    left = xp.eye(E.shape[1], dtype=E.dtype) - E.T @ E
    return xp.sum(left**2) / E.shape[1]


@fails(
    "half_the_slots_half_the_message",
    "an_invertible_code_loses_nothing",
    "repeating_adds_nothing",
    "volume_does_not_matter",
)
def kept_share(E):
    """what is kept, not what is lost"""
    return _trace(_pinv(E) @ E) / E.shape[1]


@fails("half_the_slots_half_the_message", "repeating_adds_nothing", "volume_does_not_matter")
def projector_on_the_code(E):
    """the projector on the code in place of the projector on the message"""
    return 1 - _trace(E @ _pinv(E)) / E.shape[0]


@fails("volume_does_not_matter")
def only_large_singular_values(E):
    """singular values called zero when they lie below a fixed number"""
    xp = array_namespace(E)
    sizes = xp.linalg.svdvals(E)
    return 1 - xp.sum(xp.astype(sizes > 0.1, E.dtype)) / E.shape[1]
