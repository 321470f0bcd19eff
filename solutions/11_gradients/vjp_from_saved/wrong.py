from array_api_compat import array_namespace

from course_lib.checking import fails


def _blocks(n, block):
    return [slice(start, start + block) for start in range(0, n, block)]


def _back(Q, K, V, output, lse, dO, slices, weights=None, mean=None, overwrite=False):
    xp = array_namespace(Q)
    root = Q.shape[1] ** 0.5
    total = xp.sum(dO * output, axis=1, keepdims=True)
    dQ, dK, dV = xp.zeros_like(Q), xp.zeros_like(K), xp.zeros_like(V)
    for keys in slices:
        scores = Q @ K[keys].T / root
        A = xp.exp(scores - lse[:, None]) if weights is None else weights(scores)
        dA = dO @ V[keys].T
        dS = A * (dA - (total if mean is None else mean(A, dA)))
        dQ = dS @ K[keys] / root + (0 if overwrite else dQ)
        dK[keys] = dS.T @ Q / root
        dV[keys] = A.T @ dO
    return dQ, dK, dV


@fails(
    "the_block_size_does_not_matter",
    "equals_the_derivative",
    "large_scores_are_safe",
    "no_square_array",
    "the_saved_output_is_used",
)
def softmax_per_block(Q, K, V, output, lse, dO, block):
    """softmax normalised inside each block"""
    xp = array_namespace(Q)

    def weights(scores):
        loudness = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
        return loudness / xp.sum(loudness, axis=1, keepdims=True)

    return _back(Q, K, V, output, lse, dO, _blocks(K.shape[0], block), weights=weights)


@fails(
    "the_block_size_does_not_matter",
    "equals_the_derivative",
    "large_scores_are_safe",
    "no_square_array",
    "the_saved_output_is_used",
)
def mean_per_block(Q, K, V, output, lse, dO, block):
    """the weighted sum of dA taken inside each block"""
    xp = array_namespace(Q)
    return _back(
        Q,
        K,
        V,
        output,
        lse,
        dO,
        _blocks(K.shape[0], block),
        mean=lambda A, dA: xp.sum(A * dA, axis=1, keepdims=True),
    )


@fails(
    "the_block_size_does_not_matter",
    "equals_the_derivative",
    "large_scores_are_safe",
    "no_square_array",
    "the_saved_output_is_used",
)
def last_block_dropped(Q, K, V, output, lse, dO, block):
    """a last, shorter block left out"""
    whole = K.shape[0] // block * block
    return _back(Q, K, V, output, lse, dO, _blocks(whole, block))


@fails(
    "equals_the_derivative",
    "the_block_size_does_not_matter",
    "no_square_array",
    "the_saved_output_is_used",
)
def query_gradient_overwritten(Q, K, V, output, lse, dO, block):
    """dQ of each block written over that of the blocks before"""
    return _back(Q, K, V, output, lse, dO, _blocks(K.shape[0], block), overwrite=True)


@fails("no_square_array")
def whole_matrix_rebuilt(Q, K, V, output, lse, dO, block):
    """all weights rebuilt at once"""
    return _back(Q, K, V, output, lse, dO, [slice(None)])


@fails("large_scores_are_safe")
def divided_after_the_exponential(Q, K, V, output, lse, dO, block):
    """exponentials first, divided by exp(lse) afterwards"""
    xp = array_namespace(Q)
    return _back(
        Q,
        K,
        V,
        output,
        lse,
        dO,
        _blocks(K.shape[0], block),
        weights=lambda scores: xp.exp(scores) / xp.exp(lse)[:, None],
    )


@fails("the_saved_output_is_used")
def output_recomputed(Q, K, V, output, lse, dO, block):
    """the output computed again, the saved one ignored"""
    xp = array_namespace(Q)
    again = xp.zeros_like(output)
    for keys in _blocks(K.shape[0], block):
        again = again + xp.exp(Q @ K[keys].T / Q.shape[1] ** 0.5 - lse[:, None]) @ V[keys]
    return _back(Q, K, V, again, lse, dO, _blocks(K.shape[0], block))
