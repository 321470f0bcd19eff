library = "numpy"  # or "torch": the library your answer is written in


def training_flops(batch: int, n: int, layers: int, d: int, d_ff: int, vocab: int) -> int:
    r"""Return the operations of one training step, forward and backward.

    batch: texts; n: tokens of each; layers: how many; d: width of a token; d_ff: width between the
    two feed-forward matrices; vocab: columns of the output matrix. Returns an int.
    """
    parameters = layers * (4 * d**2 + 2 * d * d_ff) + d * vocab
    return 6 * batch * n * parameters + 12 * batch * layers * n**2 * d
