from course_lib.checking import fails


def _parameters(layers, d, d_ff):
    return layers * (4 * d**2 + 2 * d * d_ff)


@fails("the_quadratic_term", "the_counted_model")
def attention_left_out(batch, n, layers, d, d_ff, vocab):
    """six times tokens times parameters, and nothing else"""
    return 6 * batch * n * (_parameters(layers, d, d_ff) + d * vocab)


@fails("one_more_word", "the_counted_model", "only_the_output_matrix")
def look_up_counted(batch, n, layers, d, d_ff, vocab):
    """the look-up in the embedding table counted as a product"""
    dense = 6 * batch * n * (_parameters(layers, d, d_ff) + 2 * d * vocab)
    return dense + 12 * batch * layers * n**2 * d


@fails("only_the_output_matrix", "the_counted_model", "one_more_word")
def output_matrix_forgotten(batch, n, layers, d, d_ff, vocab):
    """the output matrix forgotten together with the embedding table"""
    return 6 * batch * n * _parameters(layers, d, d_ff) + 12 * batch * layers * n**2 * d


@fails("only_the_output_matrix", "the_counted_model", "one_more_word", "the_quadratic_term")
def backward_like_forward(batch, n, layers, d, d_ff, vocab):
    """the way back counted like the way forward: 4 in the place of 6"""
    dense = 4 * batch * n * (_parameters(layers, d, d_ff) + d * vocab)
    return dense + 8 * batch * layers * n**2 * d


@fails("twice_the_batch", "the_counted_model", "the_quadratic_term")
def pairs_across_the_batch(batch, n, layers, d, d_ff, vocab):
    """pairs counted across the texts of a batch"""
    dense = 6 * batch * n * (_parameters(layers, d, d_ff) + d * vocab)
    return dense + 12 * layers * (batch * n) ** 2 * d


@fails("the_counted_model", "only_the_output_matrix", "the_quadratic_term")
def one_layer_of_attention(batch, n, layers, d, d_ff, vocab):
    """the scores and weighted sums of one layer only"""
    dense = 6 * batch * n * (_parameters(layers, d, d_ff) + d * vocab)
    return dense + 12 * batch * n**2 * d


@fails("the_quadratic_term", "the_counted_model")
def attention_only_forward(batch, n, layers, d, d_ff, vocab):
    """the scores and weighted sums counted forward only"""
    dense = 6 * batch * n * (_parameters(layers, d, d_ff) + d * vocab)
    return dense + 4 * batch * layers * n**2 * d
