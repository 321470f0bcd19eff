from course_lib.checking import fails


@fails(
    "one_multiply_add_is_two", "agrees_with_the_counter", "heads_do_not_matter", "gated_has_three"
)
def multiply_adds(n, d, heads, d_ff, ffn_matrices):
    """a multiplication with its addition counted as one"""
    return 4 * n * d**2, n**2 * d, n**2 * d, ffn_matrices * n * d * d_ff


@fails("agrees_with_the_counter", "one_multiply_add_is_two", "heads_do_not_matter")
def no_output_projection(n, d, heads, d_ff, ffn_matrices):
    """the output projection forgotten"""
    return 6 * n * d**2, 2 * n**2 * d, 2 * n**2 * d, 2 * ffn_matrices * n * d * d_ff


@fails("heads_do_not_matter", "agrees_with_the_counter", "one_multiply_add_is_two")
def heads_at_full_width(n, d, heads, d_ff, ffn_matrices):
    """every head counted at the full width"""
    pairs = 2 * heads * n**2 * d
    return 8 * n * d**2, pairs, pairs, 2 * ffn_matrices * n * d * d_ff


@fails("gated_has_three", "agrees_with_the_counter")
def always_two_matrices(n, d, heads, d_ff, ffn_matrices):
    """always two feed-forward matrices"""
    return 8 * n * d**2, 2 * n**2 * d, 2 * n**2 * d, 4 * n * d * d_ff


@fails("twice_the_tokens", "agrees_with_the_counter", "one_multiply_add_is_two")
def scores_once_a_token(n, d, heads, d_ff, ffn_matrices):
    """scores counted once for each token"""
    return 8 * n * d**2, 2 * n * d, 2 * n * d, 2 * ffn_matrices * n * d * d_ff


@fails("heads_do_not_matter", "agrees_with_the_counter", "one_multiply_add_is_two")
def one_head_only(n, d, heads, d_ff, ffn_matrices):
    """the scores of one head, forgetting the others"""
    pairs = 2 * n**2 * (d // heads)
    return 8 * n * d**2, pairs, pairs, 2 * ffn_matrices * n * d * d_ff
