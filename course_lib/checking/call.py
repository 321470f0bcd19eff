"""The one way in which every place calls a student's function.

Notebook, page, grader and proof differ only in where the function lives; `transport` knows where.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from course_lib.checking.findings import AuthorError, Cause, Failure, FailureKind
from course_lib.checking.nested import leaves, map_leaves
from course_lib.checking.perform import CallRequest, CallResult, perform
from course_lib.checking.returned import Handle
from course_lib.checking.setting import Setting
from course_lib.checking.terms import Terms

ENTRIES_AT_LEAST, ENTRIES_EACH = 1 << 16, 2
"""So many numbers may any function return, or so many for each that it was given."""

Transport = Callable[[CallRequest], CallResult]


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

    function: Any
    """The function, or what the transport knows it by."""
    setting: Setting
    terms: Terms = field(default_factory=Terms)
    transport: Transport = perform
    at_most: int | None = None
    memory_hint: str = ""
    log: Log = field(default_factory=Log)
    changed: list[str] = field(default_factory=list)
    kind: str = "function"
    """What it is, where a function returned it."""

    def within(self, nbytes: int, hint: str) -> "Call":
        """The same function, refused when it needs more memory than this at any moment."""
        return replace(self, at_most=nbytes, memory_hint=hint)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(args, kwargs)

    def vjp(self, *args: Any, cotangent: Any) -> tuple:
        """The gradients that torch finds through the function, one for each array."""
        if self.setting.library != "torch":
            raise AuthorError('vjp goes through torch: say libraries = ["torch"]')
        self.setting.refuse_unrepresentable(cotangent)
        gradients: tuple = self._call(args, {}, cotangent)
        return gradients

    def method(self, name: str) -> "Call":
        """A method of the object that the student's function returned."""
        there = isinstance(self.function, str)
        method = f"{self.function}.{name}" if there else _method(self.function, name)
        return replace(self, function=method)

    def _call(self, args: tuple, kwargs: dict[str, Any], cotangent: Any = None) -> Any:
        self.setting.refuse_unrepresentable((args, kwargs))
        self.log.arguments.append((args, kwargs))
        result = self.transport(
            CallRequest(
                function=self.function,
                setting=self.setting,
                args=args,
                kwargs=kwargs,
                cotangent=cotangent,
                terms=self.terms,
                at_most=self.at_most,
            )
        )
        if many := _too_many_entries(result.value, (args, kwargs), self.terms):
            words = f"it returned {many:,} numbers, far more than it was given"
            too_large = Cause(FailureKind.TOO_LARGE, "entries")
            result = replace(result, value=None, failure=words, cause=too_large)
        self.log.printed += result.printed
        self.changed = list(result.changed)
        self.log.changed.update(result.changed)
        if result.failure:
            over_memory = result.cause is not None and result.cause.kind is FailureKind.OVER_MEMORY
            hint = self.memory_hint if over_memory else ""
            failure = Failure(result.failure, hint, result.cause)
            self.log.results.append(failure)
            raise failure
        self.log.results.append(result.value)
        return map_leaves(self._lend, result.value)

    def _lend(self, value: Any) -> Any:
        """What stays with the student is called like the function itself."""
        if isinstance(value, Handle):
            return replace(self, function=value.what, kind=value.kind)
        return value


def _too_many_entries(value: Any, given: Any, terms: Terms) -> int:
    """How many, if so many that no test should compute with them; 0 otherwise.

    Integers of one byte are multiplied a thousand times slower than floats, so that a product of
    two arrays that may well be returned could take hours.
    """
    mebibytes = terms.limits.returned_mib or 0
    most = max(ENTRIES_AT_LEAST, ENTRIES_EACH * _entries(given), (mebibytes << 20) // 8)
    many = _entries(value)
    return many if many > most else 0


def _entries(value: Any) -> int:
    return sum(leaf.size for leaf in leaves(value) if isinstance(leaf, np.ndarray))


def _method(thing: Any, name: str) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(thing, name)(*args, **kwargs)

    return call
