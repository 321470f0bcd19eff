"""Call a student's function once, in the process where it lives, and say plainly what came back.

The arguments are copied and sent to the student's library; the result is brought to NumPy; the
arguments are compared with what they were; what the function prints is set aside. Notebook and
proof call this directly, the grader through a socket.
"""

import contextlib
import io
import linecache
import sys
import traceback
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.checking.findings import AuthorError, Cause, FailureKind
from course_lib.checking.returned import Unusable, bring_back
from course_lib.checking.setting import Setting
from course_lib.checking.terms import Terms
from course_lib.checking.withheld import withheld


@dataclass(frozen=True, kw_only=True)
class CallRequest:
    """One call that a test makes."""

    function: Any
    """The function, or the name by which another process knows it."""
    setting: Setting
    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    terms: Terms = field(default_factory=Terms)
    at_most: int | None = None
    """Bytes of memory that this test allows."""
    cotangent: Any = None
    """If there is one, not the value is wanted but the gradients that torch finds through it."""


@dataclass(frozen=True, kw_only=True)
class CallResult:
    """What one call gave."""

    value: Any = None
    failure: str = ""
    """In words for the student, instead of a value."""
    cause: Cause | None = None
    """The same as data."""
    changed: tuple[str, ...] = ()
    """The arguments that the function changed in place."""
    printed: int = 0


def perform(request: CallRequest) -> CallResult:
    """Call the function in the library and dtype of the setting."""
    function, setting = request.function, request.setting
    # copied twice: what the function gets, and what that is compared with afterwards
    sent, before = ((setting.send(request.args), setting.send(request.kwargs)) for _ in range(2))
    if request.cotangent is not None:
        function = _pulled_back(function, setting.send(request.cotangent))
    out = _Counter()
    failure, value, cause = "", None, None
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
            withheld(request.terms.withholds),
            _memory_limit(setting.library, request.at_most),
        ):
            warnings.simplefilter("ignore")
            value = function(*sent[0], **sent[1])
        value = bring_back(value, setting.library)
    except TooMuchMemory as excess:
        needed = _mebibytes(excess.nbytes)
        failure = f"needed {needed}, allowed {_mebibytes(excess.allowed)}"
        cause = Cause(FailureKind.OVER_MEMORY, needed)
    except Unusable as kind:
        failure, cause = f"it returned {kind}", Cause(FailureKind.UNUSABLE, kind.what)
    except AuthorError:
        raise
    except (Exception, SystemExit) as error:
        failure, cause = _raised(function, error)
    changed = tuple(name for name, same in _compare(before, sent) if not same)
    return CallResult(
        value=None if failure else value,
        failure=failure,
        cause=cause,
        changed=changed,
        printed=out.count,
    )


def _pulled_back(function: Callable, cotangent: Any) -> Callable:
    """The gradient of <cotangent, function(...)> in each floating-point argument."""
    import torch

    def pull_back(*args: Any, **kwargs: Any) -> tuple:
        tensors = [a for a in args if isinstance(a, torch.Tensor) and a.is_floating_point()]
        for tensor in tensors:
            tensor.requires_grad_()
        value = function(*args, **kwargs)
        if not isinstance(value, torch.Tensor):
            what = f"a {type(value).__name__}"
            raise Unusable(what, ", through which torch finds no gradient")
        if not value.requires_grad:
            raise Unusable("a tensor that torch cannot follow back to the arguments")
        gradients = torch.autograd.grad(value, tensors, cotangent, allow_unused=True)
        pairs = zip(gradients, tensors, strict=True)
        return tuple(torch.zeros_like(t) if gradient is None else gradient for gradient, t in pairs)

    return pull_back


class TooMuchMemory(Exception):
    def __init__(self, nbytes: int, allowed: int):
        super().__init__(nbytes, allowed)
        self.nbytes, self.allowed = nbytes, allowed


class _Counter(io.TextIOBase):
    """Takes what is printed, counts it and forgets it."""

    def __init__(self) -> None:
        self.count = 0

    def write(self, text: str) -> int:
        self.count += len(text)
        return len(text)


def _raised(function: Callable, error: BaseException) -> tuple[str, Cause]:
    """In words and as data, with the student's own line if the error passed through it."""
    file = getattr(getattr(function, "__code__", None), "co_filename", "")
    frames = traceback.extract_tb(error.__traceback__)
    line = next((frame.lineno for frame in reversed(frames) if frame.filename == file), None)
    words = f"it raised {_say(error)}"
    if line is not None:
        text = linecache.getline(file, line).strip()
        words += f", line {line}: {text}" if text else f", line {line}"
    return words, Cause.of_exception(error, line)


def _say(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def _mebibytes(nbytes: int) -> str:
    return f"{nbytes / 2**20:.3g} MiB"


def _compare(before: tuple, after: tuple) -> Iterator[tuple[str, bool]]:
    for number, (old, new) in enumerate(zip(before[0], after[0], strict=True), start=1):
        yield f"argument {number}", _same(old, new)
    for name, old in before[1].items():
        yield f"`{name}`", _same(old, after[1][name])


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, (list, tuple)):
        return len(old) == len(new) and all(map(_same, old, new))
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    if isinstance(old, np.ndarray):
        alike = (old.shape, old.dtype) == (new.shape, new.dtype)
        return alike and old.tobytes() == bytes(new.tobytes())
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(old, torch.Tensor):
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            return False
        return bool(torch.isclose(old, new.detach(), rtol=0, atol=0, equal_nan=True).all())
    return True


@contextlib.contextmanager
def _memory_limit(library: str, at_most: int | None) -> Iterator[None]:
    """Raise TooMuchMemory if the call held more; NumPy tells tracemalloc, torch its dispatcher."""
    if at_most is None:
        yield
    elif library == "torch":
        from course_lib.checking.devices import largest_tensor

        with largest_tensor() as largest:
            yield
        if largest.nbytes > at_most:
            raise TooMuchMemory(largest.nbytes, at_most)
    else:
        started_here = not tracemalloc.is_tracing()
        if started_here:
            tracemalloc.start()
        tracemalloc.reset_peak()
        held, _ = tracemalloc.get_traced_memory()
        try:
            yield
            _, peak = tracemalloc.get_traced_memory()
        finally:
            if started_here:
                tracemalloc.stop()
        if peak - held > at_most:
            raise TooMuchMemory(peak - held, at_most)
