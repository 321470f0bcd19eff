from course_lib.checking import core, expect_equal, hidden


def sizes(arrays):
    """Six sizes, all different: batch, n, layers, d, d_ff, vocab."""
    return [int(size) for size in 2 + arrays.permutation(9)[:6]]


@core
def test_the_counted_model(training_flops, arrays):
    r"""Every count is that of torch's counter over the products, forward and backward

    For instance batch 2, 3 layers, d = 64, width 256, 1,000 words: 41,779,200 at n = 16.
    """
    hint = "which products does one step contain, and how often is each of them done?"
    for n, expected in ((16, 41_779_200), (64, 181_272_576), (256, 951_582_720)):
        expect_equal(got=training_flops(2, n, 3, 64, 256, 1000), expected=expected, hint=hint)
    for _ in range(2):
        asked = sizes(arrays)
        expect_equal(got=training_flops(*asked), expected=arrays.oracle(*asked), hint=hint)


def test_twice_the_batch(training_flops, arrays):
    r"""Twice the batch, twice the cost

    Texts do not look at each other.
    """
    batch, *others = sizes(arrays)
    once = int(training_flops(batch, *others))
    expect_equal(got=once > 0, expected=True, hint="does a step cost nothing?")
    expect_equal(
        got=training_flops(2 * batch, *others),
        expected=2 * once,
        hint="do tokens of different texts look at each other?",
    )


def test_only_the_output_matrix(training_flops, arrays):
    r"""Without layers there remains the output matrix, three times

    $3 \cdot 2\,n\,d\,V$ for each text.
    """
    batch, n, _, d, d_ff, vocab = sizes(arrays)
    expect_equal(
        got=training_flops(batch, n, 0, d, d_ff, vocab),
        expected=6 * batch * n * d * vocab,
        hint="for Y = X W, which two products does the way back need?",
    )


@hidden
def test_one_more_word(training_flops, arrays):
    r"""A vocabulary larger by one word adds 6 n d for each text: the look-up is free

    Only the output matrix multiplies.
    """
    batch, n, layers, d, d_ff, vocab = sizes(arrays)
    before = int(training_flops(batch, n, layers, d, d_ff, vocab))
    expect_equal(
        got=training_flops(batch, n, layers, d, d_ff, vocab + 1),
        expected=before + 6 * batch * n * d,
        hint="which of the two tables of words is multiplied with, and which is only read?",
    )


@hidden
def test_the_quadratic_term(training_flops, arrays):
    r"""What grows with the square of the length is the scores and weighted sums of every layer

    The second difference in $n$ is $2 \cdot 12\,L\,d$ for each text.
    """
    batch, n, layers, d, d_ff, vocab = sizes(arrays)
    one, two, three = (
        int(training_flops(batch, n + more, layers, d, d_ff, vocab)) for more in range(3)
    )
    expect_equal(
        got=three - 2 * two + one,
        expected=24 * batch * layers * d,
        hint="which products have the length twice among their three sizes?",
    )
