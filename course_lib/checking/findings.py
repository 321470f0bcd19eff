"""What a test found, as data: whether its property holds and, where it does not, why.

Sentences for students are made where something fails; whoever must decide by what happened reads
`Cause`, never the sentence.
"""

import re
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any


class FailureKind(StrEnum):
    """Why a property does not hold, or why there is nothing to check."""

    DIFFERS = "differs"
    """An answer came back, and is not what the test expects."""
    UNREADABLE = "unreadable"
    """An answer came back that the test could not read."""
    UNUSABLE = "unusable"
    """The function returned something that no test can read."""
    RAISED = "raised"
    OUT_OF_MEMORY = "out of memory"
    """It raised because it was refused memory."""
    OVER_MEMORY = "over memory"
    """It gave a value and needed more memory than the test allows."""
    TOO_LARGE = "too large"
    """It returned more than may cross to another process."""
    TOO_SLOW = "too slow"
    INTERRUPTED = "interrupted"
    ENDED = "ended"
    """The process in which it ran has ended."""
    BROKE_OFF = "broke off"
    """The process answered in a way in which no honest one does."""
    TOO_MUCH_MEMORY = "too much memory"
    """The processes of the submission took more than the sandbox gives."""
    TOO_MANY_FILES = "too many files"
    LIBRARY_MISSING = "library missing"
    """The answer is in a library that is not installed here."""


@dataclass(frozen=True)
class Cause:
    """What made a call or a test fail."""

    kind: FailureKind
    detail: str = ""
    """What tells it from others of its kind: the name of the exception's type, what was returned,
    how much memory was needed. A student may have chosen it."""
    line: int | None = None
    """Of the student's answer, where an exception passed through it."""

    @property
    def exception(self) -> str:
        """The name of the type of the exception, if there was one."""
        return self.detail if self.kind in (FailureKind.RAISED, FailureKind.OUT_OF_MEMORY) else ""

    @classmethod
    def of_exception(cls, error: BaseException, line: int | None = None) -> "Cause":
        """torch and NumPy have words of their own for memory that cannot be had."""
        text = str(error)
        refused = isinstance(error, MemoryError) or any(sign in text for sign in _NO_MEMORY)
        kind = FailureKind.OUT_OF_MEMORY if refused else FailureKind.RAISED
        return cls(kind, type(error).__name__, line)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Cause":
        """Raises ValueError, TypeError or KeyError for what `dataclasses.asdict` did not make."""
        return cls(**data | {"kind": FailureKind(data["kind"])})

    @classmethod
    def from_words(cls, evidence: str) -> "Cause":
        """Of what an older release kept, in a record or a journal: the sentence alone."""
        words = evidence.partition(":")[0].partition(",")[0]
        for beginning, kind in _BEGINNINGS.items():
            if words.startswith(beginning):
                return cls(kind)
        if words.startswith("it raised "):
            line = re.search(r", line (\d{1,9})", evidence)
            exception = words.removeprefix("it raised ")
            refused = exception == "MemoryError" or any(sign in evidence for sign in _NO_MEMORY)
            kind = FailureKind.OUT_OF_MEMORY if refused else FailureKind.RAISED
            return cls(kind, exception, int(line[1]) if line else None)
        if words.startswith("it returned "):
            return cls(FailureKind.UNUSABLE, words.removeprefix("it returned "))
        if words.startswith("needed "):
            return cls(FailureKind.OVER_MEMORY, words.removeprefix("needed "))
        return cls(FailureKind.DIFFERS)


_NO_MEMORY = ("allocate memory", "array is too big")
_BEGINNINGS = {
    "it took more than": FailureKind.TOO_SLOW,
    "it was interrupted": FailureKind.INTERRUPTED,
    "it ended the Python process": FailureKind.ENDED,
    "it is gone": FailureKind.ENDED,
    "your code has ended": FailureKind.ENDED,
    "your code broke off": FailureKind.BROKE_OFF,
    "its processes took": FailureKind.TOO_MUCH_MEMORY,
    "it returned something too large": FailureKind.TOO_LARGE,
}


class Failure(Exception):
    """The property does not hold: the evidence, a question that leads on, and the cause as data."""

    def __init__(self, evidence: str, hint: str = "", cause: Cause | None = None):
        super().__init__(evidence)
        self.evidence, self.hint = evidence, hint
        self.cause = cause or Cause(FailureKind.DIFFERS)


class AuthorError(Exception):
    """A test that is itself wrong; never the student's fault."""

    def __init__(self, problem: str, test: str = ""):
        super().__init__(f"{test}: {problem}" if test else problem)
        self.problem, self.test = problem, test


@dataclass(frozen=True)
class Finding:
    """What one test found, as it is kept and shown."""

    test: str
    property: str
    passed: bool
    core: bool = False
    hidden: bool = False
    evidence: str = ""
    hint: str = ""
    mistake: str = ""
    """The one known mistake that gives the same numbers, in words."""
    cause: Cause | None = None
    """Why the property does not hold."""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Finding":
        """Raises ValueError, TypeError or KeyError for what `dataclasses.asdict` did not make."""
        if "cause" not in data:  # an older release kept the words alone
            cause = None if data["passed"] else Cause.from_words(data.get("evidence", ""))
        else:
            cause = Cause.from_dict(data["cause"]) if data["cause"] else None
        return cls(**data | {"cause": cause})

    def alone(self) -> "Finding":
        """Without what a subclass knows besides: this is kept."""
        return Finding(**{field.name: getattr(self, field.name) for field in fields(Finding)})
