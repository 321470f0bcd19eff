import numpy as np
from array_api_compat import array_namespace

from course_lib.checking import fails


def _row(X, j):
    """1 in row j, 0 elsewhere, in the library of X."""
    xp = array_namespace(X)
    return xp.asarray(np.eye(X.shape[0])[j][:, None], dtype=X.dtype)


def _fresh(X):
    xp = array_namespace(X)
    return xp.asarray(np.random.default_rng(7).normal(size=tuple(X.shape)), dtype=X.dtype)


def _replaced(X, j, rows):
    xp = array_namespace(X)
    return xp.where(_row(X, j) > 0, rows, X)


def _table(layer, X, change, moved=None):
    xp = array_namespace(X)
    moved = moved or (lambda after, before: xp.any(after != before, axis=-1))
    before = layer(X)
    columns = [moved(layer(change(j)), before) for j in range(X.shape[0])]
    return xp.stack(columns, axis=1)


@fails(
    "four_ordinary_layers",
    "a_layer_that_reads_one_feature",
    "rows_of_zeros",
    "a_normalised_layer",
    "huge_inputs",
    "a_weak_influence",
)
def rows_for_columns(layer, X):
    """rows and columns exchanged"""
    return _table(layer, X, lambda j: _replaced(X, j, _fresh(X))).T


@fails(
    "four_ordinary_layers",
    "a_layer_that_reads_one_feature",
    "rows_of_zeros",
    "a_normalised_layer",
    "huge_inputs",
    "a_weak_influence",
)
def changes_pile_up(layer, X):
    """earlier changes are not undone"""
    fresh, held = _fresh(X), [X]

    def change(j):
        held.append(_replaced(held[-1], j, fresh))
        return held[-1]

    return _table(layer, X, change)


@fails("the_input_is_unchanged")
def one_after_the_other(layer, X):
    """compared with the output before the last change, the change left in place, on X itself"""
    xp = array_namespace(X)
    fresh, columns = _fresh(X), []
    for j in range(X.shape[0]):
        before = layer(X)
        X[j] = fresh[j]
        columns.append(xp.any(layer(X) != before, axis=-1))
    return xp.stack(columns, axis=1)


@fails("a_normalised_layer")
def adds_a_constant(layer, X):
    """one number added to the whole row"""
    xp = array_namespace(X)
    size = 1 + xp.max(xp.abs(X))
    return _table(layer, X, lambda j: X + _row(X, j) * size)


@fails("a_normalised_layer", "rows_of_zeros")
def doubles_the_row(layer, X):
    """the row multiplied by two"""
    return _table(layer, X, lambda j: X + _row(X, j) * X)


@fails("a_layer_that_reads_one_feature")
def first_feature_only(layer, X):
    """only the first number of the row is changed"""
    xp = array_namespace(X)
    first = xp.asarray(np.eye(X.shape[1])[0], dtype=X.dtype)
    size = 1 + xp.max(xp.abs(X))
    return _table(layer, X, lambda j: X + _row(X, j) * first * size)


@fails("rows_of_zeros", "a_normalised_layer")
def zeroes_the_row(layer, X):
    """the row set to zero"""
    return _table(layer, X, lambda j: X * (1 - _row(X, j)))


@fails("huge_inputs")
def tiny_step(layer, X):
    """a step of fixed size, lost in the rounding of large numbers"""
    return _table(layer, X, lambda j: X + _row(X, j) * _fresh(X) / 8)


@fails("a_normalised_layer", "a_weak_influence")
def compares_feature_sums(layer, X):
    """the sums of the output rows are compared"""
    xp = array_namespace(X)

    def moved(after, before):
        change = xp.abs(xp.sum(after, axis=-1) - xp.sum(before, axis=-1))
        return change > 1e-4 * (1 + xp.max(xp.abs(before)))

    return _table(layer, X, lambda j: _replaced(X, j, 3 + _fresh(X)), moved)


@fails(
    "four_ordinary_layers",
    "a_layer_that_reads_one_feature",
    "a_normalised_layer",
    "huge_inputs",
    "a_weak_influence",
)
def by_small_differences(layer, X):
    """changes below a thousandth of the largest output taken for rounding, after a small step"""
    xp = array_namespace(X)

    def moved(after, before):
        return xp.any(xp.abs(after - before) > 1e-3 * xp.max(xp.abs(before)), axis=-1)

    return _table(layer, X, lambda j: X + _row(X, j) * _fresh(X) * 1e-6, moved)


@fails("a_weak_influence")
def nearly_equal_is_equal(layer, X):
    """outputs compared up to a tolerance"""
    xp = array_namespace(X)

    def moved(after, before):
        size = 1e-6 * (1e-2 + xp.abs(before))
        return xp.any(xp.abs(after - before) > size, axis=-1)

    return _table(layer, X, lambda j: _replaced(X, j, _fresh(X)), moved)


@fails("four_ordinary_layers")
def one_of_four(layer, X):
    """the table guessed from the first and the last column"""
    xp, n = array_namespace(X), X.shape[0]
    table = _table(layer, X, lambda j: _replaced(X, j, _fresh(X)))
    first, last = np.asarray(table[:, 0]), np.asarray(table[:, -1])
    if first.all() and last.all():
        guess = np.ones((n, n))
    elif not first.all():
        guess = np.eye(n)
    else:
        guess = np.tri(n, k=int(last.sum()) - 1)
    return xp.asarray(guess > 0)
