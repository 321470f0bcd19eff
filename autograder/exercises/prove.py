"""Prove that an exercise can tell right from wrong, before a student meets it.

The model answer and every differently written right answer pass; the starter, every lazy answer and
every wrong answer fail exactly where they must; every single edit of the model answer is noticed.
All of it over many seeds, in NumPy and torch, float64 and float32.
"""

import ast
import importlib
import inspect
import itertools
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import Any

from autograder.exercises.answer_memo import AnswerMemo
from autograder.exercises.assignment import CodeExercise, Exercise, ProofBlocks, ProofQuestion
from autograder.exercises.lazy_answers import lazy_answers
from autograder.exercises.library_calls import (
    SMALL,
    agreement,
    entries,
    library_calls,
    why_not_withheld,
)
from autograder.exercises.mutants import mutants
from autograder.exercises.new import unfilled
from autograder.exercises.proof import Fault, Proof
from autograder.exercises.prove_blocks import prove_blocks
from autograder.exercises.time_limit import TooSlow, time_limit
from course_lib.checking import expect
from course_lib.checking.findings import AuthorError, Failure
from course_lib.checking.perform import CallRequest
from course_lib.checking.setting import Setting
from course_lib.checking.verdicts import (
    Verdict,
    diagnose,
    earned,
    known_results,
    load_module,
    run_test,
    tests_in,
)

SEEDS = 25
SECONDS_PER_TEST = 10
RUNS = {
    "numpy": (Setting("numpy", "float64"), Setting("numpy", "float32")),
    "torch": (Setting("torch", "float32"), Setting("torch", "float64")),
}


def prove(exercise: Exercise, seeds: int = SEEDS) -> Proof:
    if left := list(unfilled(exercise)):
        solutions = exercise.folder.parents[1]
        faults = [
            Fault(str(path.relative_to(solutions)), "", f"line {line} is still to be filled in")
            for path, line in left
        ]
        return Proof(exercise.name, exercise.kind, faults=faults)
    match exercise:
        case CodeExercise():
            return CodeProof(exercise, seeds).prove()
        case ProofBlocks():
            return prove_blocks(exercise)
        case ProofQuestion():
            return Proof(exercise.name, exercise.kind, tests=len(exercise.rubric))
    raise TypeError(f"no way to prove a {type(exercise).__name__}")


