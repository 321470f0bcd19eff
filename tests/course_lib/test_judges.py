"""Every formula against another implementation of it, on generated shapes."""

import pytest

from tests.course_lib.cases import half_precision_errors, worst_errors
from tests.course_lib.comparing import TIMES_TORCH
from tests.course_lib.judges import CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agrees_with_its_judge(case):
    r"""$|f(x) - \mathrm{judge}(x)|$ is within the tolerance of the dtype, and so are gradients."""
    assert worst_errors(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_low_precision_costs_no_more_than_in_torch(case):
    r"""The error in float16 and bfloat16 is at most twice that of torch's own operation."""
    for dtype, (ours, theirs) in half_precision_errors(case).items():
        assert ours <= TIMES_TORCH * theirs, f"{dtype}: error {ours:.2g}, torch's own {theirs:.2g}"
