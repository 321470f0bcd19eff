"""What a test says about an answer. Checked in this order: kind, shape, finite, values."""

import contextvars
from typing import Any

import numpy as np

from course_lib.checking.findings import AuthorError, Failure
from course_lib.checking.nested import leaves, map_leaves
from course_lib.checking.returned import Returned
from course_lib.checking.setting import Setting

current_setting: contextvars.ContextVar[Setting] = contextvars.ContextVar("current_setting")
LONG, SHOWN = 10_000, 300
"""An answer of more entries is not compared one by one, one of more letters not shown whole."""
NOTHING_RETURNED = "where does your function return its answer?"
expectations_met = 0
"""Counts what was really compared: a test that compares nothing is no test."""


def expect_close(*, got: Any, expected: Any, hint: str, slack: float = 1.0) -> None:
    """Every entry of `got` is the expected number, up to the tolerance of the setting's dtype.

    `slack` widens the tolerance where the property itself is approximate (finite differences).
    """
    _count()
    expected = np.asarray(expected, dtype=np.float64)
    got = _as_array(got, expected, hint)
    _same_shape(got, expected, hint)
    if not np.array_equal(np.isfinite(got), np.isfinite(expected)):
        bad = np.isfinite(got) != np.isfinite(expected)
        verb = (
            "are not finite"
            if np.isfinite(expected).all()
            else "are finite or not, the wrong way round"
        )
        raise Failure(_worst(got, expected, bad, verb), hint)
    tolerance = current_setting.get().tolerance * slack
    with np.errstate(invalid="ignore"):
        close = np.isclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    if not close.all():
        raise Failure(_worst(got, expected, ~close, "differ"), hint)


def expect_less(*, got: Any, than: Any, hint: str) -> None:
    """Every entry of `got` is smaller than its neighbour in `than`, not merely equal."""
    _count()
    than = np.asarray(than, dtype=np.float64)
    got = _as_array(got, than, hint)
    _same_shape(got, than, hint)
    if not (fine := got < than).all():
        where = _first(~fine)
        raise Failure(
            f"{_entry(where)}got {_number(got[where])}, which is not below {_number(than[where])}",
            hint,
        )


def expect_equal(*, got: Any, expected: Any, hint: str) -> None:
    """A whole answer that is not made of numbers: a name, a list, None."""
    _count()
    if (size := sum(getattr(leaf, "size", 1) for leaf in leaves(got))) > LONG:
        raise Failure(f"got {describe(got)} with {size} entries, expected {expected!r}", hint)
    got = map_leaves(_plain, got)
    if got != expected:
        shown = repr(got)
        shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}..."
        raise Failure(f"got {shown}, expected {expected!r}", hint)


def expect_true(holds: Any, *, evidence: str, hint: str) -> None:
    """Any other property: the author says what was seen when it does not hold."""
    _count()
    if not np.all(holds):
        raise Failure(evidence, hint)


def expect_unchanged(call: Any, *, hint: str) -> None:
    """The last call gave an answer and left its arguments as they were."""
    _count()
    if call.log.results[-1] is None:
        raise Failure("got None, expected an answer", NOTHING_RETURNED)
    if call.changed:
        raise Failure(
            f"after the call {' and '.join(call.changed)} had other values than before", hint
        )


def expect_dtype(*, got: Any, hint: str) -> None:
    """The answer came back in the dtype of the setting."""
    _count()
    if isinstance(got, (np.ndarray, np.generic)) and not isinstance(got, Returned):
        raise AuthorError("expect_dtype needs the answer as it came back, before any arithmetic")
    setting = current_setting.get()
    there = got.dtype_there if isinstance(got, Returned) else describe(got)
    if there != setting.dtype:
        raise Failure(f"got {there}, expected {setting.dtype}", hint)


def _count() -> None:
    global expectations_met
    expectations_met += 1


def _plain(value: Any) -> Any:
    """A list of plain numbers in the place of an array."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def _as_array(got: Any, expected: np.ndarray, hint: str) -> np.ndarray:
    if isinstance(got, (float, np.number)):  # a test's own arithmetic ends in these
        return np.asarray(got)
    if isinstance(got, np.ndarray) and got.dtype.kind in "fiu":
        return got
    wanted = f"an array of shape {_shape(expected)}" if expected.ndim else "a number"
    raise Failure(f"got {describe(got)}, expected {wanted}", hint)


def _same_shape(got: np.ndarray, expected: np.ndarray, hint: str) -> None:
    if got.shape != expected.shape:
        raise Failure(f"got {describe(got)}, expected shape {_shape(expected)}", hint)


def describe(value: Any) -> str:
    """Say what a value is, as a student would: None, a list, an array of shape (3, 5)."""
    if value is None:
        return "None"
    if isinstance(value, Returned) and value.dtype_there.startswith("a Python"):
        return value.dtype_there
    if isinstance(value, np.ndarray):
        kinds = {"f": "", "b": " of booleans", "i": " of integers", "u": " of integers"}
        kind = kinds.get(value.dtype.kind, f" of {value.dtype}")
        return (
            f"an array{kind} of shape {_shape(value)}" if value.ndim else f"a single number{kind}"
        )
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return f"a {getattr(value, 'kind', type(value).__name__)}"


def _shape(array: np.ndarray) -> str:
    return str(tuple(int(size) for size in array.shape))


def _worst(got: np.ndarray, expected: np.ndarray, bad: np.ndarray, verb: str) -> str:
    with np.errstate(invalid="ignore"):
        distance = np.where(bad, np.abs(got - expected), -1.0)
    distance = np.where(bad & ~np.isfinite(distance), np.inf, distance)
    where = tuple(map(int, np.unravel_index(np.argmax(distance), distance.shape)))
    values = f"{_entry(where)}got {_number(got[where])}, expected {_number(expected[where])}"
    return f"{values}; {_share(bad)} {verb}" if bad.ndim else values


def _first(bad: np.ndarray) -> tuple[int, ...]:
    return tuple(int(index[0]) for index in np.nonzero(bad)) if bad.ndim else ()


def _entry(where: tuple[int, ...]) -> str:
    if not where:
        return ""
    return f"entry {where[0] if len(where) == 1 else where}: "


def _share(bad: np.ndarray) -> str:
    return f"{int(bad.sum())} of {bad.size} entries"


def _number(value: float) -> str:
    return f"{float(value):.6g}"
