library = "numpy"  # or "torch": the library your answer is written in


def layer_flops(n: int, d: int, heads: int, d_ff: int, ffn_matrices: int) -> tuple:
    r"""Return the operations of one layer's matrix products, forward.

    n: tokens; d: their width; heads: how many heads share d; d_ff: width between the matrices of
    the feed-forward part, of which there are ffn_matrices.
    Returns (projections, scores, values, ffn), four ints.
    """
    pairs = 2 * n**2 * d
    return 8 * n * d**2, pairs, pairs, 2 * ffn_matrices * n * d * d_ff
