from course_lib.checking import fails


@fails("the_three_known_rules", "both_sides_are_equal", "causal_pairs_are_counted_exactly")
def without_the_output_projection(d, d_ff, ffn_matrices, causal=False):
    """the output projection left out: the rule 1.5 d"""
    n = 1.5 * d + ffn_matrices * d_ff / 2
    return 2 * n - 1 if causal else n


@fails(
    "a_wider_ffn_moves_it",
    "both_sides_are_equal",
    "the_three_known_rules",
    "causal_pairs_are_counted_exactly",
)
def without_the_ffn(d, d_ff, ffn_matrices, causal=False):
    """the feed-forward part left out: the rule 2 d"""
    return 4 * d - 1 if causal else 2 * d


@fails(
    "both_sides_are_equal",
    "the_three_known_rules",
    "a_wider_ffn_moves_it",
    "causal_pairs_are_counted_exactly",
)
def always_eight_d(d, d_ff, ffn_matrices, causal=False):
    """8 d as a law of nature"""
    return 16 * d - 1 if causal else 8 * d


@fails("causal_pairs_are_counted_exactly")
def causal_is_half(d, d_ff, ffn_matrices, causal=False):
    """the visible pairs taken as exactly half of all"""
    n = 2 * d + ffn_matrices * d_ff / 2
    return 2 * n if causal else n


@fails("causal_pairs_are_counted_exactly")
def causal_halves_the_length(d, d_ff, ffn_matrices, causal=False):
    """half the pairs, so half the length"""
    n = 2 * d + ffn_matrices * d_ff / 2
    return n / 2 if causal else n


@fails(
    "both_sides_are_equal",
    "the_three_known_rules",
    "a_wider_ffn_moves_it",
    "causal_pairs_are_counted_exactly",
)
def scores_without_values(d, d_ff, ffn_matrices, causal=False):
    """scores only, the weighted sums forgotten"""
    n = 4 * d + ffn_matrices * d_ff
    return 2 * n - 1 if causal else n


@fails(
    "both_sides_are_equal",
    "the_three_known_rules",
    "a_wider_ffn_moves_it",
    "causal_pairs_are_counted_exactly",
)
def where_n_is_d(d, d_ff, ffn_matrices, causal=False):
    """the constants thrown away: n = d"""
    return d
