from array_api_compat import array_namespace

from course_lib.checking import fails


def _softmax(x, axis=-1):
    xp = array_namespace(x)
    loudness = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return loudness / xp.sum(loudness, axis=axis, keepdims=True)


def _attend(X_q, X_kv, W_Q, W_K, W_V, divisor=None, softmax=_softmax):
    Q, K, V = X_q @ W_Q, X_kv @ W_K, X_kv @ W_V
    weights = softmax(Q @ K.T / (W_Q.shape[1] ** 0.5 if divisor is None else divisor))
    return weights, weights @ V


@fails(
    "doubling_d_k_gives_root_two",
    "written_out",
    "unread_features_change_nothing",
    "wider_values_change_no_weight",
    "a_new_key_keeps_the_ratio",
)
def scale_forgotten(X_q, X_kv, W_Q, W_K, W_V):
    """no scale"""
    return _attend(X_q, X_kv, W_Q, W_K, W_V, divisor=1)


@fails(
    "doubling_d_k_gives_root_two",
    "written_out",
    "unread_features_change_nothing",
    "wider_values_change_no_weight",
    "a_new_key_keeps_the_ratio",
)
def divided_by_d_k(X_q, X_kv, W_Q, W_K, W_V):
    """divided by d_k, the root forgotten"""
    return _attend(X_q, X_kv, W_Q, W_K, W_V, divisor=W_Q.shape[1])


@fails(
    "unread_features_change_nothing",
    "written_out",
    "wider_values_change_no_weight",
    "a_new_key_keeps_the_ratio",
    "doubling_d_k_gives_root_two",
)
def root_of_the_model_width(X_q, X_kv, W_Q, W_K, W_V):
    """the root of the width of a token"""
    return _attend(X_q, X_kv, W_Q, W_K, W_V, divisor=X_q.shape[1] ** 0.5)


@fails(
    "wider_values_change_no_weight",
    "written_out",
    "unread_features_change_nothing",
    "a_new_key_keeps_the_ratio",
)
def root_of_d_v(X_q, X_kv, W_Q, W_K, W_V):
    """the root of the width of a value"""
    return _attend(X_q, X_kv, W_Q, W_K, W_V, divisor=W_V.shape[1] ** 0.5)


@fails(
    "a_new_key_keeps_the_ratio",
    "written_out",
    "unread_features_change_nothing",
    "wider_values_change_no_weight",
    "doubling_d_k_gives_root_two",
)
def root_of_the_number_of_keys(X_q, X_kv, W_Q, W_K, W_V):
    """the root of the number of keys"""
    return _attend(X_q, X_kv, W_Q, W_K, W_V, divisor=X_kv.shape[0] ** 0.5)


@fails(
    "rows_sum_to_one",
    "written_out",
    "unread_features_change_nothing",
    "wider_values_change_no_weight",
    "a_new_key_keeps_the_ratio",
    "doubling_d_k_gives_root_two",
)
def softmax_over_questions(X_q, X_kv, W_Q, W_K, W_V):
    """softmax down the columns, so that questions compete"""
    return _attend(X_q, X_kv, W_Q, W_K, W_V, softmax=lambda scores: _softmax(scores, axis=0))


@fails(
    "rows_sum_to_one",
    "written_out",
    "unread_features_change_nothing",
    "wider_values_change_no_weight",
    "a_new_key_keeps_the_ratio",
    "doubling_d_k_gives_root_two",
)
def scale_after_softmax(X_q, X_kv, W_Q, W_K, W_V):
    """the weights divided, not the scores"""
    root = W_Q.shape[1] ** 0.5
    return _attend(
        X_q, X_kv, W_Q, W_K, W_V, divisor=1, softmax=lambda scores: _softmax(scores) / root
    )


@fails("written_out")
def values_not_projected(X_q, X_kv, W_Q, W_K, W_V):
    """the tokens averaged in place of their values"""
    weights, _ = _attend(X_q, X_kv, W_Q, W_K, W_V)
    return weights, weights @ X_kv
