from course_lib import island
from course_lib.checking import core, expect_close, expect_true, hidden


@core
def test_two_of_four(causal_mask, arrays):
    r"""Two queries and four keys: aligned at the start they see 1 and 2 keys, at the end 3 and 4

    start $\begin{pmatrix} 1 & 0 & 0 & 0 \\ 1 & 1 & 0 & 0 \end{pmatrix}$,
    end $\begin{pmatrix} 1 & 1 & 1 & 0 \\ 1 & 1 & 1 & 1 \end{pmatrix}$.
    """
    hint = "beside which key does each query stand, and what does True say?"
    start, end = [[1, 0, 0, 0], [1, 1, 0, 0]], [[1, 1, 1, 0], [1, 1, 1, 1]]
    expect_close(got=1.0 * causal_mask(2, 4, "start"), expected=start, hint=hint)
    expect_close(got=1.0 * causal_mask(2, 4, "end"), expected=end, hint=hint)


def test_square_masks_agree(causal_mask, arrays):
    r"""With as many queries as keys both alignments agree: each sees itself and all before it

    $M_{ij} = [\,j \le i\,]$ for $n_q = n_k$.
    """
    hint = "does a position see itself, and on which side of it is the past?"
    for n in (1, 5, 7):
        expected = [[float(j <= i) for j in range(n)] for i in range(n)]
        for align in ("start", "end"):
            expect_close(got=1.0 * causal_mask(n, n, align), expected=expected, hint=hint)


def test_the_table_holds_booleans(causal_mask, arrays):
    r"""The entries are True and False, not 1 and 0

    Of a table of integers `~` makes -1 and -2, and both count as true.
    """
    for n_q, n_k, align in ((2, 3, "end"), (2, 2, "start"), (1, 1, "end"), (4, 2, "start")):
        got = causal_mask(n_q, n_k, align)
        expect_true(
            got.dtype == bool,
            evidence=f"for ({n_q}, {n_k}, {align!r}) the entries are of dtype {got.dtype}",
            hint="what does a comparison of two arrays return?",
        )


@hidden
def test_the_newest_sees_all(causal_mask, arrays):
    r"""Aligned at the end, the last query sees every key, and queries before the first key see none

    Row $n_q$ is all True; with 5 queries and 3 keys the first two rows are all False.
    """
    hint = "how far is the first query from the first key when the last ones stand side by side?"
    for n_q, n_k in ((3, 7), (5, 3), (1, 5), (4, 1), (2, 9)):
        got = 1.0 * causal_mask(n_q, n_k, "end")
        expect_close(got=got, expected=arrays.oracle(n_q, n_k, "end"), hint=hint)


@hidden
def test_the_oldest_sees_one(causal_mask, arrays):
    r"""Aligned at the start, the first query sees one key, and query i sees i as long as there are keys

    Row $i$ holds $\min(i, n_k)$ times True.
    """
    hint = "does the number of keys move the first query when the first ones stand side by side?"
    for n_q, n_k in ((3, 7), (5, 3), (5, 1), (1, 4), (2, 9)):
        got = 1.0 * causal_mask(n_q, n_k, "start")
        expect_close(got=got, expected=arrays.oracle(n_q, n_k, "start"), hint=hint)


def on_the_island():
    names = island.NAMES
    return (
        f"keys {', '.join(names)}; two queries. From the start: the first sees {names[0]}, the second "
        f"{' and '.join(names[:2])}. To the end: the first sees {', '.join(names[:3])}, the second all four."
    )
