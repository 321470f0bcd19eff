import torch
from torch.utils.flop_counter import FlopCounterMode

from course_lib.checking import oracle


def _counted(*products):
    """Let torch count products of arrays that have a shape and no content."""
    with FlopCounterMode(display=False) as counter:
        for left, right in products:
            torch.empty(left, device="meta") @ torch.empty(right, device="meta")
    return counter.get_total_flops()


@oracle
def by_the_counter(n, d, heads, d_ff, ffn_matrices):
    """Every product written down, none computed, all counted."""
    d_head = d // heads
    ways = [((n, d), (d, d_ff))] * (ffn_matrices - 1) + [((n, d_ff), (d_ff, d))]
    return (
        _counted(*[((n, d), (d, d))] * 4),
        _counted(((heads, n, d_head), (heads, d_head, n))),
        _counted(((heads, n, n), (heads, n, d_head))),
        _counted(*ways),
    )


def head_by_head(n, d, heads, d_ff, ffn_matrices):
    """Entry by entry of each result: as many multiply-adds as the inner width."""
    scores = sum(2 * n * n * (d // heads) for _ in range(heads))
    values = sum(2 * n * (d // heads) * n for _ in range(heads))
    return 4 * n * d * 2 * d, scores, values, sum(2 * n * d * d_ff for _ in range(ffn_matrices))


def token_by_token(n, d, heads, d_ff, ffn_matrices):
    """Two operations for each weight and token, and for each number met in each pair."""
    weights = 4 * d * d
    meetings = n * n
    return 2 * weights * n, 2 * d * meetings, 2 * d * meetings, 2 * n * ffn_matrices * d_ff * d
