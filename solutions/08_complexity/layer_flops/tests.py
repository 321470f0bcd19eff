from course_lib.checking import core, expect_equal, hidden

PARTS = ("projections", "scores", "weighted sums", "feed-forward")


def shapes(arrays):
    """A layer of sizes that are all different, drawn anew."""
    n, d_head, heads, d_ff = (int(size) for size in 2 + arrays.permutation(9)[:4])
    return n, d_head * heads, heads, d_ff


def expect_parts(got, expected, hint):
    got = got if isinstance(got, tuple) else (got,)
    expect_equal(got=len(got), expected=4, hint="which four numbers are asked for?")
    for part, one, other in zip(PARTS, got, expected, strict=True):
        expect_equal(got=one, expected=other, hint=f"{part}: {hint}")


@core
def test_agrees_with_the_counter(layer_flops, arrays):
    r"""All four counts are those of torch's counter

    The products are carried out on arrays without content, and counted.
    """
    hint = "how many products are there, and of which shapes?"
    for ffn_matrices in (2, 3, 2):
        asked = (*shapes(arrays), ffn_matrices)
        expect_parts(layer_flops(*asked), arrays.oracle(*asked), hint)


def test_one_multiply_add_is_two(layer_flops, arrays):
    r"""A product of 3 × 4 by 4 × 5 counts 120, so n = d = 64 gives 2,097,152 and 1,048,576

    $8 n d^2$ for the four projections, $4 n^2 d$ for scores and weighted sums together.
    """
    projections, scores, values, _ = layer_flops(64, 64, 4, 256, 2)
    hint = "a multiplication and an addition: how many operations?"
    expect_equal(got=projections, expected=2_097_152, hint=hint)
    expect_equal(got=scores + values, expected=1_048_576, hint=hint)


def test_heads_do_not_matter(layer_flops, arrays):
    r"""One, two, four or eight heads: the same counts

    $h$ heads of width $d/h$ have the products of one head of width $d$.
    """
    n, d, d_ff = 5, 8, 11
    one = layer_flops(n, d, 1, d_ff, 2)
    expect_equal(got=one[0], expected=8 * n * d * d, hint="are all four projections there?")
    for heads in (2, 4, 8):
        expect_parts(
            layer_flops(n, d, heads, d_ff, 2),
            tuple(int(part) for part in one),
            "how wide is one head when there are several?",
        )


def test_gated_has_three(layer_flops, arrays):
    r"""A gated feed-forward part has three matrices and costs half as much again

    $2 m\,n\,d\,d_{\mathit{ff}}$ for $m$ matrices.
    """
    n, d, heads, d_ff = shapes(arrays)
    plain, gated = layer_flops(n, d, heads, d_ff, 2)[3], layer_flops(n, d, heads, d_ff, 3)[3]
    hint = "where does the number of matrices enter?"
    expect_equal(got=plain, expected=4 * n * d * d_ff, hint=hint)
    expect_equal(got=gated, expected=6 * n * d * d_ff, hint=hint)


@hidden
def test_twice_the_tokens(layer_flops, arrays):
    r"""Twice the tokens: scores and weighted sums four times, the rest twice

    $n^2$ pairs against $n$ tokens.
    """
    n, d, heads, d_ff = shapes(arrays)
    once, twice = layer_flops(n, d, heads, d_ff, 2), layer_flops(2 * n, d, heads, d_ff, 2)
    expected = tuple(factor * int(part) for factor, part in zip((2, 4, 4, 2), once, strict=True))
    expect_equal(got=int(once[0]) > 0, expected=True, hint="does a layer cost nothing?")
    expect_parts(twice, expected, "does it happen once for each token, or once for each pair?")


def on_the_island():
    n, d = 4, 4
    return f"four cards of four numbers: {8 * n * d * d} operations for the projections, {4 * n * n * d} for scores and weighted sums: n = d, one third"
