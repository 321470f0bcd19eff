from course_lib.checking import core, expect_close, expect_less, hidden


def both_sides(n, d, d_ff, ffn_matrices, pairs):
    return 4 * pairs * d, 8 * n * d * d + 2 * ffn_matrices * n * d * d_ff


@core
def test_both_sides_are_equal(crossover, arrays):
    r"""At the returned length both sides cost the same

    $4 n^2 d = 8 n d^2 + 2 m\,n\,d\,d_{\mathit{ff}}$, with $n > 0$.
    """
    for ffn_matrices in (2, 3):
        d, d_ff = (int(size) for size in arrays.integers(2, low=3, high=40))
        n = crossover(d, d_ff, ffn_matrices)
        expect_less(got=-n, than=0.0, hint="is there a length besides zero?")
        attention, rest = both_sides(n, d, d_ff, ffn_matrices, n * n)
        expect_close(got=attention / rest, expected=1.0, hint="which products stand on each side?")


def test_the_three_known_rules(crossover, arrays):
    r"""d = 64: 128 without a feed-forward part, 384 with two matrices, 512 with a gate

    $2d$, $6d$ and $8d$, the width between being $4d$.
    """
    hint = "which of the projections and matrices did you count?"
    expect_close(got=crossover(64, 0, 2), expected=128, hint=hint)
    expect_close(got=crossover(64, 256, 2), expected=384, hint=hint)
    expect_close(got=crossover(64, 256, 3), expected=512, hint=hint)


def test_a_wider_ffn_moves_it(crossover, arrays):
    r"""A feed-forward part wider by one moves the crossing by m/2

    $\partial n/\partial d_{\mathit{ff}} = m/2$.
    """
    for ffn_matrices in (2, 3):
        d, d_ff, more = (int(size) for size in arrays.integers(3, low=2, high=20))
        moved = crossover(d, d_ff + more, ffn_matrices) - crossover(d, d_ff, ffn_matrices)
        hint = "what does one more unit of width cost for each token?"
        expect_close(got=moved, expected=ffn_matrices * more / 2, hint=hint)


@hidden
def test_causal_pairs_are_counted_exactly(crossover, arrays):
    r"""Causal: both sides are equal over the visible pairs

    $n(n + 1)/2$ pairs, the diagonal included.
    """
    for ffn_matrices in (2, 3):
        d, d_ff = (int(size) for size in arrays.integers(2, low=2, high=9))
        n = crossover(d, d_ff, ffn_matrices, True)
        attention, rest = both_sides(n, d, d_ff, ffn_matrices, n * (n + 1) / 2)
        hint = "how many of n times n pairs are visible, and does a token see itself?"
        expect_close(got=attention / rest, expected=1.0, hint=hint)
