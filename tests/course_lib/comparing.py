"""How results are compared: one table of tolerances, one measure of error."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

TOLERANCE = {"float64": 1e-12, "float32": 1e-5}
"""Largest difference allowed, relative to the largest expected entry or to 1 if that is less."""

CENTRAL_DIFFERENCE = 1e-7
"""Relative error of a central difference in float64 that is due to the method."""

TIMES_TORCH = 2
"""float16 and bfloat16: at most this many times the error of torch's own operation."""


def error(got: Any, expected: Any) -> float:
    """Return the largest difference between two nests of arrays; raise if the shapes differ."""
    pairs = list(zip(leaves(got), leaves(expected), strict=True))
    return max((_error(as_float64(a), as_float64(b)) for a, b in pairs), default=0.0)


def assert_close(got: Any, expected: Any, dtype: str = "float64") -> None:
    """Raise unless the results agree to the tolerance of the dtype."""
    difference = error(got, expected)
    allowed = TOLERANCE[dtype]
    assert difference <= allowed, (
        f"differs by {difference:.2g}, allowed {allowed}:\ngot\n{got}\nexpected\n{expected}"
    )


def leaves(nest: Any) -> Iterator[Any]:
    """Yield the arrays and numbers of a nest of tuples, in order; None is not one of them."""
    if isinstance(nest, tuple):
        for part in nest:
            yield from leaves(part)
    elif nest is not None:
        yield nest


def as_float64(x: Any) -> np.ndarray:
    if isinstance(x, torch.Tensor):
        x = x.detach().to(torch.float64) if x.is_floating_point() else x.detach()
        return np.asarray(x.cpu())
    return np.asarray(x)


def _error(got: np.ndarray, expected: np.ndarray) -> float:
    assert got.shape == expected.shape, f"shape {got.shape}, expected {expected.shape}"
    if got.size == 0:
        return 0.0
    if expected.dtype == bool or expected.dtype.kind == "i":
        return 0.0 if np.array_equal(got, expected) else np.inf
    finite = np.isfinite(expected)
    if not np.array_equal(np.where(finite, 0, got), np.where(finite, 0, expected), equal_nan=True):
        return np.inf
    scale = max(1.0, float(np.abs(expected[finite]).max(initial=0.0)))
    return float(np.abs(got[finite] - expected[finite]).max(initial=0.0)) / scale


def assert_digits(got: Any, printed: Any, digits: int) -> None:
    """Raise unless the numbers round to the printed ones: half a unit of the last digit."""
    got, printed = as_float64(got), np.asarray(printed)
    assert got.shape == printed.shape, f"shape {got.shape}, printed {printed.shape}"
    worst = np.abs(got - printed).max(initial=0.0)
    assert worst <= 0.5000001 * 10.0**-digits, (
        f"got\n{got}\nprinted with {digits} digits\n{printed}"
    )
