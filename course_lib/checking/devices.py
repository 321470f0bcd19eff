"""GPU without a GPU: replay a torch function on the `meta` device and see what would break.

meta alone lets matmul, linear and einsum mix devices and rejects right code that reads a value, so
the mixing is judged here, operation by operation.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

READS_VALUES = (
    "_local_scalar_dense",
    "item",
    "nonzero",
    "is_nonzero",
    "equal",
    "unique",
    "_unique2",
    "masked_select",
    "allclose",
    "bincount",
    "repeat_interleave",
    "unique_consecutive",
    "unique_dim",
)
MAY_MIX = ("index", "index_put", "index_put_", "_index_put_impl_", "copy_", "_to_copy")


class DeviceSlip(Exception):
    """An operation met tensors of two devices."""


class NeedsValues(Exception):
    """The function looks at a number, which meta tensors do not have."""


class _Watch(TorchDispatchMode):
    """One that no compiler need know of."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch's

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Or the first operation would load all of torch's compiler: two seconds, 70 MB."""
        return False


class _Judge(_Watch):
    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = operation.overloadpacket.__name__
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        on_meta = [tensor for tensor in tensors if tensor.device.type == "meta"]
        if on_meta and name in READS_VALUES:
            raise NeedsValues(name)
        if name in ("index", "index_put", "index_put_") and _selects_by_mask(args):
            if name == "index_put_" and args[2].ndim == 0:
                return args[0]  # one number for every entry: how many there are does not matter
            raise NeedsValues(name)
        elsewhere = [tensor for tensor in tensors if tensor.device.type != "meta" and tensor.ndim]
        if on_meta and elsewhere and name not in MAY_MIX:
            raise DeviceSlip(
                f"`{name}` met a tensor made on the CPU, of shape {tuple(elsewhere[0].shape)}"
            )
        if name in ("copy_", "index_put_") and on_meta and args[0].device.type != "meta":
            shape = tuple(args[0].shape)
            raise DeviceSlip(
                f"a result was written into a tensor made on the CPU, of shape {shape}"
            )
        return operation(*args, **kwargs)


def _selects_by_mask(args: tuple) -> bool:
    indices = tree_leaves(args[1]) if len(args) > 1 else []
    return any(
        isinstance(i, torch.Tensor) and i.dtype == torch.bool and i.device.type == "meta"
        for i in indices
    )


@dataclass(frozen=True)
class DeviceIssue:
    """Why a function may not run on a GPU, as it is told to students."""

    words: str
    certain: bool

    def __str__(self) -> str:
        return self.words


def fails(reason: object) -> DeviceIssue:
    return DeviceIssue(f"on a GPU this would fail: {reason}", certain=True)


def unknown(reason: str = "") -> DeviceIssue:
    return DeviceIssue(f"whether it runs on a GPU is not checkable here{reason}", certain=False)


def replay_on_meta(
    function: Callable, arguments: list[tuple[tuple, dict]], dtype: str
) -> DeviceIssue | None:
    """Say what would break on a GPU or cannot be told here; None when nothing was found."""
    to_meta = _to_meta(getattr(torch, dtype))
    calls = (_replay(function, *tree_map(to_meta, call)) for call in arguments)
    return surest([issue for issue in calls if issue])


def surest(issues: list[DeviceIssue]) -> DeviceIssue | None:
    """What is known to break comes before what cannot be told."""
    return min(issues, key=lambda issue: not issue.certain, default=None)


def _replay(function: Callable, args: tuple, kwargs: dict) -> DeviceIssue | None:
    try:
        with _Judge():
            result = function(*args, **kwargs)
    except DeviceSlip as slip:
        return fails(slip)
    except (NeedsValues, NotImplementedError):
        return unknown(": it looks at values")
    except Exception as error:
        if "device type" in str(error):  # torch's own words, before any operation was reached
            words = " ".join(str(error).split()).replace("meta", "cuda")
            return fails(words)
        return unknown()
    leaves = [leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)]
    if any(leaf.device.type != "meta" for leaf in leaves):
        return fails("the result is a tensor made on the CPU")
    return None


def _to_meta(dtype: torch.dtype) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        tensor = torch.from_numpy(np.ascontiguousarray(value))
        return tensor.to("meta", dtype if tensor.dtype.is_floating_point else tensor.dtype)

    return convert


class _Largest(_Watch):
    nbytes = 0

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = operation(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self.nbytes = max(self.nbytes, leaf.untyped_storage().nbytes())
        return result


@contextlib.contextmanager
def largest_tensor() -> Iterator[_Largest]:
    """Watch every torch operation and keep the size of the largest buffer that one of them made."""
    with _Largest() as largest:
        yield largest
