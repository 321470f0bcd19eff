"""Judge an answer by the tests that lie in a folder: the same in the notebook and in the grader."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from course_lib.checking import recordings
from course_lib.checking.answers import NoAnswer, NotWritten
from course_lib.checking.blocks import Blocks
from course_lib.checking.call import Transport
from course_lib.checking.perform import perform
from course_lib.checking.setting import Setting
from course_lib.checking.terms import Terms
from course_lib.checking.verdicts import Verdict, diagnose, load_module, run_test, tests_in


def judge(
    function: Any,
    setting: Setting,
    folder: Path,
    exercise: dict[str, Any],
    transport: Transport = perform,
    *,
    hidden: bool | None = None,
) -> list[Verdict]:
    """Run the tests that lie in the folder, with recorded oracle and recorded mistakes.

    All of them, or only those that are hidden, or only those that are not.
    """
    verdicts, terms = [], Terms.from_dict(exercise)
    path = folder / "tests.py"
    for test in _tests(path, path.stat().st_mtime_ns).values():
        if hidden not in (None, getattr(test, "is_hidden", False)):
            continue
        recorded = exercise["tests"][test.__name__]
        here = Setting(setting.library, setting.dtype, setting.device, recorded["seed"])
        dtype = recordings.in_dtype_of(test, here).dtype
        oracle = recordings.Replay(recorded["oracle"][dtype])
        verdict = run_test(test, function, here, oracle, terms, transport)
        if not verdict.passed:
            verdict = diagnose(verdict, recordings.known_mistakes(recorded, verdict.setting))
        verdicts.append(verdict)
    return verdicts


@lru_cache(maxsize=64)
def _tests(path: Path, changed: int) -> dict[str, Callable]:
    """Loaded once for a whole class, and again when the file has changed."""
    return tests_in(load_module(path))


def judge_proof(name: str, answer: Any, data: dict[str, Any]) -> tuple[str | None, float]:
    """The first fault of a built proof, or None, and what it earns."""
    blocks = Blocks(
        tuple(data["letters"]),
        data["text"],
        {k: tuple(v) for k, v in data["after"].items()},
        data["part"],
        data["why_not"],
    )
    if isinstance(answer, str):
        answer = answer.split()
    if answer in ([], [...]):
        raise NotWritten
    if not isinstance(answer, (list, tuple)) or not all(
        isinstance(letter, str) for letter in answer
    ):
        raise NoAnswer(f'{name} is not a list of letters such as ["b", "a"]')
    answer = list(answer)
    return blocks.first_fault(answer), round(data["points"] * blocks.share(answer), 6)


def first_failed(verdicts: list[Verdict]) -> Verdict | None:
    """The failure to look at first."""
    return next(iter(_failed(verdicts)), None)


def _failed(verdicts: list[Verdict]) -> list[Verdict]:
    return sorted((v for v in verdicts if not v.passed), key=lambda v: not v.core)


def report(name: str, exercise: dict[str, Any], verdicts: list[Verdict], setting: Setting) -> str:
    failed = _failed(verdicts)
    if not failed:
        visible = [verdict for verdict in verdicts if not verdict.hidden]
        more = exercise["hidden"] - (len(verdicts) - len(visible))
        rest = (
            f"; {more} more {'is' if more == 1 else 'are'} looked at when you hand in"
            if more
            else ""
        )
        return f"{name}: all {len(verdicts)} properties looked at here hold{rest}  ({setting})"
    lines = [
        f"{name}: {len(verdicts) - len(failed)} of {len(verdicts)} properties hold",
        "",
        str(failed[0]),
    ]
    lines += [""] * (len(failed) > 1) + [f"also not: {verdict.property}" for verdict in failed[1:]]
    if failed[0].core and len(failed) < len(verdicts):
        lines += ["", "As long as the first one does not hold, the others earn nothing."]
    return "\n".join(lines)
