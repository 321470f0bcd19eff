from array_api_compat import array_namespace

from course_lib.checking import fails


def _svd(M):
    return array_namespace(M).linalg.svd(M, full_matrices=False)


@fails(
    "the_product_follows_m",
    "distance_is_the_next_singular_value",
    "rank_d_k_is_reproduced",
    "wide_and_tall",
)
def singular_values_left_out(M, d_k):
    """the directions without their sizes"""
    left, sizes, right = _svd(M)
    return left[:, :d_k], right[:d_k].T


@fails(
    "the_product_follows_m",
    "distance_is_the_next_singular_value",
    "rank_d_k_is_reproduced",
    "wide_and_tall",
)
def singular_values_twice(M, d_k):
    """the sizes on both sides, so that the product has their squares"""
    left, sizes, right = _svd(M)
    return left[:, :d_k] * sizes[:d_k], right[:d_k].T * sizes[:d_k]


@fails("distance_is_the_next_singular_value", "rank_d_k_is_reproduced")
def smallest_kept(M, d_k):
    """the smallest directions kept in place of the largest"""
    left, sizes, right = _svd(M)
    return left[:, -d_k:] * sizes[-d_k:], right[-d_k:].T


@fails(
    "wide_and_tall",
    "distance_is_the_next_singular_value",
    "rank_d_k_is_reproduced",
    "the_product_follows_m",
)
def vt_taken_for_v(M, d_k):
    """rows of the right factor taken for its columns"""
    left, sizes, right = _svd(M)
    return left[:, :d_k] * sizes[:d_k], right[:, :d_k]


@fails(
    "rank_d_k_is_reproduced",
    "distance_is_the_next_singular_value",
    "wide_and_tall",
    "the_product_follows_m",
)
def symmetric_part_only(M, d_k):
    """eigenvectors of the symmetric part"""
    xp = array_namespace(M)
    n = min(M.shape)
    values, vectors = xp.linalg.eigh((M[:n, :n] + M[:n, :n].T) / 2)
    order = xp.argsort(-xp.abs(values))[:d_k]
    return vectors[:, order] * values[order], vectors[:, order]


@fails("distance_is_the_next_singular_value", "rank_d_k_is_reproduced", "wide_and_tall")
def first_columns(M, d_k):
    """the first d_k columns of M"""
    return M[:, :d_k], array_namespace(M).eye(M.shape[1], dtype=M.dtype)[:, :d_k]
