"""`course quiz NN_topic`: a closed-book sheet and its key, out of the course's own wrong answers.

A question shows the code of a known mistake and asks what it gives, which property it breaks, or
why; the key holds what the tests find when that code is run.
"""

import ast
import copy
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from autograder.exercises.assignment import Assignment, CodeExercise, ProofBlocks
from autograder.exercises.prove import RUNS, answers_in
from autograder.files import write_atomically
from autograder.reports.pages import page, sentence
from autograder.typeset.typesetter import Typesetter
from course_lib.checking.setting import Setting
from course_lib.checking.verdicts import Verdict, load_module, run_test, tests_in

MINUTES = 4
"""For one question."""
ENTRIES = 8
"""More numbers than these nobody works out by hand."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass
class Question:
    """What is asked, and what the key says."""

    exercise: str
    asked: str
    code: str = ""
    choices: list[tuple[str, str]] = field(default_factory=list)
    lines: int = 3
    """To write on."""
    answer: str = ""
    reasons: list[str] = field(default_factory=list)


def write_quiz(assignment: Assignment, seed: int, number: int, folder: Path) -> tuple[Path, Path]:
    asked = make_quiz(assignment, seed, number)
    sheet = folder / f"{assignment.stem}-{seed}.html"
    key = folder / f"{assignment.stem}-{seed}-key.html"
    with Typesetter() as typesetter:
        for path, is_key in ((sheet, False), (key, True)):
            html = page(
                "quiz.html",
                typesetter,
                title=f"Chapter {assignment.number}: {assignment.title}",
                questions=asked,
                is_key=is_key,
                which=f"Quiz {seed}",
                minutes=MINUTES * len(asked),
            )
            write_atomically(path, html, mode=0o600 if is_key else None)
    return sheet, key


def make_quiz(assignment: Assignment, seed: int, number: int) -> list[Question]:
    """In turn from every exercise, and of every kind, as far as there are any."""
    chance = random.Random(f"{assignment.stem} {seed}")
    supplies = [_questions(exercise, chance) for exercise in assignment.exercises]
    chance.shuffle(supplies)
    chosen: list[Question] = []
    while supplies and len(chosen) < number:
        turn = [(supply, next(supply, None)) for supply in supplies[: number - len(chosen)]]
        chosen += [question for _, question in turn if question]
        empty = [supply for supply, question in turn if not question]
        supplies = [supply for supply in supplies if supply not in empty]
    return chosen


def _questions(exercise: Any, chance: random.Random) -> Iterator[Question]:
    """One for each known mistake, in a random order."""
    if isinstance(exercise, ProofBlocks):
        false = list(exercise.blocks.why_not.items())
        chance.shuffle(false)
        for letter, why in false:
            yield Question(
                exercise.number,
                f"In a proof of: {exercise.statement}\n\nsomebody writes: "
                f"“{exercise.blocks.text[letter]}” Why does this line not belong there?",
                answer=why,
            )
    elif isinstance(exercise, CodeExercise):
        mistakes = Mistakes(exercise)
        kinds = [mistakes.what_it_gives, mistakes.which_fail, mistakes.mend_it]
        names = sorted(mistakes.wrong)
        chance.shuffle(names)
        for k, name in enumerate(names):
            in_turn = kinds[k % 3 :] + kinds[: k % 3]
            yield next(filter(None, (kind(name, chance) for kind in in_turn)))


class Mistakes:
    """The wrong answers of one exercise, as questions."""

    def __init__(self, exercise: CodeExercise):
        self.exercise = exercise
        folder = exercise.folder
        self.wrong = answers_in(load_module(folder / "wrong.py"))
        self.tests = tests_in(load_module(folder / "tests.py"))
        rights = answers_in(load_module(folder / "right.py")).values()
        self.oracle = next(answer for answer in rights if getattr(answer, "is_oracle", False))
        self.source = (folder / "wrong.py").read_text()

    def which_fail(self, name: str, chance: random.Random) -> Question | None:
        """Only where some hold: to tick all is no question."""
        fails = set(self._fails(name))
        if len(fails) > len(self.tests) / 2:
            return None
        tests = list(self.exercise.tests)
        chance.shuffle(tests)
        listed = list(zip(LETTERS, tests, strict=False))
        letters = ", ".join(letter for letter, test in listed if test.name in fails)
        return Question(
            self.exercise.number,
            "Which of these properties does this code break? Give a reason for one of them.",
            self._code(name),
            [(letter, test.property) for letter, test in listed],
            answer=f"{letters}: {self._slip(name)}.",
            reasons=self._evidence(name),
        )

    def mend_it(self, name: str, chance: random.Random) -> Question:
        return Question(
            self.exercise.number,
            f"This is what the function is for: *{self._purpose()}* Say in one sentence what is "
            "wrong with it, and write a line as it should be.",
            self._code(name),
            answer=f"{self._slip(name)}.",
            reasons=[*self._evidence(name), f"right, for example:\n\n```\n{self._model()}\n```"],
        )

    def what_it_gives(self, name: str, chance: random.Random) -> Question | None:
        """Where a call of the core test goes wrong on few numbers that can be said without
        decimals."""
        log = self._verdict(name, next(t.name for t in self.exercise.tests if t.core)).log
        for (arguments, named), got in zip(log.arguments, log.results, strict=False):
            if isinstance(got, Exception):
                return None
            due = self.oracle(*copy.deepcopy(arguments), **named)
            *given, got, due = (said(value) for value in (*arguments, *named.values(), got, due))
            if None in (*given, got, due) or got == due:
                continue
            names = [n.arg for n in self.exercise.signature.args.args[: len(arguments)]]
            pairs = zip([*names, *named], given, strict=True)
            inputs = ", ".join(f"`{n}` = {value}" for n, value in pairs)
            return Question(
                self.exercise.number,
                f"What does this code give for {inputs}? And what should it give?",
                self._code(name),
                answer=f"It gives {got} in place of {due}: {self._slip(name)}.",
                reasons=self._evidence(name),
            )
        return None

    def _purpose(self) -> str:
        text = ast.get_docstring(self.exercise.signature) or ""
        return " ".join(text.partition("\n\n")[0].split())

    def _slip(self, name: str) -> str:
        return " ".join((self.wrong[name].__doc__ or "").split())

    def _fails(self, name: str) -> tuple[str, ...]:
        """The tests that this wrong answer fails, as its author has marked it."""
        fails: tuple[str, ...] = getattr(self.wrong[name], "fails", ())
        return fails

    def _verdict(self, name: str, test: str) -> Verdict:
        library = getattr(self.wrong[name], "library", self.exercise.library)
        run: Setting = RUNS[library][0 if library == "numpy" else 1]
        return run_test(self.tests[test], self.wrong[name], run, self.oracle)

    def _evidence(self, name: str) -> list[str]:
        """What the tests find, as its author would read it."""
        verdicts = [self._verdict(name, test) for test in self._fails(name)]
        hidden = "the numbers are drawn when it is marked"
        return [
            f"{v.property}: {hidden if v.hidden else v.evidence}. {sentence(v.hint)}"
            for v in verdicts[:2]
            if not v.passed
        ]

    def _code(self, name: str) -> str:
        """Under the name of the exercise, without comments; what it calls stands above."""
        tree = ast.parse(self.source)
        functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
        wanted, found = [name], []
        while wanted:
            node = functions[wanted.pop()]
            if node not in found:
                found.append(node)
                names_used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                wanted += sorted(names_used & set(functions))
        ordered = [node for node in functions.values() if node in found]
        return "\n\n".join(_bare(node, {name: self.exercise.name}) for node in ordered)

    def _model(self) -> str:
        return _bare(self.exercise.signature, {})


def _bare(node: ast.FunctionDef, names: dict[str, str]) -> str:
    node = copy.deepcopy(node)
    node.decorator_list, node.returns = [], None
    node.name = names.get(node.name, node.name)
    if ast.get_docstring(node):
        node.body = node.body[1:]
    for argument in node.args.args:
        argument.annotation = None
    return ast.unparse(_InNumPy().visit(node))


class _InNumPy(ast.NodeTransformer):
    """On paper the library is NumPy, whatever the course can do besides."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if _finds_library(node.value) else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [each for each in node.args if ast.unparse(each) != "xp"]
        return ast.Name("np") if _finds_library(node) else self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.args = [each for each in node.args if each.arg != "xp"]
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name("np") if node.id == "xp" else node


def _finds_library(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "array_namespace"


def said(value: Any) -> str | None:
    """An array in whole numbers, fractions and logarithms of 2; None if it cannot be said so."""
    if not isinstance(value, np.ndarray | float | int) or isinstance(value, bool):
        return None
    array = np.asarray(value, dtype=float)
    if array.size > ENTRIES or array.ndim > 2:
        return None
    return _list(array.tolist())


def _list(value: Any) -> str | None:
    if not isinstance(value, list):
        return _number(value)
    parts = [_list(item) for item in value]
    sayable = [part for part in parts if part is not None]
    return f"({', '.join(sayable)})" if len(sayable) == len(parts) else None


def _number(value: float) -> str | None:
    for unit, word in ((1.0, ""), (math.log(2), "ln 2")):
        nearest = Fraction(value / unit).limit_denominator(16) if math.isfinite(value) else None
        if nearest is not None and abs(value / unit - nearest) < 1e-9 and abs(nearest) < 1000:
            if not word or not nearest:
                return str(nearest)
            factor = {Fraction(1): "", Fraction(-1): "-"}.get(nearest, f"{nearest} ")
            return f"{factor}{word}"
    return {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan" if math.isnan(value) else None)
