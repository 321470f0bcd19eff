"""Published weights: where they come from, and how they are kept in a file of bytes.

`course models` fetches them once and writes, below `FOLDER`, a folder for each model: the weights
as float32, the weights as int8, and the vocabulary. Git and the wheel hold none of these.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from jaxtyping import Float, Int8

from course_lib._door import check

FOLDER = Path(__file__).resolve().parents[1] / "_build" / "models"
VOCABULARY, SUFFIX = "vocabulary.json", ".safetensors"
KINDS = {"F32": "<f4", "F16": "<f2", "I8": "<i1"}
EMBEDDINGS = ("tokens", "positions")
"""Tables that are read by rows; all other matrices have an output in each column."""
SHORTCUT = "widen"
"""A matrix in the residual stream, whose errors nothing corrects: it is kept as float16."""

Precision = Literal["int8", "float32"]
Weights = TypeVar("Weights", bound=tuple)


class Source(NamedTuple):
    """Where a model comes from and who may use it how: facts for the page that shows it."""

    name: str
    """Of its folder below `FOLDER`."""
    title: str
    paper: str
    trained_by: str
    licence: str
    registry: Literal["npm", "PyPI"]
    package: str
    """Name and version, as the registry's own program takes them."""
    sha256: str
    """Of the package's file."""
    numbers: int
    """How many the model has."""


def read_weights(
    kind: type[Weights],
    source: Source,
    precision: Precision = "int8",
    dtype: str = "float32",
    folder: Path | None = None,
) -> Weights:
    """Return the published weights as a `kind`, a NamedTuple of arrays and NamedTuples.

    `precision` says which file is read, `dtype` in which floats the model then computes. Raises
    FileNotFoundError with the command to type where the weights have not been fetched.
    """
    check(precision in get_args(Precision), f"precision is {precision!r}; expected int8 or float32")
    check(dtype in ("float32", "float64"), f"dtype is {dtype!r}; expected float32 or float64")
    arrays = read_arrays(_file(source, precision + SUFFIX, folder))
    weights: Weights = _as_tree(kind, arrays, "", dtype)
    return weights


def read_vocabulary(source: Source, folder: Path | None = None) -> list[Any]:
    """Return the entries of the vocabulary in the order of their ids."""
    entries: list[Any] = json.loads(_file(source, VOCABULARY, folder).read_text(encoding="utf-8"))
    return entries


def write_weights(weights: tuple, folder: Path) -> None:
    """Write the weights as float32 and as int8: the opposite of `read_weights`."""
    exact = _as_arrays(weights, "")
    small: dict[str, np.ndarray] = {}
    for name, x in exact.items():
        if x.ndim < 2:
            small[name] = x
        elif name.startswith(SHORTCUT):
            small[name] = x.astype(np.float16)
        else:
            scaled = quantise(x, by_row=name.endswith(EMBEDDINGS))
            small |= dict(zip((name, f"{name}.rows", f"{name}.columns"), scaled, strict=True))
    write_arrays(folder / f"float32{SUFFIX}", exact)
    write_arrays(folder / f"int8{SUFFIX}", small)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a file in the safetensors format."""
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    arrays = {}
    for name, entry in json.loads(raw[8:start]).items():
        begin, end = (start + offset for offset in entry["data_offsets"])
        numbers = np.frombuffer(raw[begin:end], KINDS[entry["dtype"]])
        arrays[name] = numbers.reshape(entry["shape"])
    return arrays


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write the safetensors format: the header's length, the header in JSON, raw numbers.

    Wide numbers come first, so that each array begins where JavaScript can map it.
    """
    names = {np.dtype(kind): name for name, kind in KINDS.items()}
    ordered = sorted(arrays.items(), key=lambda item: -item[1].itemsize)
    header: dict[str, Any] = {}
    end = 0
    for name, x in ordered:
        begin, end = end, end + x.nbytes
        header[name] = {"dtype": names[x.dtype], "shape": x.shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    numbers = (x.tobytes() for _, x in ordered)
    path.write_bytes(b"".join([len(text).to_bytes(8, "little"), text, *numbers]))


def quantise(
    W: Float[np.ndarray, "rows columns"], by_row: bool
) -> tuple[
    Int8[np.ndarray, "rows columns"],
    Float[np.ndarray, "rows 1"],
    Float[np.ndarray, "1 columns"],
]:
    """Round to whole numbers from -127 to 127, times a scale of the row and one of the column.

    First the columns, or the rows if not `by_row`, are divided by their root mean square; then the
    largest number of each row, or column, becomes 127.
    """
    if not by_row:
        rounded, columns, rows = quantise(W.T, by_row=True)
        return rounded.T, rows.T, columns.T
    columns = _not_zero(np.sqrt((W**2).mean(axis=0, keepdims=True)))
    rows = _not_zero(np.abs(W / columns).max(axis=1, keepdims=True) / 127)
    return np.rint(W / columns / rows).astype(np.int8), rows, columns


def _not_zero(scale: np.ndarray) -> np.ndarray:
    return np.where(scale > 0, scale, np.ones_like(scale))


def _file(source: Source, name: str, folder: Path | None) -> Path:
    path = (folder or FOLDER) / source.name / name
    if not path.is_file():
        raise FileNotFoundError(
            f"The weights of the {source.title} are not in {path.parent}. To fetch them, once, type"
            "  course models"
        )
    return path


def _as_tree(kind: Any, arrays: dict[str, np.ndarray], prefix: str, dtype: str) -> Any:
    """Fill a NamedTuple from arrays whose names are paths through its fields."""
    fields: dict[str, Any] = {}
    for field, annotation in kind.__annotations__.items():
        path, kinds = prefix + field, (annotation, *get_args(annotation))
        inner = next((each for each in kinds if hasattr(each, "_fields")), None)
        if inner:
            fields[field] = _as_tree(inner, arrays, f"{path}.", dtype)
        elif path in arrays:
            x = arrays[path].astype(dtype)
            for scale in (f"{path}.rows", f"{path}.columns"):
                x = x * arrays[scale].astype(dtype) if scale in arrays else x
            fields[field] = float(x) if x.ndim == 0 else x
    return kind(**fields)


def _as_arrays(tree: Any, prefix: str) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    for field, value in tree._asdict().items():
        if hasattr(value, "_fields"):
            arrays |= _as_arrays(value, f"{prefix}{field}.")
        elif value is not None:
            arrays[prefix + field] = np.asarray(value, dtype=np.float32)
    return arrays
