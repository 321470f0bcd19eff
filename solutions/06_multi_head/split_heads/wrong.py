from array_api_compat import array_namespace

from course_lib.checking import fails


@fails("tokens_stay_whole", "every_entry_is_where_it_belongs", "neighbouring_features_share_a_head")
def reshape_only(X, heads):
    """reshaped straight to the shape that is wanted"""
    batch, n, d_model = X.shape
    return array_namespace(X).reshape(X, (batch, heads, n, d_model // heads))


@fails("neighbouring_features_share_a_head", "every_entry_is_where_it_belongs")
def features_dealt_out(X, heads):
    """features dealt out to the heads in turn"""
    xp = array_namespace(X)
    batch, n, d_model = X.shape
    return xp.permute_dims(xp.reshape(X, (batch, n, d_model // heads, heads)), (0, 3, 1, 2))


@fails("every_entry_is_where_it_belongs", "tokens_stay_whole", "neighbouring_features_share_a_head")
def features_before_tokens(X, heads):
    """the last two axes exchanged, as if for the transposed keys"""
    xp = array_namespace(X)
    batch, n, d_model = X.shape
    return xp.permute_dims(xp.reshape(X, (batch, n, heads, d_model // heads)), (0, 2, 3, 1))


@fails("every_entry_is_where_it_belongs", "tokens_stay_whole", "neighbouring_features_share_a_head")
def heads_before_batch(X, heads):
    """batch and heads exchanged"""
    xp = array_namespace(X)
    batch, n, d_model = X.shape
    return xp.permute_dims(xp.reshape(X, (batch, n, heads, d_model // heads)), (2, 0, 1, 3))


@fails("tokens_stay_whole", "every_entry_is_where_it_belongs", "neighbouring_features_share_a_head")
def transposed_first(X, heads):
    """transposed before the reshape, so that features of different tokens meet in one row"""
    xp = array_namespace(X)
    batch, n, d_model = X.shape
    return xp.reshape(xp.permute_dims(X, (0, 2, 1)), (batch, heads, n, d_model // heads))


@fails("every_entry_is_where_it_belongs", "tokens_stay_whole", "neighbouring_features_share_a_head")
def transpose_forgotten(X, heads):
    """cut, but tokens and heads not exchanged"""
    batch, n, d_model = X.shape
    return array_namespace(X).reshape(X, (batch, n, heads, d_model // heads))
