"""Run the tests of one exercise on one function, say what came out, and what it earns."""

import importlib.util
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from course_lib.checking.arrays import Arrays
from course_lib.checking.call import Call, Log, Transport
from course_lib.checking.expect import NOTHING_RETURNED, current_setting, describe
from course_lib.checking.findings import AuthorError, Cause, Failure, FailureKind, Finding
from course_lib.checking.perform import perform
from course_lib.checking.setting import Setting
from course_lib.checking.terms import NO_TERMS, Terms

Results = list[Any]


@dataclass(frozen=True, kw_only=True)
class Verdict(Finding):
    """What one test found, and how."""

    setting: Setting
    log: Log = field(default_factory=Log, compare=False, repr=False)

    def __str__(self) -> str:
        """Three lines: the property, the evidence, a question."""
        hint = self.hint
        if self.mistake:
            question = self.hint[:1].upper() + self.hint[1:]
            hint = f"one slip gives these very numbers: {self.mistake}. {question}".rstrip()
        evidence = "its numbers stay with the grader" if self.hidden else self.evidence
        lines = [f"{self.property:<48} ({self.test}, {self.setting})", f"  {evidence}"]
        return "\n".join(lines + [f"  hint: {hint}"] * bool(hint))


def load_module(path: Path) -> ModuleType:
    """Import a file under a name of its own, so that no two exercises meet."""
    name = "exercise_" + "_".join(path.with_suffix("").parts[-3:])
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tests_in(module: ModuleType) -> dict[str, Callable]:
    return {
        name: value
        for name, value in vars(module).items()
        if name.startswith("test_")
        and inspect.isfunction(value)
        and value.__module__ == module.__name__
    }


def run_test(
    test: Callable,
    function: Any,
    setting: Setting,
    oracle: Callable,
    terms: Terms = NO_TERMS,
    transport: Transport = perform,
) -> Verdict:
    """Run one test on one function; whatever the function does, a verdict comes back."""
    if getattr(test, "in_float64", False):
        setting = replace(setting, dtype="float64")
    call = Call(function, setting, terms, transport)
    arrays = Arrays(setting, test.__name__, oracle)
    failure = None
    token = current_setting.set(setting)
    try:
        with np.errstate(all="ignore"):
            test(call, arrays)
    except Failure as error:
        failure = error
    except AuthorError as error:
        raise AuthorError(error.problem, test.__name__) from error
    except Exception as error:
        failure = _unreadable(call.log, error)
        if failure is None:
            raise AuthorError(
                f"failed before it called the function: {error!r}", test.__name__
            ) from error
    finally:
        current_setting.reset(token)
    words = (test.__doc__ or "").partition("\n\n")[0]
    return Verdict(
        test=test.__name__,
        property=" ".join(words.split()),
        setting=setting,
        passed=failure is None,
        core=getattr(test, "is_core", False),
        hidden=getattr(test, "is_hidden", False),
        evidence=failure.evidence if failure else "",
        hint=failure.hint if failure else "",
        cause=failure.cause if failure else None,
        log=call.log,
    )


def _unreadable(log: Log, error: Exception) -> Failure | None:
    """The test could not read what came back: the answer's fault, if there was one."""
    if not log.results or isinstance(log.results[-1], Failure):
        return None
    got, cause = log.results[-1], Cause(FailureKind.UNREADABLE, type(error).__name__)
    if got is None:
        return Failure("got None, expected an answer", NOTHING_RETURNED, cause)
    if isinstance(got, list):
        return Failure("got a list, which is no array", "what makes an array of a list?", cause)
    return Failure(f"got {describe(got)}, which this test cannot read ({error})", cause=cause)


def diagnose(verdict: Verdict, mistakes: Mapping[str, Results]) -> Verdict:
    """Name the mistake if exactly one known mistake gives the results that were seen."""
    if verdict.passed:
        return verdict
    fitting = [
        words
        for words, results in mistakes.items()
        if _same_results(verdict.log.results, results, verdict.setting)
    ]
    return replace(verdict, mistake=fitting[0]) if len(fitting) == 1 else verdict


def _same_results(seen: Results, expected: Results, setting: Setting) -> bool:
    return len(seen) == len(expected) and all(
        _same(a, b, setting.tolerance * 10) for a, b in zip(seen, expected, strict=True)
    )


def _same(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, Failure) or isinstance(b, Failure):
        return isinstance(a, Failure) and isinstance(b, Failure) and _alike(a.cause, b.cause)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and bool(
            np.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
        )
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(_same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and a == b


def _alike(one: Cause, other: Cause) -> bool:
    """Wherever in the answer it happened."""
    return (one.kind, one.detail) == (other.kind, other.detail)


def earned(verdicts: list[Verdict], points: float) -> float:
    """Equal shares for the tests that hold, nothing until the core test holds."""
    if not verdicts or any(verdict.core and not verdict.passed for verdict in verdicts):
        return 0.0
    return points * sum(verdict.passed for verdict in verdicts) / len(verdicts)


def known_results(
    mistakes: Mapping[str, Callable], test: Callable, setting: Setting, oracle: Callable
) -> dict[str, Results]:
    """What each known mistake gives in this test."""
    return {
        words: run_test(test, mistake, setting, oracle).log.results
        for words, mistake in mistakes.items()
    }
