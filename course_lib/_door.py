"""The public door: what every function of course_lib checks before its formula begins."""

from typing import Any

from array_api_compat import array_namespace, device, is_array_api_obj, is_torch_array

Array = Any
"""A NumPy array or a torch tensor; the shape and kind of number stand in the annotation."""

HALF_PRECISION = ("float16", "bfloat16")


def enter(**arrays: Array | None) -> tuple:
    """Return the array namespace, the dtype of the arrays, and the arrays ready to compute with.

    All must be floating-point arrays of one library, device and dtype; None passes through.
    float16 and bfloat16 are computed in float32: pair `enter` with `leave`.
    """
    given = {name: x for name, x in arrays.items() if x is not None}
    for name, x in given.items():
        _must_be_array(name, x)
    _must_agree(given)
    xp = array_namespace(*given.values())
    for name, x in given.items():
        if not xp.isdtype(x.dtype, "real floating"):
            raise TypeError(
                f"{name} has dtype {name_of(x.dtype)}; expected float: {_cast(name, x)}"
            )
    dtype = next(iter(given.values())).dtype
    if name_of(dtype) in HALF_PRECISION:
        given = {name: xp.astype(x, xp.float32) for name, x in given.items()}
    return xp, dtype, *(given.get(name) for name in arrays)


def leave(x: Array, dtype: Any) -> Array:
    """Return x in the dtype in which the arrays came."""
    return array_namespace(x).astype(x, dtype, copy=False)


def name_of(dtype: Any) -> str:
    """Return 'float32' for numpy.float32 as for torch.float32."""
    return str(dtype).removeprefix("torch.")


def check(claim: bool, message: str) -> None:
    """Raise ValueError unless the claim about the shapes is true."""
    if not claim:
        raise ValueError(message)


def check_axis(name: str, x: Array, axis: int) -> None:
    """Raise unless x has this axis and something along it."""
    rank = len(x.shape)
    check(
        -rank <= axis < rank,
        f"{name} has shape {tuple(x.shape)} and no axis {axis}; expected one of its {rank} axes",
    )
    check(
        x.shape[axis] > 0,
        f"{name} has shape {tuple(x.shape)}: axis {axis} is empty, and no entries have no weights",
    )


def _must_be_array(name: str, x: Array) -> None:
    if not is_array_api_obj(x):
        raise TypeError(
            f"{name} is a {type(x).__name__}; expected a NumPy array or a torch tensor:"
            f" numpy.asarray({name}, dtype=float)"
        )


def _must_agree(given: dict[str, Array]) -> None:
    first, x = next(iter(given.items()))
    for name, y in given.items():
        if is_torch_array(x) != is_torch_array(y):
            raise TypeError(
                f"{first} is a {_kind(x)} and {name} a {_kind(y)}: give both as one or the other"
            )
        if device(x) != device(y):
            raise ValueError(
                f"{first} is on {device(x)} and {name} on {device(y)}:"
                f" move one of them, {name}.to({first}.device)"
            )
        if x.dtype != y.dtype:
            raise TypeError(
                f"{first} has dtype {name_of(x.dtype)} and {name} {name_of(y.dtype)}:"
                " give all in one dtype"
            )


def _kind(x: Array) -> str:
    return "torch tensor" if is_torch_array(x) else "NumPy array"


def _cast(name: str, x: Array) -> str:
    return f"{name}.float()" if is_torch_array(x) else f"{name}.astype(float)"
