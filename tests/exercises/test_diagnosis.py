"""Known mistakes are named by what they give, live or recorded, and only when a single one fits."""

import json
import sys

import numpy as np
import pytest
import torch

from autograder.exercises.assignment import CodeExercise, load_assignment, load_course
from autograder.release.bundle import write_checks
from course_lib.checking import core, expect_close, expect_less, float64, verdicts
from course_lib.checking.codec import RECORDED
from course_lib.checking.findings import Cause, Failure, FailureKind, Finding
from course_lib.checking.judge import judge
from course_lib.checking.recordings import Replay, known_mistakes, read, record_test
from course_lib.checking.setting import Setting
from course_lib.checking.verdicts import (
    Verdict,
    diagnose,
    earned,
    known_results,
    load_module,
    run_test,
)

RUN = Setting("numpy", "float64", seed=3)
ASKING_TORCH = [
    exercise
    for assignment in load_course()
    for exercise in assignment.exercises
    if isinstance(exercise, CodeExercise)
    and "numpy" in exercise.libraries
    and "import torch" in (exercise.folder / "tests.py").read_text()
]


def model(x):
    return x.sum(-1) / x.shape[-1]


def summed(x):
    return x.sum(-1)


def refuses(x):
    raise ValueError(f"shape {x.shape}")


def test_rows(f, arrays):
    """Each row gives its mean

    In mathematics.
    """
    x = arrays.normal(3, 5)
    expect_close(got=f(x), expected=arrays.oracle(x), hint="what is divided?")
    expect_less(got=f(x), than=arrays.oracle(x) + 1, hint="and below?")


test_rows.__test__ = False
MISTAKES = {"the sum": summed, "an error": refuses}


def verdict_of(answer, run=RUN, oracle=model):
    return run_test(test_rows, answer, run, oracle)


def live(run=RUN):
    return known_results(MISTAKES, test_rows, run, model)


def recorded(run=RUN):
    record = json.loads(json.dumps(record_test(test_rows, model, MISTAKES, model, run.seed)))
    return record, known_mistakes(record, run)


def test_a_verdict_has_the_property_the_evidence_and_the_question():
    first, second, third = str(verdict_of(summed)).splitlines()
    assert first == f"{'Each row gives its mean':<48} (test_rows, numpy float64)"
    assert second.startswith("  entry ")
    assert second.endswith("; 3 of 3 entries differ")
    assert third == "  hint: what is divided?"


def test_a_hidden_verdict_keeps_its_numbers():
    verdict = Verdict("test_rows", "Each row", False, hidden=True, evidence="got 3", setting=RUN)
    assert "3" not in str(verdict).splitlines()[1]


@pytest.mark.parametrize(
    "known", [live, lambda run=RUN: recorded(run)[1]], ids=["live", "recorded"]
)
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (summed, "the sum"),
        (lambda x: np.array([row.sum() for row in x]), "the sum"),
        (lambda x: x.sum(-1) * (1 + 1e-6), "the sum"),
        (lambda x: x.sum(-1) + 0.01, ""),
        (lambda x: x.sum(), ""),
        (lambda x: [], ""),
        (lambda x: None, ""),
        (lambda x: x[0, 10**9], ""),
        (lambda x: int("three"), "an error"),
    ],
)
def test_a_mistake_is_named_when_its_results_are_seen(known, answer, words):
    verdict = diagnose(verdict_of(answer), known())
    assert not verdict.passed
    assert verdict.mistake == words
    if words:
        told = str(diagnose(verdict_of(summed), {words: live()["the sum"]}))
        assert f"{words}. What is divided?" in told, "the mistake, then the question"


def test_a_right_answer_has_no_mistake():
    assert diagnose(verdict_of(model), {"the model": verdict_of(model).log.results}).mistake == ""


def test_when_two_mistakes_fit_none_is_named():
    twice = live() | {"the sum, otherwise": live()["the sum"]}
    assert diagnose(verdict_of(summed), live()).mistake == "the sum"
    assert diagnose(verdict_of(summed), twice).mistake == ""


def test_results_are_compared_call_by_call():
    """An answer that is wrong in the first call and stops there is not one that goes on."""
    results = live()["the sum"]
    assert diagnose(verdict_of(summed), {"more calls": [*results, *results]}).mistake == ""


