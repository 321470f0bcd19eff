from array_api_compat import array_namespace

from course_lib.checking import fails


def _softmax(x, axis=(-1,)):
    xp = array_namespace(x)
    loudness = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return loudness / xp.sum(loudness, axis=axis, keepdims=True)


def _split(X, heads):
    xp = array_namespace(X)
    batch, n, d_model = X.shape
    return xp.permute_dims(xp.reshape(X, (batch, n, heads, d_model // heads)), (0, 2, 1, 3))


def _merge(X):
    xp = array_namespace(X)
    batch, heads, n, d = X.shape
    return xp.reshape(xp.permute_dims(X, (0, 2, 1, 3)), (batch, n, heads * d))


def _all_heads(may_attend):
    return may_attend[:, None]


def _layer(
    X_q,
    X_kv,
    W_Q,
    W_K,
    W_V,
    W_O,
    heads,
    may_attend=None,
    *,
    scale=None,
    split=_split,
    merge=_merge,
    softmax=_softmax,
    mix=lambda A: A,
    mask=_all_heads,
):
    xp = array_namespace(X_q)
    Q, K, V = (split(X @ W, heads) for X, W in ((X_q, W_Q), (X_kv, W_K), (X_kv, W_V)))
    scores = Q @ K.mT / (Q.shape[-1] if scale is None else scale) ** 0.5
    if may_attend is not None:
        scores = xp.where(mask(may_attend), scores, 0 * scores - xp.inf)
    output = merge(mix(softmax(scores)) @ V)
    return output if W_O is None else output @ W_O


@fails(
    "written_out_head_by_head",
    "agrees_with_torch",
    "the_order_of_heads_is_free",
    "each_story_has_its_own_mask",
    "many_narrow_heads",
)
def scale_of_the_model(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """divided by the root of d_model"""
    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, scale=X_q.shape[-1])


@fails(
    "many_narrow_heads",
    "written_out_head_by_head",
    "agrees_with_torch",
    "one_head_is_plain_attention",
    "the_order_of_heads_is_free",
    "each_story_has_its_own_mask",
)
def scale_of_the_head_count(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """divided by the root of the number of heads"""
    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, scale=heads)


@fails(
    "each_question_alone",
    "written_out_head_by_head",
    "agrees_with_torch",
    "the_order_of_heads_is_free",
    "each_story_has_its_own_mask",
    "many_narrow_heads",
)
def merged_without_transpose(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """heads merged by a reshape alone"""

    def merge(X):
        batch, heads, n, d = X.shape
        return array_namespace(X).reshape(X, (batch, n, heads * d))

    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, merge=merge)


@fails(
    "each_question_alone",
    "written_out_head_by_head",
    "agrees_with_torch",
    "the_order_of_heads_is_free",
    "each_story_has_its_own_mask",
    "many_narrow_heads",
)
def split_without_transpose(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """heads split by a reshape alone"""

    def split(X, heads):
        batch, n, d_model = X.shape
        return array_namespace(X).reshape(X, (batch, heads, n, d_model // heads))

    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, split=split)


@fails(
    "the_order_of_heads_is_free",
    "written_out_head_by_head",
    "agrees_with_torch",
    "each_story_has_its_own_mask",
    "many_narrow_heads",
)
def first_heads_weights_for_all(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """the weights of the first head used for all"""
    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, mix=lambda A: A[:, :1] + 0 * A)


@fails(
    "written_out_head_by_head",
    "agrees_with_torch",
    "the_order_of_heads_is_free",
    "each_story_has_its_own_mask",
    "many_narrow_heads",
)
def weights_averaged(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """weights averaged over the heads before they meet the values"""

    def mix(A):
        return array_namespace(A).mean(A, axis=1, keepdims=True) + 0 * A

    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, mix=mix)


@fails(
    "written_out_head_by_head",
    "agrees_with_torch",
    "the_order_of_heads_is_free",
    "each_story_has_its_own_mask",
    "many_narrow_heads",
)
def one_softmax_for_all_heads(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """one softmax over the keys of all heads together"""

    def softmax(scores):
        return _softmax(scores, axis=(1, 3))

    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, softmax=softmax)


@fails("each_story_has_its_own_mask", "agrees_with_torch")
def mask_over_the_head_axis(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """the mask laid over the axis of heads: no error when there are as many stories as heads"""
    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, mask=lambda seen: seen)


@fails("each_story_has_its_own_mask", "agrees_with_torch")
def true_means_hidden(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """True taken for hidden"""
    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend, mask=lambda A: ~A[:, None])


@fails("each_story_has_its_own_mask", "agrees_with_torch")
def mask_forgotten(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """the mask not used"""
    return _layer(X_q, X_kv, W_Q, W_K, W_V, W_O, heads)


@fails(
    "one_head_is_plain_attention",
    "written_out_head_by_head",
    "agrees_with_torch",
    "the_order_of_heads_is_free",
    "each_story_has_its_own_mask",
    "many_narrow_heads",
)
def no_output_projection(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """the heads side by side, without W_O"""
    return _layer(X_q, X_kv, W_Q, W_K, W_V, None, heads, may_attend)


@fails(
    "agrees_with_torch",
    "written_out_head_by_head",
    "one_head_is_plain_attention",
    "the_order_of_heads_is_free",
    "each_story_has_its_own_mask",
    "many_narrow_heads",
)
def matrices_of_the_library(X_q, X_kv, W_Q, W_K, W_V, W_O, heads, may_attend=None):
    """multiplied by the transposes, as the library stores its matrices"""
    return _layer(X_q, X_kv, W_Q.T, W_K.T, W_V.T, W_O.T, heads, may_attend)
