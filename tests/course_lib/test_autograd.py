"""torch's autograd passes every formula that has a derivative, and finds the right one."""

import pytest
import torch

from tests.course_lib.cases import leaves, map_arrays, normal, one_example
from tests.course_lib.checked import course_lib as lib
from tests.course_lib.comparing import assert_close
from tests.course_lib.judges import CASES


def floats_in(arguments: dict) -> list[torch.Tensor]:
    found = []
    map_arrays(arguments, lambda x: found.append(x) or x)
    return [x for x in found if x.is_floating_point()]


NOT_DIFFERENTIABLE = {"boolean_mask"}
"""A truth value has no slope."""

OF_FLOATS = [
    case
    for case in CASES
    if not case.takes_like and case.name not in NOT_DIFFERENTIABLE and floats_in(one_example(case))
]


@pytest.mark.parametrize("case", OF_FLOATS, ids=lambda case: case.name)
def test_autograd_agrees_with_central_differences(case):
    r"""$u^\top J v$ for random $u$, $v$: finite entries of all results, all floats given."""
    arguments = one_example(case, choice=1)

    def function(*floats):
        rest = iter(floats)
        changed = map_arrays(arguments, lambda x: next(rest) if x.is_floating_point() else x)
        results = [y for y in leaves(getattr(lib, case.name)(**changed)) if y.is_floating_point()]
        assert all(y.requires_grad for y in results)
        return tuple(torch.where(y.isfinite(), y, 0.0) for y in results)

    floats = [x.clone().requires_grad_() for x in floats_in(arguments)]
    assert torch.autograd.gradcheck(function, floats, fast_mode=True)


@pytest.mark.parametrize(
    "length",
    [
        lambda V: lib.value_weighted(torch.ones(1, 3).double(), V * 0),
        lambda V: lib.distance_to_consensus(V[:1]),
        lambda V: lib.distance_to_consensus(V * 0),
        lambda V: lib.equal_length_keys(V, V[:1])[1],
        lambda V: lib.cosine_scores(V * 0, V),
    ],
    ids=["values", "one token", "no token", "longest key", "cosine"],
)
def test_slopes_at_length_zero_are_zero_or_finite(length):
    r"""$\sqrt 0$ has slope infinity; a length has slope 0 there, as in torch's norms."""
    V = torch.from_numpy(normal(3, 2)).requires_grad_()
    (gradient,) = torch.autograd.grad(length(V).sum(), V)
    assert torch.isfinite(gradient).all()


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_blocks_let_forward_mode_and_vmap_through():
    """Blocks are computed in place, which other transforms of torch must survive."""
    X = torch.from_numpy(normal(2, 5, 3))

    def blocks(X):
        return lib.blockwise_attention(X, X, X, block_q=2, block_k=2)

    def formula(X):
        return lib.scaled_dot_product_attention(X, X, X)

    assert_close(torch.func.jacfwd(blocks)(X[0]), torch.func.jacrev(formula)(X[0]))
    assert_close(torch.func.vmap(blocks)(X), formula(X))
