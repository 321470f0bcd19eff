"""GPU without a GPU: replay a torch function on the `meta` device and see what would break.

meta alone lets matmul, linear and einsum mix devices and rejects right code that reads a value, so the
mixing is judged here, operation by operation.
"""

import contextlib
from collections.abc import Callable, Iterator
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


class _Judge(TorchDispatchMode):
    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
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


def replay_on_meta(
    function: Callable, arguments: list[tuple[tuple, dict]], dtype: str
) -> str | None:
    """Say what would break on a GPU, or that it cannot be told here; None when nothing was found."""
    to_meta = _to_meta(getattr(torch, dtype))
    for args, kwargs in arguments:
        try:
            with _Judge():
                result = function(*tree_map(to_meta, args), **tree_map(to_meta, kwargs))
        except DeviceSlip as slip:
            return f"on a GPU this would fail: {slip}"
        except (NeedsValues, NotImplementedError):
            return "whether it runs on a GPU is not checkable here: it looks at values"
        except Exception as error:
            if "device type" in str(error):  # torch's own words, before any operation was reached
                words = " ".join(str(error).split()).replace("meta", "cuda")
                return f"on a GPU this would fail: {words}"
            return "whether it runs on a GPU is not checkable here"
        strays = [
            leaf
            for leaf in tree_leaves(result)
            if isinstance(leaf, torch.Tensor) and leaf.device.type != "meta"
        ]
        if strays:
            return "on a GPU this would fail: the result is a tensor made on the CPU"
    return None


def _to_meta(dtype: torch.dtype) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        tensor = torch.from_numpy(np.ascontiguousarray(value))
        return tensor.to("meta", dtype if tensor.dtype.is_floating_point else tensor.dtype)

    return convert


class _Largest(TorchDispatchMode):
    nbytes = 0

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
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
