"""One run of the tests: in which library, dtype and device the student's function is called.

Tests live in NumPy's float64. A run takes their arrays over to the student's library and brings the
answer back, so that the same test serves NumPy, torch, a GPU, the page and the grader.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.checking.findings import AuthorError
from course_lib.checking.nested import leaves, map_leaves

TOLERANCE = {"float64": 1e-6, "float32": 2e-5, "float16": 5e-3, "bfloat16": 4e-2}
"""Absolute and relative: wide enough that no right answer is refused over thousands of seeds.

A property about digits says so: it runs in float64 with a slack below one.
"""

DEFAULT_DTYPE = {"numpy": "float64", "torch": "float32"}


@dataclass(frozen=True)
class Run:
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

    def rounded(self, values: np.ndarray) -> np.ndarray:
        """The nearest numbers that this run's dtype can hold, as float64."""
        values = np.asarray(values, dtype=np.float64)
        with np.errstate(over="ignore"):
            if self.dtype == "bfloat16":
                return _to_torch(values, "bfloat16", "cpu").double().numpy()
            return values.astype(self.dtype).astype(np.float64)

    def refuse_unrepresentable(self, value: Any) -> None:
        """The function must get the very numbers that the oracle gets."""
        for leaf in leaves(value):
            if not isinstance(leaf, np.ndarray) or leaf.dtype.kind != "f":
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
        return self._lent(value) if callable(value) else value

    def _lent(self, function: Callable) -> Callable:
        """A function of the test, which lives in NumPy, as one of the student's library."""

        def lent(*args: Any, **kwargs: Any) -> Any:
            try:
                args, kwargs = bring_back((args, kwargs), self.library)
            except WrongKind as kind:
                raise TypeError(f"the function that was handed to yours got {kind}") from None
            return self.send(map_leaves(self._as_held, function(*args, **kwargs)))

        return lent

    def _as_held(self, value: Any) -> Any:
        if isinstance(value, np.ndarray | np.floating) and value.dtype.kind == "f":
            return self.rounded(value)
        return value


class Returned(np.ndarray):
    """An array that came back from the function under test, as float64, with what it was there."""

    dtype_there = device_there = ""

    @classmethod
    def of(cls, values: np.ndarray, dtype: str, device: str = "cpu") -> "Returned":
        returned = values.astype(np.float64 if values.dtype.kind == "f" else values.dtype).view(cls)
        returned.dtype_there, returned.device_there = dtype, device
        return returned


@dataclass(frozen=True)
class Lent:
    """A function of the test that the student's function may call: only its number crosses."""

    number: int


@dataclass(frozen=True)
class Held:
    """A function, or an object of the student's own class, that stays where it was made."""

    what: Any
    """The thing itself, or the name under which another process keeps it."""
    kind: str = "function"


class WrongKind(Exception):
    """The function returned something that no test can use; says what, and what there is to it."""

    def __init__(self, what: str, remark: str = ""):
        super().__init__(what + remark)
        self.what = what


def bring_back(value: Any, library: str) -> Any:
    """Turn what a function returned into NumPy arrays in plain tuples, lists and dicts.

    Also torch.Size and the named pair of x.max(-1). Raises WrongKind for what no test can read.
    """
    return map_leaves(lambda leaf: _bring_leaf_back(leaf, library), value, plain=True)


def _bring_leaf_back(value: Any, library: str) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if library == "numpy":
            raise WrongKind("a torch tensor", ', although the answer says library = "numpy"')
        there = value.detach()
        dtype, device = str(there.dtype).removeprefix("torch."), there.device.type
        if there.dtype.is_complex:
            raise WrongKind(f"a tensor of dtype {dtype}")
        if there.layout != torch.strided:
            raise WrongKind("a tensor that is not dense")
        if device == "meta":
            raise WrongKind("a tensor without values", ", on the device meta")
        there = there.double() if there.dtype.is_floating_point else there
        return Returned.of(there.cpu().resolve_neg().numpy(), dtype, device)
    if isinstance(value, np.ma.MaskedArray):
        raise WrongKind("a masked array")
    if isinstance(value, (np.ndarray, np.generic)):
        if library == "torch" and isinstance(value, np.ndarray):
            raise WrongKind("a NumPy array", ', although the answer says library = "torch"')
        if value.dtype.kind not in "fiub":
            raise WrongKind(f"an array of dtype {value.dtype}")
        return Returned.of(np.asarray(value), str(value.dtype))
    if isinstance(value, (bool, int, float)):
        return Returned.of(np.asarray(value), f"a Python {type(value).__name__}")
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "__next__"):
        raise WrongKind("a generator", ": is there a yield where a return was meant?")
    if callable(value):
        return Held(value)
    if type(value).__module__ == "__main__":  # of a class that the student wrote
        return Held(value, type(value).__name__)
    raise WrongKind(f"a {type(value).__name__}")


def _to_torch(values: np.ndarray, dtype: str | None, device: str) -> Any:
    import torch

    tensor = torch.from_numpy(np.array(values, copy=True))
    return tensor.to(device=device, dtype=getattr(torch, dtype) if dtype else tensor.dtype)
