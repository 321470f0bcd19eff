from course_lib.checking import fails


def _right(X, W_Q, W_K, W_V, dQ, dK, dV):
    return dQ @ W_Q.T + dK @ W_K.T + dV @ W_V.T, X.T @ dQ, X.T @ dK, X.T @ dV


@fails("each_path_reaches_the_input", "equals_the_derivative", "gradients_add_over_tokens")
def value_path_only(X, W_Q, W_K, W_V, dQ, dK, dV):
    """the tokens reached through the values only"""
    _, *dW = _right(X, W_Q, W_K, W_V, dQ, dK, dV)
    return dV @ W_V.T, *dW


@fails("equals_the_derivative", "each_path_reaches_the_input", "gradients_add_over_tokens")
def paths_averaged(X, W_Q, W_K, W_V, dQ, dK, dV):
    """the mean of the three paths in place of their sum"""
    dX, *dW = _right(X, W_Q, W_K, W_V, dQ, dK, dV)
    return dX / 3, *dW


@fails("weight_gradients_keep_to_their_path", "equals_the_derivative", "gradients_add_over_tokens")
def weight_gradients_transposed(X, W_Q, W_K, W_V, dQ, dK, dV):
    """the gradients of the matrices transposed"""
    dX, *dW = _right(X, W_Q, W_K, W_V, dQ, dK, dV)
    return dX, *(gradient.T for gradient in dW)


@fails("gradients_add_over_tokens", "equals_the_derivative", "weight_gradients_keep_to_their_path")
def mean_over_tokens(X, W_Q, W_K, W_V, dQ, dK, dV):
    """the mean over the tokens in place of the sum"""
    dX, *dW = _right(X, W_Q, W_K, W_V, dQ, dK, dV)
    return dX, *(gradient / X.shape[0] for gradient in dW)


@fails("each_path_reaches_the_input", "equals_the_derivative", "gradients_add_over_tokens")
def wrong_matrix_on_the_query_path(X, W_Q, W_K, W_V, dQ, dK, dV):
    """the key projection used on the way back from the queries"""
    return _right(X, W_K, W_K, W_V, dQ, dK, dV)


@fails("weight_gradients_keep_to_their_path", "equals_the_derivative", "gradients_add_over_tokens")
def gradients_exchanged(X, W_Q, W_K, W_V, dQ, dK, dV):
    """the gradients of the query and key projections exchanged"""
    dX, dW_Q, dW_K, dW_V = _right(X, W_Q, W_K, W_V, dQ, dK, dV)
    return dX, dW_K, dW_Q, dW_V