class CodeProof:
    """All that is tried on one code exercise."""

    def __init__(self, exercise: CodeExercise, seeds: int):
        self.exercise, self.seeds = exercise, seeds
        self.proof = Proof(exercise.name, exercise.kind)
        self.tests: dict[str, Callable] = {}
        self.oracle: Callable = _no_oracle
        if "torch" in exercise.libraries:
            torch = importlib.import_module("torch")  # before any clock runs
            torch.set_num_threads(1)  # on small arrays a second one only waits for a core

    def prove(self) -> Proof:
        modules = self._load()
        if not self._set_up(modules):
            return self.proof
        self._withheld_names()
        for step in (self._model_answer, self._right_answers):
            step()
            if self.proof.faults:  # what follows would only repeat it
                return self.proof
        self._worked_example(modules["tests.py"])
        self._starter()
        self._wrong_answers()
        self._lazy_answers()
        self._library_calls()
        self._mutants()
        return self.proof

    def library_calls(self) -> list[Fault]:
        """Of an exercise that is proved: does another course_lib answer it?"""
        if self._set_up(self._load()):
            self._library_calls()
        return self.proof.faults

    def _set_up(self, modules: dict[str, ModuleType]) -> bool:
        if not modules:
            return False
        tests, right, wrong = modules["tests.py"], modules["right.py"], modules["wrong.py"]
        self.model = getattr(modules["solution.py"], self.exercise.name)
        self.library = self.exercise.library
        self.tests = tests_in(tests)
        self.core = next(name for name, test in self.tests.items() if hasattr(test, "is_core"))
        self.proof.tests = len(self.tests)
        self.rights, self.wrongs = answers_in(right), answers_in(wrong)
        oracles = [answer for answer in self.rights.values() if hasattr(answer, "is_oracle")]
        if len(oracles) != 1:
            self._fault(
                "right.py", "", f"{len(oracles)} answers are marked @oracle; mark the plainest one"
            )
            return False
        self.oracle = AnswerMemo(oracles[0])
        return True

    def _fault(self, file: str, function: str, problem: str) -> None:
        path = f"{self.exercise.folder.parent.name}/{self.exercise.name}/{file}"
        if (fault := Fault(path, function, problem)) not in self.proof.faults:
            self.proof.faults.append(fault)

    @contextmanager
    def _blaming(self, file: str, function: str) -> Iterator[None]:
        """Write down what ends a trial: a test that is itself wrong, an answer that never comes."""
        try:
            yield
        except AuthorError as error:
            self._fault("tests.py", error.test, error.problem)
        except TooSlow as slow:
            self._fault(file, function, str(slow))

    def _worked_example(self, tests: ModuleType) -> None:
        """What a student who fails again and again is shown, where there is one."""
        try:
            text = getattr(tests, "on_the_island", str)()
        except Exception as error:
            self._fault("tests.py", "on_the_island", f"raises {error!r}")
        else:
            if not isinstance(text, str):
                self._fault("tests.py", "on_the_island", f"returns {text!r}, not a text")

    def _load(self) -> dict[str, ModuleType]:
        modules = {}
        for file in ("solution.py", "tests.py", "right.py", "wrong.py"):
            try:
                modules[file] = load_module(self.exercise.folder / file)
            except Exception as error:
                self._fault(file, "", f"cannot be imported: {error!r}")
        return {} if self.proof.faults else modules

    def _runs(self, library: str | None = None) -> Iterator[Setting]:
        libraries = [name for name in self.exercise.libraries if library in (None, name)]
        for name, seed in itertools.product(libraries, range(self.seeds)):
            for run in RUNS[name]:
                yield replace(run, seed=seed)

    def _run(self, test: Callable, answer: Callable, run: Setting) -> Verdict:
        seconds = max(SECONDS_PER_TEST, self.exercise.limits.call_seconds or 0)
        with time_limit(seconds, f"gives no answer to {test.__name__}"):
            return run_test(test, answer, run, self.oracle, self.exercise.terms)

    def _refusals(self, answer: Callable, runs: Iterable[Setting]) -> Iterator[Verdict]:
        for run, test in itertools.product(runs, self.tests.values()):
            verdict = self._run(test, answer, run)
            if not verdict.passed:
                yield verdict

    def _model_answer(self) -> None:
        for test in self.tests.values():
            before = expect.expectations_met
            with self._blaming("solution.py", self.exercise.name):
                verdict = self._run(test, self.model, RUNS[self.library][0])
                if not verdict.log.arguments:
                    self._fault("tests.py", test.__name__, "never calls the function")
                elif verdict.passed and expect.expectations_met == before:
                    self._fault(
                        "tests.py",
                        test.__name__,
                        "asserts nothing: it calls the function and expects nothing",
                    )
        if not self.proof.faults:
            self._must_pass("solution.py", self.exercise.name, self.model, self.library)

    def _right_answers(self) -> None:
        rights = self.rights
        if len(rights) < 2:
            self._fault(
                "right.py", "", f"has {len(rights)} right answers; write two or more, differently"
            )
        for name in self.exercise.libraries:
            if name != self.library and not any(
                _library_of(answer, name) == name for answer in rights.values()
            ):
                self._fault("right.py", "", f"no right answer is written for {name}")
        for name, answer in rights.items():
            self._must_pass("right.py", name, answer, getattr(answer, "library", None))
        self.proof.right = 1 + len(rights)

    def _must_pass(self, file: str, name: str, answer: Callable, library: str | None) -> None:
        with self._blaming(file, name):
            if verdict := next(self._refusals(answer, self._runs(library)), None):
                where = f"{verdict.test} ({verdict.setting}, seed {verdict.setting.seed})"
                self._fault(file, name, f"is refused by {where}: {verdict.evidence}")

    def _starter(self) -> None:
        """The starter earns nothing, whatever it already holds."""
        namespace: dict[str, Any] = {}
        exec(
            compile(self.exercise.starter + "\n    ...\n", "starter", "exec"),
            namespace,
        )
        helpers = {
            f"its helper {name}": value
            for name, value in namespace.items()
            if inspect.isfunction(value) and name != self.exercise.name
        }
        answers = {"as it is": namespace[self.exercise.name], **helpers}
        for (name, answer), test in itertools.product(answers.items(), self.tests.values()):
            with self._blaming("solution.py", self.exercise.name):
                if self._run(test, answer, RUNS[self.library][0]).passed:
                    self._fault(
                        "solution.py",
                        self.exercise.name,
                        f"the starter ({name}) passes {test.__name__}: it gives the answer away",
                    )
        told = self.exercise.starter + "\n" + self.exercise.prompt
        told = "".join(told.split())
        for statement in self.exercise.signature.body[1:]:
            line = ast.unparse(statement).removeprefix("return ")
            if len(line) > 20 and "".join(line.split()) in told:
                self._fault(
                    "solution.py",
                    self.exercise.name,
                    f"the starter gives the answer away: it says `{line}`",
                )

    def _wrong_answers(self) -> None:
        caught: set[str] = set()
        described: dict[str, str] = {}
        for name, answer in self.wrongs.items():
            declared = set(_declared(answer))
            mistake = (answer.__doc__ or "").strip()
            if not declared:
                self._fault("wrong.py", name, "names no test that must catch it: write @fails(...)")
            elif unknown := sorted(declared - set(self.tests)):
                self._fault("wrong.py", name, f"names {unknown[0]}, which tests.py does not have")
            elif not mistake:
                self._fault(
                    "wrong.py", name, "has no docstring: say in a few words what the mistake is"
                )
            elif (other := described.setdefault(mistake, name)) != name:
                self._fault("wrong.py", name, f"has the words of {other}: say what differs")
            else:
                self._must_fail_exactly(name, answer, declared)
            caught |= declared
        self.proof.wrong = len(self.wrongs)
        for test in self.tests:
            if test not in caught:
                self._fault("tests.py", test, "never fails: no wrong answer is caught by it")
        if not self.proof.faults:
            self.proof.messages = {name: self._message(a) for name, a in self.wrongs.items()}

    def _must_fail_exactly(self, name: str, answer: Callable, declared: set[str]) -> None:
        faults = len(self.proof.faults)
        with self._blaming("wrong.py", name):
            for run in self._runs(getattr(answer, "library", None)):
                refusals = list(self._refusals(answer, [run]))
                failed = {verdict.test for verdict in refusals}
                where = f"({run}, seed {run.seed})"
                if slipped := sorted(declared - failed):
                    self._fault("wrong.py", name, f"slips through {slipped[0]} {where}")
                if extra := sorted(failed - declared):
                    self._fault(
                        "wrong.py", name, f"also fails {extra[0]} {where}: list it in @fails"
                    )
                for verdict in refusals:
                    self._must_ask(verdict)
                if len(self.proof.faults) > faults:
                    return
            self.proof.wrong_caught += 1

    def _must_ask(self, verdict: Verdict) -> None:
        """Every hint is a question; only where the call itself failed there may be none."""
        call_failed = isinstance(verdict.log.results[-1], Failure) and not verdict.hint
        if not call_failed and not verdict.hint.rstrip().endswith("?"):
            self._fault("tests.py", verdict.test, f"its hint is not a question: {verdict.hint!r}")

    def _message(self, answer: Callable) -> str:
        """What the author of this wrong answer reads first."""
        run = RUNS[self.library][0]
        test = self.tests[_declared(answer)[0]]
        mistakes = {wrong.__doc__ or "": wrong for wrong in self.wrongs.values()}
        results = known_results(mistakes, test, run, self.oracle)
        return str(diagnose(self._run(test, answer, run), results))

    def _lazy_answers(self) -> None:
        for name, run in itertools.product(lazy_answers(self.model), self._runs(self.library)):
            answer = lazy_answers(self.model)[name]  # a fresh one: some of them remember
            with self._blaming("solution.py", self.exercise.name):
                verdicts = self._verdicts(answer, run, whole=run.seed == 0)
                if share := earned(verdicts, 1.0):
                    problem = f"a lazy answer ({name}) earns {share:.0%} of the points"
                    self._fault("tests.py", self.core, problem)

    def _verdicts(self, answer: Callable, run: Setting, whole: bool) -> list[Verdict]:
        """Of all tests; where nothing can be earned any more, of those up to there."""
        verdicts = []
        for test in self.tests.values():
            verdicts.append(self._run(test, answer, run))
            if not whole and verdicts[-1].core and not verdicts[-1].passed:
                break
        return verdicts

    def _withheld_names(self) -> None:
        """A slip of spelling would withhold nothing."""
        for name in self.exercise.withholds:
            if problem := why_not_withheld(name):
                self._entry_fault(f"withholds {name!r}, {problem}")

    def _entry_fault(self, problem: str) -> None:
        file = f"{self.exercise.folder.parent.name}/assignment.toml"
        self.proof.faults.append(Fault(file, self.exercise.name, problem))

    def _library_calls(self) -> None:
        """One call of a library, which the exercise does not withhold, earns nothing."""
        withheld, core, run = self.exercise.withholds, self.tests[self.core], RUNS[self.library][0]
        calls = library_calls(self.exercise.name, inspect.signature(self.model), self.library)
        rights = [a for a in self.rights.values() if _library_of(a, run.library) == run.library]
        agrees = agreement(self._small_call(run), rights)
        passing = [
            path
            for path, answers in calls
            if path not in withheld
            and any(self._passes(core, answer, run) for answer in answers if agrees(answer))
        ]
        if passing:
            self._entry_fault(
                f"a call of {passing[0]} passes {self.core}; in its entry write\n"
                f"  withholds = {json.dumps([*withheld, *passing])}"
            )

    def _small_call(self, setting: Setting) -> CallRequest:
        """A call that a test makes, the core test's if its arrays are small enough."""
        tests = sorted(self.tests.values(), key=lambda test: test.__name__ != self.core)
        logs = [self._run(test, self.model, setting).log for test in tests]
        calls = [call for log in logs for call in log.arguments]
        small = (call for call in calls if entries(call) <= SMALL)
        args, kwargs = next(small, min(calls, key=entries))
        return CallRequest(function=self.model, setting=setting, args=args, kwargs=kwargs)

    def _passes(self, test: Callable, answer: Callable, run: Setting) -> bool:
        try:
            return self._run(test, answer, run).passed
        except (AuthorError, TooSlow):
            return False

    def _mutants(self) -> None:
        listed = self._listed_equivalents()
        alive = set()
        for mutant in mutants(self.exercise.solution, self.exercise.name):
            self.proof.mutants += 1
            namespace: dict[str, Any] = {"__name__": "mutant"}
            exec(compile(mutant.source, "mutant", "exec"), namespace)
            with self._blaming("solution.py", self.exercise.name):
                if self._survives(namespace[self.exercise.name]):
                    alive.add(mutant.edit)
                    if mutant.edit not in listed:
                        self._fault(
                            "solution.py",
                            self.exercise.name,
                            f"line {mutant.line}: no test notices the edit `{mutant.edit}`; add a "
                            "test, or list it in mutants.toml with the reason why it is as good",
                        )
        for edit in sorted(listed - alive):
            self._fault(
                "mutants.toml",
                "",
                f"`{edit}` is listed as equivalent but a test notices it, or it is no edit",
            )
        self.proof.equivalent = len(alive & listed)

    def _survives(self, answer: Callable) -> bool:
        """With the numbers of some seed no test notices the edit."""
        try:
            return any(
                next(self._refusals(answer, list(runs)), None) is None
                for _, runs in itertools.groupby(self._runs(self.library), lambda run: run.seed)
            )
        except TooSlow:
            return False

    def _listed_equivalents(self) -> set[str]:
        path = self.exercise.folder / "mutants.toml"
        try:
            data = tomllib.loads(path.read_text()) if path.is_file() else {}
        except tomllib.TOMLDecodeError as error:
            self._fault("mutants.toml", "", f"is not valid TOML: {error}")
            return set()
        entries = data.get("equivalent", [])
        for entry in entries:
            if not entry.get("reason"):
                self._fault("mutants.toml", "", f"`{entry.get('edit')}` is listed without a reason")
        return {entry.get("edit") for entry in entries if entry.get("reason")}


def _no_oracle(*args: Any, **kwargs: Any) -> Any:
    raise AuthorError("right.py marks no answer with @oracle")


def _declared(wrong: Callable) -> tuple[str, ...]:
    """The tests that must catch it, as @fails names them."""
    return getattr(wrong, "fails", ())


def _library_of(answer: Callable, default: str) -> str:
    """The one library that @only names."""
    return getattr(answer, "library", default)


def answers_in(module: ModuleType) -> dict[str, Callable]:
    return {
        name: value
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
