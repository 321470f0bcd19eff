"""In which library, dtype and device the student's function is called, and from which seed.

Tests live in NumPy's float64. A setting takes their arrays over to the student's library and brings
the answer back, so that the same test serves NumPy, torch, a GPU, the page and the grader.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.checking.findings import AuthorError
from course_lib.checking.nested import leaves, map_leaves
from course_lib.checking.returned import Unusable, bring_back

TOLERANCE = {"float64": 1e-6, "float32": 2e-5, "float16": 5e-3, "bfloat16": 4e-2}
"""Absolute and relative: wide enough that no right answer is refused over thousands of seeds.

A property about digits says so: it runs in float64 with a slack below one.
"""

DEFAULT_DTYPE = {"numpy": "float64", "torch": "float32"}


@dataclass(frozen=True)
class Setting:
    """Where and in which precision the function under test is called."""

    library: str = "numpy"
    dtype: str = "float64"
    device: str = "cpu"
    seed: int = 0

    def __str__(self) -> str:
        return (
            f"{self.library} {self.dtype}"
            if self.library == "numpy"
            else f"torch {self.device} {self.dtype}"
        )

    @property
    def tolerance(self) -> float:
        return TOLERANCE[self.dtype]

    def rounded(self, values: Any) -> np.ndarray:
        """The nearest numbers that this setting's dtype can hold, as float64."""
        exact = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            if self.dtype == "bfloat16":
                through_torch: np.ndarray = _to_torch(exact, "bfloat16", "cpu").double().numpy()
                return through_torch
            return exact.astype(self.dtype).astype(np.float64)

    def refuse_unrepresentable(self, value: Any) -> None:
        """The function must get the very numbers that the oracle gets."""
        for leaf in leaves(value):
            if not isinstance(leaf, np.ndarray) or leaf.dtype.kind != "f":
                continue
            if self.dtype == "float64" and leaf.dtype.itemsize <= 8:
                continue
            if not np.array_equal(self.rounded(leaf), leaf, equal_nan=True):
                raise AuthorError(
                    f"an argument is not representable in {self.dtype}: the function would get "
                    "other numbers than the oracle; pass it through arrays.rounded(...)"
                )

    def send(self, value: Any) -> Any:
        """Take a test's argument over to the student's library, freshly copied.

        A NamedTuple arrives as a plain tuple, as it does where another process calls.
        """
        return map_leaves(self._send_leaf, value, plain=True)

    def _send_leaf(self, value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            if self.library == "torch":
                return _to_torch(value, self.dtype, self.device)
            return value.astype(self.dtype, copy=True)
        if isinstance(value, np.ndarray):
            return _to_torch(value, None, self.device) if self.library == "torch" else value.copy()
        return self._callback(value) if callable(value) else value

    def _callback(self, function: Callable) -> Callable:
        """A function of the test, which lives in NumPy, as one of the student's library."""

        def callback(*args: Any, **kwargs: Any) -> Any:
            try:
                args, kwargs = bring_back((args, kwargs), self.library)
            except Unusable as reason:
                words = f"the function that was handed to yours got {reason}"
                raise TypeError(words) from None
            return self.send(map_leaves(self._as_sent, function(*args, **kwargs)))

        return callback

    def _as_sent(self, value: Any) -> Any:
        if isinstance(value, np.ndarray | np.floating) and value.dtype.kind == "f":
            return self.rounded(value)
        return value


def _to_torch(values: np.ndarray, dtype: str | None, device: str) -> Any:
    import torch

    tensor = torch.from_numpy(np.array(values, copy=True))
    return tensor.to(device=device, dtype=getattr(torch, dtype) if dtype else tensor.dtype)
