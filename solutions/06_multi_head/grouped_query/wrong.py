from array_api_compat import array_namespace

from course_lib.checking import fails


def _attend(Q, K, V, divisor=None):
    xp = array_namespace(Q)
    scores = Q @ K.mT / (K.shape[-1] if divisor is None else divisor) ** 0.5
    loudness = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return loudness / xp.sum(loudness, axis=-1, keepdims=True) @ V


def _groups(X, of_head):
    xp = array_namespace(X)
    return xp.stack([X[:, g] for g in of_head], axis=1)


def _neighbours(Q, X):
    return _groups(X, [h * X.shape[1] // Q.shape[1] for h in range(Q.shape[1])])


def _tiled(Q, X):
    return _groups(X, [h % X.shape[1] for h in range(Q.shape[1])])


@fails(
    "neighbours_share_a_group",
    "written_out_head_by_head",
    "agrees_with_torch",
    "spelling_out_the_groups_changes_nothing",
)
def tiled(Q, K, V):
    """the list of groups repeated: head h uses group h modulo groups"""
    return _attend(Q, _tiled(Q, K), _tiled(Q, V))


@fails(
    "as_many_groups_as_heads",
    "written_out_head_by_head",
    "agrees_with_torch",
    "neighbours_share_a_group",
)
def first_group_for_all(Q, K, V):
    """the first group for all heads"""
    return _attend(Q, K[:, :1] + 0 * _neighbours(Q, K), V[:, :1] + 0 * _neighbours(Q, V))


@fails(
    "every_head_asks_itself",
    "written_out_head_by_head",
    "agrees_with_torch",
    "spelling_out_the_groups_changes_nothing",
)
def queries_averaged(Q, K, V):
    """the questions of a group averaged"""
    xp = array_namespace(Q)
    batch, heads, n_q, d_k = Q.shape
    mean = xp.mean(xp.reshape(Q, (batch, K.shape[1], -1, n_q, d_k)), axis=2)
    return _attend(_neighbours(Q, mean), _neighbours(Q, K), _neighbours(Q, V))


@fails("spelling_out_the_groups_changes_nothing", "written_out_head_by_head", "agrees_with_torch")
def scale_counts_sharing(Q, K, V):
    """the scale counts the heads that share"""
    divisor = K.shape[-1] * Q.shape[1] // K.shape[1]
    return _attend(Q, _neighbours(Q, K), _neighbours(Q, V), divisor=divisor)


@fails(
    "neighbours_share_a_group",
    "written_out_head_by_head",
    "agrees_with_torch",
    "as_many_groups_as_heads",
)
def groups_averaged(Q, K, V):
    """keys and values averaged over the groups"""
    xp = array_namespace(Q)
    K_mean, V_mean = (xp.mean(X, axis=1, keepdims=True) for X in (K, V))
    return _attend(Q, K_mean + 0 * _neighbours(Q, K), V_mean + 0 * _neighbours(Q, V))


@fails(
    "agrees_with_torch",
    "written_out_head_by_head",
    "neighbours_share_a_group",
    "spelling_out_the_groups_changes_nothing",
)
def keys_repeated_values_tiled(Q, K, V):
    """keys shared by neighbours, values dealt out in turn"""
    return _attend(Q, _neighbours(Q, K), _tiled(Q, V))