def test_a_torch_answer_is_diagnosed_by_what_numpy_recorded():
    run = Setting("torch", "float32", seed=3)
    verdict = verdict_of(lambda x: torch.sum(x, -1), run)
    record, known = recorded(run)
    assert diagnose(verdict, known).mistake == "the sum"
    assert known_mistakes(record, Setting("torch", "bfloat16")) == {}


def test_results_of_nan_are_results():
    def divided(x):
        return x / (x - x)

    verdict = verdict_of(divided)
    assert diagnose(verdict, {"nan": verdict_of(divided).log.results}).mistake == "nan"


def test_the_recorded_oracle_gives_the_same_verdict():
    record, _ = recorded()
    for answer in (model, summed):
        one = verdict_of(answer)
        other = verdict_of(answer, oracle=Replay(record["oracle"]["float64"]))
        assert one == other


def test_what_another_library_gives_is_recorded_and_not_asked_again():
    asked = []

    def of_another_library(x):
        asked.append(x)
        return model(x)

    def test_agrees(f, arrays):
        """It agrees with another library"""
        x = arrays.normal(3, 5)
        expect_close(got=f(x), expected=arrays.recorded(of_another_library, x), hint="does it?")

    record = json.loads(json.dumps(record_test(test_agrees, model, {}, model, seed=0)))
    times = len(asked)
    for answer, agrees in ((model, True), (summed, False)):
        replayed = Replay(record["oracle"]["float64"])
        assert run_test(test_agrees, answer, Setting(), replayed).passed is agrees
    assert len(asked) == times > 0


@pytest.mark.parametrize("exercise", ASKING_TORCH, ids=lambda exercise: exercise.name)
def test_an_answer_in_numpy_is_checked_where_there_is_no_torch(exercise, tmp_path, monkeypatch):
    write_checks(load_assignment(exercise.folder.parent), tmp_path, hidden=False)
    folder = tmp_path / "checks" / exercise.name
    answer = getattr(load_module(exercise.folder / "solution.py"), exercise.name)
    monkeypatch.setitem(sys.modules, "torch", None)
    verdicts = judge(answer, Setting(), folder, read(folder))
    assert [verdict.test for verdict in verdicts if not verdict.passed] == []
    assert len(verdicts) == sum(not test.hidden for test in exercise.tests)


def test_a_model_answer_that_fails_is_not_recorded():
    with pytest.raises(ValueError, match="the model answer fails test_rows: entry"):
        record_test(test_rows, summed, {}, model, seed=0)


def test_large_results_are_left_out_of_the_record():
    record = record_test(test_rows, model, {"large": lambda x: np.zeros(2_001)}, model, seed=0)
    assert record["mistakes"] == {}
    assert set(record["oracle"]) == {"float32", "float64"}


def test_a_test_in_float64_is_recorded_in_float64_for_every_run():
    def test_digits(f, arrays):
        """Digits"""
        x = arrays.normal(3, 5)
        expect_close(got=f(x), expected=arrays.oracle(x), slack=1e-3, hint="how many?")

    record = record_test(float64(test_digits), model, MISTAKES, model, seed=0)
    assert record["oracle"]["float32"] == record["oracle"]["float64"]


ODD = [
    np.array([0.1, -0.0, np.nan, np.inf, -np.inf, 5e-324]),
    np.zeros((0, 3)),
    np.array(1.5),
    np.float64(0.1),
    0.1,
    float("nan"),
    np.array([True, False]),
    np.array([[1, 2], [3, 2**40]]),
    np.arange(3, dtype=np.uint8),
    np.float32([0.1, 0.2]),
    np.arange(6.0).reshape(2, 3).T,
    (np.array(1), [np.array(2.0), None]),
    {"weights": np.ones(2), "array": (1, "text")},
    [],
    (),
    {},
    None,
    True,
    7,
    "Ada",
]


def same(a, b):
    if isinstance(a, (np.ndarray, np.generic, float)):
        a = np.asarray(a)
        return (
            a.shape == b.shape
            and a.dtype.kind == b.dtype.kind.replace("i", a.dtype.kind)
            and (
                np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                and np.array_equal(np.signbit(a.astype(float)), np.signbit(b.astype(float)))
            )
        )
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_what_is_recorded_comes_back_bit_for_bit(value):
    back = RECORDED.decode(json.loads(json.dumps(RECORDED.encode(value))))
    assert same(value, back)
    if isinstance(back, np.ndarray):
        back[...] = 0  # a fresh array that may be written to


