from array_api_compat import array_namespace

from course_lib.checking import fails


def _unit(x):
    xp = array_namespace(x)
    return x / xp.sqrt(xp.sum(x**2))


def _aside(q):
    """A unit vector at right angles to q, from its two first coordinates if they are not zero."""
    xp = array_namespace(q)
    rest = xp.zeros_like(q[2:])
    return _unit(xp.concat([-q[1:2], q[0:1], rest]))


@fails("all_have_length_one", "first_is_at_right_angles")
def the_zero_key(q):
    """the zero key, which is at right angles to everything"""
    xp = array_namespace(q)
    return xp.stack([0 * q, -_unit(q), -_unit(q)])


@fails("first_gets_the_most")
def others_aligned(q):
    """the other keys along the query: the belief itself"""
    return array_namespace(q).stack([_aside(q), _unit(q), _unit(q)])


@fails("first_is_at_right_angles")
def second_axis_always(q):
    """the second axis, whichever way the query points"""
    xp = array_namespace(q)
    return xp.stack([xp.eye(q.shape[0], dtype=q.dtype)[1], -_unit(q), -_unit(q)])


@fails("all_have_length_one")
def long_opposites(q):
    """the opposite keys not made one long"""
    return array_namespace(q).stack([_aside(q), -3 * _unit(q), -3 * _unit(q)])


@fails("first_gets_the_most")
def all_orthogonal(q):
    """all three at right angles: a tie"""
    return array_namespace(q).stack([_aside(q), -_aside(q), _aside(q)])
