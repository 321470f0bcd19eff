"""The one way in which every place calls a student's function.

Notebook, page, grader and proof differ only in where the function lives. The arguments are copied
and sent to the student's library; what comes back is brought to NumPy; the arguments are compared
with what they were; what the function prints is set aside.
"""

import contextlib
import copy
import io
import linecache
import sys
import traceback
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib.checking.expect import Failure
from course_lib.checking.run import AuthorError, Run, WrongKind, bring_back
from course_lib.checking.withheld import withheld

PRINTED_AT_MOST = 2_000


@dataclass
class Log:
    """What happened in the calls of one test."""

    arguments: list[tuple[tuple, dict]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    changed: set[str] = field(default_factory=set)
    printed: int = 0


@dataclass
class Call:
    """A function under test, as the tests see it."""

    function: Callable
    run: Run
    withholds: tuple[str, ...] = ()
    at_most: int | None = None
    memory_hint: str = ""
    log: Log = field(default_factory=Log)
    changed: list[str] = field(default_factory=list)

    def within(self, nbytes: int, hint: str) -> "Call":
        """The same function, refused when it needs more memory than this at any moment."""
        return replace(self, at_most=nbytes, memory_hint=hint)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.log.arguments.append((args, kwargs))
        sent, sent_by_name = self.run.send(args), self.run.send(kwargs)
        before = copy.deepcopy((sent, sent_by_name))
        try:
            value = self._ask(sent, sent_by_name)
        except Failure as failure:
            self.log.results.append(failure)
            raise
        self.changed = [name for name, same in _compare(before, (sent, sent_by_name)) if not same]
        self.log.changed.update(self.changed)
        self.log.results.append(value)
        return value

    def _ask(self, args: tuple, kwargs: dict) -> Any:
        out = _Counter()
        memory = _memory_limit(self.run.library, self.at_most)
        try:
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(out),
                warnings.catch_warnings(),
                np.errstate(all="ignore"),
                withheld(self.withholds),
                memory,
            ):
                warnings.simplefilter("ignore")
                value = self.function(*args, **kwargs)
        except TooMuchMemory as excess:
            raise Failure(
                f"needed {_megabytes(excess.args[0])}, allowed {_megabytes(self.at_most)}",
                self.memory_hint,
            ) from None
        except AuthorError:
            raise
        except (Exception, SystemExit) as error:
            raise Failure(f"it raised {_say(error)}{self._where(error)}") from error
        finally:
            self.log.printed += out.count
        try:
            return bring_back(value, self.run.library)
        except WrongKind as kind:
            raise Failure(f"it returned {kind}") from None

    def _where(self, error: BaseException) -> str:
        """The student's own line, if the error passed through it."""
        file = getattr(getattr(self.function, "__code__", None), "co_filename", None)
        lines = [
            frame.lineno
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename == file
        ]
        if not lines:
            return ""
        text = linecache.getline(file, lines[-1]).strip()
        return f", line {lines[-1]}: {text}" if text else f", line {lines[-1]}"


class TooMuchMemory(Exception):
    pass


class _Counter(io.TextIOBase):
    """Takes what is printed, counts it and forgets it."""

    def __init__(self):
        self.count = 0

    def write(self, text: str) -> int:
        self.count += len(text)
        return len(text)


def _say(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


def _megabytes(nbytes: int) -> str:
    return f"{nbytes / 2**20:.3g} MiB"


def _compare(before: tuple, after: tuple) -> Iterator[tuple[str, bool]]:
    for place, (old, new) in enumerate(zip(before[0], after[0], strict=True), start=1):
        yield f"argument {place}", _same(old, new)
    for name, old in before[1].items():
        yield f"`{name}`", _same(old, after[1][name])


def _same(old: Any, new: Any) -> bool:
    if isinstance(old, (list, tuple)):
        return len(old) == len(new) and all(map(_same, old, new))
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    if isinstance(old, np.ndarray):
        return old.shape == new.shape and old.dtype == new.dtype and old.tobytes() == new.tobytes()
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
            raise TooMuchMemory(largest.nbytes)
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
            raise TooMuchMemory(peak - held)
