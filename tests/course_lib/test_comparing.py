"""The judges' own tools: each must refuse what is wrong."""

import dataclasses

import numpy as np
import pytest
import torch

from tests.course_lib import cases
from tests.course_lib.cases import half_precision_errors, worst_errors
from tests.course_lib.comparing import TIMES_TORCH, assert_close, assert_digits
from tests.course_lib.judges import CASES

BY_NAME = {case.name: case for case in CASES}


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (np.zeros(3), np.zeros((1, 3))),
        (np.zeros(3), np.array(0.0)),
        (np.array([np.nan]), np.array([0.0])),
        (np.array([0.0]), np.array([np.nan])),
        (np.array([np.inf]), np.array([-np.inf])),
        (np.array([1e9]), np.array([np.inf])),
        (np.array([1 + 3e-12]), np.array([1.0])),
        (np.array([1e3 + 3e-9]), np.array([1e3])),
        (np.array([True, False]), np.array([True, True])),
        ((np.zeros(2), np.ones(2)), (np.zeros(2), np.zeros(2))),
    ],
)
def test_differences_are_seen(got, expected):
    """Shapes, NaN, infinities, small differences, booleans, any part of a tuple."""
    with pytest.raises(AssertionError):
        assert_close(got, expected)


def test_a_missing_part_is_seen():
    with pytest.raises(ValueError, match="zip"):
        assert_close((np.zeros(2),), (np.zeros(2), np.zeros(2)))


def test_equal_things_pass():
    """NaN beside NaN, infinity beside infinity, nothing beside nothing, across libraries."""
    special = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert_close(special, torch.from_numpy(special))
    assert_close(np.zeros((0, 3)), np.zeros((0, 3)))


def test_digits_are_half_a_unit():
    assert_digits(1.355, 1.36, 2)
    with pytest.raises(AssertionError):
        assert_digits(1.354, 1.36, 2)
    with pytest.raises(AssertionError, match="shape"):
        assert_digits(np.zeros(2), 0.0, 2)


def _mutant(monkeypatch, name, change):
    """Put a changed copy of a function in the place of the right one."""
    right = getattr(cases.course_lib, name)
    monkeypatch.setattr(cases.course_lib, name, lambda *a, **k: change(right, *a, **k))
    return BY_NAME[name]


def _in_double(f, x, axis):
    return f(x.astype(np.float64) if isinstance(x, np.ndarray) else x.double(), axis)


def _aligned_from_the_start(f, n_q, n_k, like):
    return cases.course_lib.causal_from_start(n_q, n_k, like)


MUTANTS = {
    "axis": ("softmax", lambda f, x, axis: f(x, -1), "differs"),
    "eleventh digit": ("softmax", lambda f, x, axis: f(x, axis) * (1 + 1e-11), "differs"),
    "library": ("softmax", lambda f, x, axis: np.asarray(f(x, axis)), "another library"),
    "dtype": ("softmax", _in_double, "float64"),
    "input": ("boolean_mask", lambda f, additive: f(additive.__iadd__(1)), "an input was changed"),
    "shape": ("relu", lambda f, x: f(x)[..., :1], "shape"),
    "gradient": ("gelu", lambda f, x: f(getattr(x, "detach", lambda: x)()), "differs"),
    "alignment": ("causal_to_end", _aligned_from_the_start, "differs"),
    "scale": ("blockwise_attention", lambda f, **o: f(**o | {"scale": None}), "differs"),
    "layout": ("rotary", lambda f, X, start, layout: f(X, start, "pairs"), "differs"),
}


@pytest.mark.parametrize(("name", "change", "complaint"), MUTANTS.values(), ids=MUTANTS)
def test_a_changed_formula_is_refused(monkeypatch, name, change, complaint):
    """One wrong thing at a time."""
    case = _mutant(monkeypatch, name, change)
    with pytest.raises(AssertionError, match=complaint):
        worst_errors(case)


def test_rounding_on_the_way_is_refused(monkeypatch):
    """Attention to values rounded to eight bits costs more than torch's in float16."""

    def coarse(right, value, **options):
        eight_bits = torch.as_tensor(value).to(torch.bfloat16).to(torch.as_tensor(value).dtype)
        rounded = eight_bits if isinstance(value, torch.Tensor) else eight_bits.numpy()
        return right(value=rounded, **options)

    case = _mutant(monkeypatch, "scaled_dot_product_attention", coarse)
    ours, theirs = half_precision_errors(case)["float16"]
    assert ours > TIMES_TORCH * theirs


def test_another_formula_is_refused():
    """Entropy in bits is not entropy in nats."""
    wrong = dataclasses.replace(BY_NAME["entropy"], judge=lambda p: -(p * torch.log2(p)).sum(-1))
    with pytest.raises(AssertionError, match="differs"):
        worst_errors(wrong)