def test_a_recorded_failure_is_a_failure():
    cause = Cause(FailureKind.RAISED, "KeyError", 7)
    back = RECORDED.decode(
        json.loads(json.dumps(RECORDED.encode([Failure("it raised KeyError: 1", "?", cause)])))
    )
    assert isinstance(back[0], Failure)
    assert (back[0].evidence, back[0].cause) == ("it raised KeyError: 1", cause)


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("it raised KeyError", Cause(FailureKind.RAISED, "KeyError")),
        (
            "it raised ValueError: a, b: c, line 12: x[1] = y",
            Cause(FailureKind.RAISED, "ValueError", 12),
        ),
        ("it raised MemoryError, line 3", Cause(FailureKind.OUT_OF_MEMORY, "MemoryError", 3)),
        (
            'it returned a torch tensor, although the answer says library = "numpy"',
            Cause(FailureKind.UNUSABLE, "a torch tensor"),
        ),
        ("needed 7.77 MiB, allowed 0.0385 MiB", Cause(FailureKind.OVER_MEMORY, "7.77 MiB")),
        ("it took more than 2 seconds", Cause(FailureKind.TOO_SLOW)),
    ],
)
def test_a_failure_that_an_older_release_recorded_is_the_same_failure(words, cause):
    """It kept the sentence alone."""
    assert RECORDED.decode({"list": [{"failure": words}]})[0].cause == cause
    finding = {"test": "t", "property": "", "passed": False, "core": False, "hidden": False}
    assert Finding.from_dict(finding | {"evidence": words}).cause == cause


@pytest.mark.parametrize(
    ("answer", "alike"),
    [
        (lambda x: {}[1], True),
        (lambda x: {}["another key", 2:3], False),
        (lambda x: [][1], False),
        (lambda x: (_ for _ in x), False),
    ],
)
def test_failures_are_the_same_by_what_happened(answer, alike):
    """Neither the words of an exception nor its line count; its type does."""

    def mistake(x):
        raise KeyError("other words")

    known = {"a slip": verdict_of(mistake).log.results}
    assert diagnose(verdict_of(answer), known).mistake == ("a slip" if alike else "")


def test_points_are_shared_equally_once_the_core_holds():
    def found(*passed):
        return [Verdict(f"test_{i}", "", p, core=i == 0, setting=RUN) for i, p in enumerate(passed)]

    assert earned(found(True, True, True, True), 6) == 6
    assert earned(found(True, False, True, False), 6) == 3
    assert earned(found(False, True, True, True), 6) == 0
    assert earned([], 6) == 0


def test_a_core_mark_is_read():
    assert run_test(core(lambda f, arrays: f(np.zeros(1))), abs, RUN, model).core


CODE = [e for a in load_course() for e in a.exercises if isinstance(e, CodeExercise)]


@pytest.mark.parametrize("exercise", CODE, ids=lambda exercise: exercise.name)
def test_in_every_exercise_recorded_mistakes_are_named_as_live_ones(exercise):
    tests = verdicts.tests_in(load_module(exercise.folder / "tests.py"))
    answers = {
        kind: vars(load_module(exercise.folder / f"{kind}.py")) for kind in ("right", "wrong")
    }
    solution = getattr(load_module(exercise.folder / "solution.py"), exercise.name)
    oracle = next(a for a in answers["right"].values() if getattr(a, "is_oracle", False))
    mistakes = {a.__doc__: a for a in answers["wrong"].values() if hasattr(a, "fails")}
    named = 0
    for test in tests.values():
        record = record_test(test, solution, mistakes, oracle, seed=1)
        for run in (Setting("numpy", "float64", seed=1), Setting("numpy", "float32", seed=1)):
            live = known_results(mistakes, test, run, oracle)
            for words, mistake in mistakes.items():
                verdict = run_test(test, mistake, run, oracle)
                lived = diagnose(verdict, live)
                assert lived.mistake in ("", words)
                if record["mistakes"]:  # not too large to be recorded
                    assert diagnose(verdict, known_mistakes(record, verdict.setting)) == lived
                named += bool(lived.mistake)
    assert named
