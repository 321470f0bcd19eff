import torch

from course_lib.checking import only, oracle


@oracle
def by_counting(d, d_ff, ffn_matrices, causal=False):
    """What all the rest costs a token, divided by what a pair costs."""
    rest = 8 * d * d + 2 * ffn_matrices * d * d_ff
    partners = rest / (4 * d)
    return partners + (partners - 1) if causal else partners


def by_halving(d, d_ff, ffn_matrices, causal=False):
    """Close in on the length from both ends."""
    low, high = 0.5, 100.0 * (d + ffn_matrices * d_ff)
    for _ in range(200):
        n = (low + high) / 2
        pairs = n * (n + 1) / 2 if causal else n * n
        cheap = 4 * pairs * d < 8 * n * d * d + 2 * ffn_matrices * n * d * d_ff
        low, high = (n, high) if cheap else (low, n)
    return n


@only("torch")
def by_roots(d, d_ff, ffn_matrices, causal=False):
    """The root that is not zero of a quadratic in n."""
    square = 2.0 * d if causal else 4.0 * d
    linear = 8 * d * d + 2 * ffn_matrices * d * d_ff - (2 * d if causal else 0)
    return torch.tensor(linear / square, dtype=torch.float64)
