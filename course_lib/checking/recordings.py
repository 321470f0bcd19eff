"""What a bundle carries instead of the oracle and the wrong answers: their recorded results.

The code of an oracle or of a mistake is nearly the answer; the numbers they give on one drawing of
the inputs are not.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from course_lib.checking.codec import RECORDED
from course_lib.checking.nested import leaves
from course_lib.checking.setting import DEFAULT_DTYPE, Setting
from course_lib.checking.verdicts import Results, known_results, run_test

ENTRIES_AT_MOST = 2_000
"""A test with larger results is not diagnosed by them; the bundle stays small."""


class Replay:
    """An oracle that gives its recorded answers in the order in which they were asked for."""

    def __init__(self, answers: list[Any]):
        self.answers = map(RECORDED.decode, answers)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return next(self.answers)

    recorded = __call__


class _Recorder:
    def __init__(self, oracle: Callable):
        self.oracle = oracle
        self.answers: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.recorded(self.oracle, *args, **kwargs)

    def recorded(self, source: Callable, *args: Any, **kwargs: Any) -> Any:
        answer = source(*args, **kwargs)
        self.answers.append(RECORDED.encode(answer))
        return answer


def record_test(
    test: Callable, model: Callable, mistakes: dict[str, Callable], oracle: Callable, seed: int
) -> dict[str, Any]:
    """Record, for each default dtype, what the oracle and every mistake give in one test."""
    record: dict[str, Any] = {"oracle": {}, "mistakes": {}}
    for dtype in sorted(set(DEFAULT_DTYPE.values())):
        setting = Setting("numpy", dtype, seed=seed)
        recorder = _Recorder(oracle)
        verdict = run_test(test, model, setting, recorder)
        if not verdict.passed:
            raise ValueError(f"the model answer fails {verdict.test}: {verdict.evidence}")
        record["oracle"][dtype] = recorder.answers
        results = known_results(mistakes, test, setting, oracle)
        if all(_entries(result) <= ENTRIES_AT_MOST for result in results.values()):
            record["mistakes"][dtype] = {
                words: RECORDED.encode(result) for words, result in results.items()
            }
    return record


def known_mistakes(record: dict[str, Any], setting: Setting) -> dict[str, Results]:
    """The recorded results of each mistake in this setting's dtype."""
    return {
        words: RECORDED.decode(results)
        for words, results in record["mistakes"].get(setting.dtype, {}).items()
    }


def read(folder: Path) -> dict[str, Any]:
    path = folder / "record.json"
    return _parsed(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _parsed(path: Path, changed: int) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def _entries(value: Any) -> int:
    return sum(getattr(leaf, "size", 1) for leaf in leaves(value))


def in_dtype_of(test: Callable, setting: Setting) -> Setting:
    """The setting in which this test really takes place."""
    return replace(setting, dtype="float64") if getattr(test, "in_float64", False) else setting
