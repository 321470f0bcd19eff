from array_api_compat import array_namespace

from course_lib.checking import fails


def _values(A, X, W_V):
    """The values of each head: [heads, n_k, d_v]."""
    xp = array_namespace(X)
    heads = A.shape[0]
    return xp.permute_dims(xp.reshape(X @ W_V, (X.shape[0], heads, -1)), (1, 0, 2))


def _blocks(A, W_O):
    """The rows of W_O of each head: [heads, d_v, d_out]."""
    return array_namespace(W_O).reshape(W_O, (A.shape[0], -1, W_O.shape[1]))


@fails(
    "a_silenced_head_adds_nothing",
    "contributions_add_up",
    "heads_attend_on_their_own",
    "permuting_heads_permutes",
)
def output_cut_by_columns(A, X, W_V, W_O):
    """W_O cut into blocks of columns: each head gets features of its own in the output"""
    xp = array_namespace(X)
    heads, n_q, _ = A.shape
    side_by_side = xp.reshape(xp.permute_dims(A @ _values(A, X, W_V), (1, 0, 2)), (n_q, -1))
    d_out = W_O.shape[1]
    width = -(-d_out // heads)
    column = xp.arange(d_out)
    parts = [
        side_by_side @ xp.where((column // width == h)[None, :], W_O, 0 * W_O) for h in range(heads)
    ]
    return xp.stack(parts)


@fails("contributions_add_up", "a_silenced_head_adds_nothing", "permuting_heads_permutes")
def averaged(A, X, W_V, W_O):
    """the mean over heads in place of the sum"""
    return A @ _values(A, X, W_V) @ _blocks(A, W_O) / A.shape[0]


@fails(
    "heads_attend_on_their_own",
    "contributions_add_up",
    "a_silenced_head_adds_nothing",
    "permuting_heads_permutes",
)
def weights_averaged(A, X, W_V, W_O):
    """one mean table of weights for all heads"""
    xp = array_namespace(X)
    mean = xp.mean(A, axis=0, keepdims=True)
    return mean @ _values(A, X, W_V) @ _blocks(A, W_O)


@fails("permuting_heads_permutes", "contributions_add_up", "a_silenced_head_adds_nothing")
def values_dealt_out(A, X, W_V, W_O):
    """the columns of W_V dealt out to the heads in turn"""
    xp = array_namespace(X)
    V = xp.permute_dims(xp.reshape(X @ W_V, (X.shape[0], -1, A.shape[0])), (2, 0, 1))
    return A @ V @ _blocks(A, W_O)


@fails(
    "a_silenced_head_adds_nothing",
    "contributions_add_up",
    "heads_attend_on_their_own",
    "permuting_heads_permutes",
)
def equal_shares(A, X, W_V, W_O):
    """the layer's output divided equally among the heads"""
    xp = array_namespace(X)
    whole = xp.sum(A @ _values(A, X, W_V) @ _blocks(A, W_O), axis=0)
    return xp.stack([whole / A.shape[0]] * A.shape[0])


@fails("contributions_add_up", "a_silenced_head_adds_nothing", "permuting_heads_permutes")
def output_left_out(A, X, W_V, W_O):
    """every head returned before W_O"""
    return A @ _values(A, X, W_V)
