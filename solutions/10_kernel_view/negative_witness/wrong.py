from array_api_compat import array_namespace

from course_lib.checking import fails


def _smallest(G):
    """The eigenpair with the smallest eigenvalue."""
    values, vectors = array_namespace(G).linalg.eigh((G + G.T) / 2)
    return float(values[0]), vectors[:, 0]


def _size(G):
    xp = array_namespace(G)
    return float(xp.max(xp.abs(G)))


@fails("an_even_number_of_negatives", "positive_entries_do_not_help", "rounding_is_no_witness")
def determinant(G):
    """the sign of the determinant"""
    scaled = (G + G.T) / (2 * _size(G))
    return _smallest(G)[1] if float(array_namespace(G).linalg.det(scaled)) < -1e-4 else None


@fails(
    "positive_entries_do_not_help",
    "the_plus_minus_one_example",
    "rounding_is_no_witness",
    "unsymmetric_matrices",
)
def entries(G):
    """looks at the entries only"""
    return _smallest(G)[1] if float(array_namespace(G).min(G)) < 0 else None


@fails("rounding_is_no_witness")
def no_tolerance(G):
    """any eigenvalue below zero, however near"""
    value, z = _smallest(G)
    return z if value < 0 else None


@fails("small_matrices_count", "rounding_is_no_witness")
def absolute_tolerance(G):
    """a tolerance of 1e-8, whatever the size"""
    value, z = _smallest(G)
    return z if value < -1e-8 else None


@fails("unsymmetric_matrices")
def one_triangle(G):
    """G handed to a symmetric solver as it is: one triangle is read"""
    values, vectors = array_namespace(G).linalg.eigh(G)
    return vectors[:, 0] if float(values[0]) < -1e-4 * _size(G) else None


@fails(
    "the_plus_minus_one_example",
    "an_even_number_of_negatives",
    "positive_entries_do_not_help",
    "rounding_is_no_witness",
    "small_matrices_count",
    "unsymmetric_matrices",
)
def largest_eigenvector(G):
    """the eigenvector of the largest eigenvalue"""
    values, vectors = array_namespace(G).linalg.eigh((G + G.T) / 2)
    return vectors[:, -1] if float(values[0]) < -1e-4 * _size(G) else None


@fails(
    "the_plus_minus_one_example",
    "an_even_number_of_negatives",
    "positive_entries_do_not_help",
    "rounding_is_no_witness",
    "small_matrices_count",
    "unsymmetric_matrices",
)
def the_eigenvalue(G):
    """the eigenvalue in place of the vector"""
    value, _ = _smallest(G)
    return value if value < -1e-4 * _size(G) else None
