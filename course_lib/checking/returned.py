"""What a student's function returned, as NumPy arrays in plain containers."""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.checking.nested import map_leaves


class Returned(np.ndarray):
    """An array that came back from the function under test, as float64, with what it was there."""

    dtype_there = device_there = ""

    @classmethod
    def of(cls, values: np.ndarray, dtype: str, device: str = "cpu") -> "Returned":
        returned = values.astype(np.float64 if values.dtype.kind == "f" else values.dtype).view(cls)
        returned.dtype_there, returned.device_there = dtype, device
        return returned


@dataclass(frozen=True)
class Callback:
    """A function of the test that the student's function may call: only its number crosses."""

    number: int


@dataclass(frozen=True)
class Handle:
    """A function, or an object of the student's own class, that stays where it was made."""

    what: Any
    """The thing itself, or the name under which another process keeps it."""
    kind: str = "function"


class Unusable(Exception):
    """The function returned something that no test can use; says what, and what there is to it."""

    def __init__(self, what: str, remark: str = ""):
        super().__init__(what + remark)
        self.what = what


def bring_back(value: Any, library: str) -> Any:
    """Turn what a function returned into NumPy arrays in plain tuples, lists and dicts.

    Also torch.Size and the named pair of x.max(-1). Raises Unusable for what no test can read.
    """
    return map_leaves(lambda leaf: _bring_leaf_back(leaf, library), value, plain=True)


def _bring_leaf_back(value: Any, library: str) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        if library == "numpy":
            raise Unusable("a torch tensor", ', although the answer says library = "numpy"')
        there = value.detach()
        dtype, device = str(there.dtype).removeprefix("torch."), there.device.type
        if there.dtype.is_complex:
            raise Unusable(f"a tensor of dtype {dtype}")
        if there.layout != torch.strided:
            raise Unusable("a tensor that is not dense")
        if device == "meta":
            raise Unusable("a tensor without values", ", on the device meta")
        there = there.double() if there.dtype.is_floating_point else there
        return Returned.of(there.cpu().resolve_neg().numpy(), dtype, device)
    masked = sys.modules.get("numpy.ma")  # slow to import, and there if it was used
    if masked and isinstance(value, masked.MaskedArray):
        raise Unusable("a masked array")
    if isinstance(value, (np.ndarray, np.generic)):
        if library == "torch" and isinstance(value, np.ndarray):
            raise Unusable("a NumPy array", ', although the answer says library = "torch"')
        if value.dtype.kind not in "fiub":
            raise Unusable(f"an array of dtype {value.dtype}")
        return Returned.of(np.asarray(value), str(value.dtype))
    if isinstance(value, (bool, int, float)):
        return Returned.of(np.asarray(value), f"a Python {type(value).__name__}")
    if value is None or isinstance(value, str):
        return value
    if hasattr(value, "__next__"):
        raise Unusable("a generator", ": is there a yield where a return was meant?")
    if callable(value):
        return Handle(value)
    if type(value).__module__ == "__main__":  # of a class that the student wrote
        return Handle(value, type(value).__name__)
    raise Unusable(f"a {type(value).__name__}")
