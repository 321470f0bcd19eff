library = "numpy"  # or "torch": the library your answer is written in


def crossover(d: int, d_ff: int, ffn_matrices: int, causal: bool = False) -> float:
    r"""Return the length n > 0 at which scores and weighted sums cost as much as all the rest.

    d: width of a token; d_ff: width between the ffn_matrices matrices of the feed-forward part;
    causal: count only the n (n + 1) / 2 visible pairs. Returns one number.
    """
    all_pairs = 2 * d + ffn_matrices * d_ff / 2
    return 2 * all_pairs - 1 if causal else all_pairs
