"""The public door: what every function of course_lib checks before its formula begins.

Shapes are written once, in the signature: `enter` reads them there and names what breaks them.
"""

import functools
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj, is_torch_array
from jaxtyping import Float

Array = Any
"""A NumPy array or a torch tensor; shape and kind of number stand in the annotation around it."""

HALF_PRECISION = ("float16", "bfloat16")


def enter(function: Callable[..., Any], **arrays: Any) -> tuple[Any, ...]:
    """Return the array namespace, the dtype of the floats, and the arrays ready to compute with.

    All arrays must be of one library and device, all floats of one dtype, all shapes as in the
    signature of the function; None passes where the signature has it, and a NamedTuple is entered
    field by field. float16 and bfloat16 are computed in float32 and come back by `leave`.
    """
    parts: dict[str, Any] = {}
    for name, value in arrays.items():
        parts |= _parts(name, value, function.__annotations__[name])
    given = {name: x for name, (x, _) in parts.items()}
    must_be_of_one_library(given)
    xp = array_namespace(*given.values())
    for name, (x, kind) in parts.items():
        _must_be_of_kind(name, x, kind.dtypes)
    floats = {name: x for name, x in given.items() if xp.isdtype(x.dtype, "real floating")}
    dtype = _common_dtype(floats)
    _must_fit({name: (x, kind.dim_str) for name, (x, kind) in parts.items()})
    if dtype is not None and name_of(dtype) in HALF_PRECISION:
        given |= {name: xp.astype(x, xp.float32) for name, x in floats.items()}
    return xp, dtype, *(_rebuilt(name, value, given) for name, value in arrays.items())


def leave(x: Array, dtype: Any) -> Array:
    """Return x in the dtype in which the arrays came."""
    return array_namespace(x).astype(x, dtype, copy=False)


def as_like(numbers: np.ndarray, like: Array | None) -> Array:
    """Return the numbers in the library and dtype and on the device of `like`, if there is one."""
    if like is None:
        return numbers
    must_be_of_one_library({"like": like})
    _must_be_of_kind("like", like, _of_array(Float[Array, "..."]).dtypes)
    return array_namespace(like).asarray(numbers, dtype=like.dtype, device=device(like))


def check(claim: bool, message: str) -> None:
    """Raise ValueError unless the claim about the arguments is true."""
    if not claim:
        raise ValueError(message)


def check_axis(name: str, x: Array, axis: int) -> None:
    """Raise unless x has this axis and something along it."""
    if not isinstance(axis, int | np.integer):
        raise TypeError(f"axis is {axis!r}; expected a whole number, one axis of {name}")
    rank = len(x.shape)
    check(
        -rank <= axis < rank,
        f"{name} has shape {shape_of(x)} and no axis {axis}; expected one of its {rank} axes",
    )
    check(
        x.shape[axis] > 0,
        f"{name} has shape {shape_of(x)}: axis {axis} is empty; expected at least one entry",
    )


def name_of(dtype: Any) -> str:
    """Return 'float32' for numpy.float32 as for torch.float32."""
    return str(dtype).removeprefix("torch.")


def shape_of(x: Array) -> tuple[int, ...]:
    """Return the shape as a plain tuple, as it is printed."""
    return tuple(int(size) for size in x.shape)


def _parts(name: str, value: Any, annotation: Any) -> dict[str, tuple[Array, Any]]:
    """Return the arrays inside a value, each under its name and with its annotation."""
    kinds = (annotation, *get_args(annotation))
    if value is None and type(None) in kinds:
        return {}
    expected = next((kind for kind in kinds if hasattr(kind, "_fields")), None)
    if expected is None:
        kind = _of_array(annotation)
        return {name: (value, kind)} if kind else {}
    if getattr(value, "_fields", ()) != expected._fields:
        raise TypeError(f"{name} is {_kind_of(value)}; expected {expected.__name__}")
    parts: dict[str, Any] = {}
    for field in value._fields:
        kind = type(value).__annotations__[field]
        parts |= _parts(f"{name}.{field}", getattr(value, field), kind)
    return parts


def _rebuilt(name: str, value: Any, parts: dict[str, Array]) -> Any:
    if hasattr(value, "_fields"):
        fields = {f: _rebuilt(f"{name}.{f}", x, parts) for f, x in value._asdict().items()}
        return value._replace(**fields)
    return parts.get(name, value)


@functools.cache
def _of_array(annotation: Any) -> Any:
    """Return the annotation of an array, also out of a union with None; None for other types."""
    choices = (annotation, *get_args(annotation))
    return next((choice for choice in choices if hasattr(choice, "dim_str")), None)


def must_be_of_one_library(given: dict[str, Array]) -> None:
    """Raise unless all are arrays, all NumPy or all torch, on one device."""
    (first, x), *others = given.items()
    for name, y in given.items():
        if not is_array_api_obj(y):
            raise TypeError(
                f"{name} is {_kind_of(y)}; expected a NumPy array or a torch tensor:"
                f" numpy.asarray({name}, dtype=float)"
            )
    for name, y in others:
        if is_torch_array(x) != is_torch_array(y):
            raise TypeError(
                f"{first} is a {_library(x)} of shape {shape_of(x)} and {name} a {_library(y)} of"
                f" shape {shape_of(y)}; expected one library: convert one of them, for instance by"
                " torch.from_numpy"
            )
        if device(x) != device(y):
            raise ValueError(
                f"{first} of shape {shape_of(x)} is on {device(x)} and {name} of shape"
                f" {shape_of(y)} on {device(y)}; expected one device: {name}.to({first}.device)"
            )


def _must_be_of_kind(name: str, x: Array, allowed: tuple[str, ...]) -> None:
    dtype = name_of(x.dtype)
    if allowed and dtype not in allowed:
        wanted = next(kind for kind in ("float", "bool", "int") if allowed[-1].startswith(kind))
        cast = f"{name}.{wanted}()" if is_torch_array(x) else f"{name}.astype({wanted})"
        raise TypeError(
            f"{name} of shape {shape_of(x)} has dtype {dtype}; expected {wanted}: {cast}"
        )


def _common_dtype(floats: dict[str, Array]) -> Any:
    if not floats:
        return None
    (first, x), *others = floats.items()
    for name, y in others:
        if x.dtype != y.dtype:
            raise TypeError(
                f"{first} of shape {shape_of(x)} has dtype {name_of(x.dtype)} and {name} of shape"
                f" {shape_of(y)} {name_of(y.dtype)}; expected one dtype for all"
            )
    return x.dtype


def _must_fit(given: dict[str, tuple[Array, str]]) -> None:
    """Compare the shapes with the words of the signature: equal words, equal sizes."""
    sizes: dict[str, tuple[int, str]] = {}
    for name, (x, words) in given.items():
        leading, axes = _split(words)
        rank = len(x.shape)
        fits = rank >= len(axes) if leading else rank == len(axes)
        check(
            fits, f"{name} has shape {shape_of(x)}; expected the axes ({', '.join(words.split())})"
        )
        for axis, size in zip(axes, x.shape[rank - len(axes) :], strict=True):
            check(
                not axis.isdecimal() or size == int(axis),
                f"{name} has shape {shape_of(x)}; expected the axes ({', '.join(words.split())})",
            )
            before, where = sizes.setdefault(axis, (size, name))
            check(
                size == before,
                f"{name} has shape {shape_of(x)}, so {axis} = {size}, but {where} has"
                f" {axis} = {before}; expected one size for {axis}",
            )
    _leading_axes_must_agree(given)


def _leading_axes_must_agree(given: dict[str, tuple[Array, str]]) -> None:
    """Raise unless axes with the mark # broadcast, to those without the mark if there are any."""
    shapes: dict[str, tuple[int, ...]] = {}
    fixed = set()
    for name, (x, words) in given.items():
        leading, axes = _split(words)
        if leading and leading != "...":
            shapes[name] = shape_of(x)[: len(x.shape) - len(axes)]
            fixed |= set() if "#" in leading else {shapes[name]}
    listed = ", ".join(f"{shape} for {name}" for name, shape in shapes.items())
    check(len(fixed) < 2, f"the leading axes are {listed}; expected the same for all")
    try:
        fits = fixed <= {np.broadcast_shapes(*shapes.values())}
    except ValueError:
        fits = False
    check(fits, f"the leading axes are {listed}; expected shapes that broadcast")


@functools.cache
def _split(words: str) -> tuple[str, tuple[str, ...]]:
    """Split '*batch n_q d_k' into the word for any leading axes and the named ones."""
    first, *rest = words.split() or [""]
    if first.startswith("*") or first == "...":
        return first, tuple(rest)
    return "", tuple(words.split())


def _kind_of(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _library(x: Array) -> str:
    return "torch tensor" if is_torch_array(x) else "NumPy array"
