"""A made-up class, for `course demo` and the tests.

A quarter hands in right answers, written in different ways; most make one of the known mistakes;
some hand in what is broken; a few attack the grader. Everybody's marks are known beforehand.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import nbformat

from autograder.demo.attacks import QUICK
from autograder.demo.attacks.attack import Attack
from autograder.demo.odd import Odd
from autograder.exercises.assignment import Assignment, CodeExercise, ProofBlocks
from autograder.exercises.prove import answers_in
from autograder.release.notebooks import answer_cell
from course_lib.checking.verdicts import load_module


@dataclass(frozen=True)
class Member:
    """One made-up student: what is handed in, and what it must earn."""

    name: str
    kind: str
    files: dict[str, bytes]
    points: dict[str, float]
    """By graded cell; a proof in words is not among them."""
    folder: Callable[[Path], None] | None = None
    """What is done to the folder once the files lie in it."""


Maker = Callable[[str], Member]


class Class:
    """Makes students for one released assignment."""

    def __init__(self, assignment: Assignment, course: Path):
        self.assignment, stem = assignment, assignment.stem
        self.stem, self.course = stem, course
        self._released = (course / "release" / stem / f"{stem}.ipynb").read_text()
        self._model = (course / "source" / stem / f"{stem}.ipynb").read_text()
        self.code = [e for e in assignment.exercises if isinstance(e, CodeExercise)]
        modules = {e.name: e.folder for e in self.code}
        self.wrong = {n: answers_in(load_module(f / "wrong.py")) for n, f in modules.items()}
        self.right = {n: answers_in(load_module(f / "right.py")) for n, f in modules.items()}
        self.full = {
            e.cells.check: float(e.points)
            for e in assignment.exercises
            if isinstance(e, CodeExercise | ProofBlocks)
        }
        self.nothing = dict.fromkeys(self.full, 0.0)

    def members(self, number: int, seed: int = 1) -> Iterator[Member]:
        """A class with a little of everything, always the same for the same seed."""
        chance = random.Random(seed)
        makers = self._makers()
        if number < len(makers):
            makers = [makers[k * len(makers) // number] for k in range(number)]
        makers += chance.choices(makers[: len(makers) // 2], k=number - len(makers))
        for k, maker in enumerate(makers, start=1):
            yield maker(f"student_{k:03}")

    def _makers(self) -> list[Maker]:
        most = max(map(len, self.wrong.values()))
        makers: list[Maker] = [self.model, self.untouched, self.differently_right]
        makers += [partial(self.kth_mistakes, k=k) for k in range(most)]
        makers += [partial(self.one_mistake, exercise=exercise) for exercise in self.code]
        makers += [partial(self.differently_right, k=k) for k in range(1, 5)]
        makers += [self.model] * 3
        makers += [
            self.syntax_error,
            self.renamed,
            self.duplicated,
            self.reordered,
            self.cut_off,
            self.no_notebook,
        ]
        return makers + [partial(self.attack, attack=attack) for attack in QUICK]

    def model(self, name: str) -> Member:
        return self._member(name, "right", self._notebook(self._model), self.full)

    def untouched(self, name: str) -> Member:
        return self._member(name, "untouched", self._notebook(self._released), self.nothing)

    def differently_right(self, name: str, k: int = 0) -> Member:
        """Every function as one of the right answers writes it."""
        chosen = {
            one.name: list(self.right[one.name])[k % len(self.right[one.name])] for one in self.code
        }
        return self._with_right_answers(name, chosen)

    def in_torch(self, name: str) -> Member:
        """Every function as the first right answer in torch writes it."""
        chosen = {
            one.name: next(
                answer
                for answer, function in self.right[one.name].items()
                if getattr(function, "library", "") == "torch"
            )
            for one in self.code
        }
        return self._with_right_answers(name, chosen)

    def _with_right_answers(self, name: str, chosen: dict[str, str]) -> Member:
        notebook = self._notebook(self._model)
        for exercise in self.code:
            answer = chosen[exercise.name]
            library = getattr(self.right[exercise.name][answer], "library", "numpy")
            self._answer(notebook, exercise, "right.py", answer, library)
        return self._member(name, "right", notebook, self.full)

    def kth_mistakes(self, name: str, k: int) -> Member:
        """The k-th wrong answer of every exercise; exercises with fewer stay untouched."""
        notebook, points = self._notebook(self._released), dict(self.nothing)
        for exercise in self.code:
            answers = list(self.wrong[exercise.name])
            if k < len(answers):
                self._answer(notebook, exercise, "wrong.py", answers[k])
                points[exercise.cells.check] = self.earned(exercise, answers[k])
        return self._member(name, "known mistakes", notebook, points)

    def one_mistake(self, name: str, exercise: CodeExercise) -> Member:
        notebook, points = self._notebook(self._model), dict(self.full)
        answer = next(iter(self.wrong[exercise.name]))
        self._answer(notebook, exercise, "wrong.py", answer)
        points[exercise.cells.check] = self.earned(exercise, answer)
        return self._member(name, "nearly right", notebook, points)

    def syntax_error(self, name: str) -> Member:
        notebook, points = self._notebook(self._model), dict(self.full)
        self.cell(notebook, self.code[0].slug).source = f"def {self.code[0].name}(x:\n    return ("
        points[self.code[0].cells.check] = 0.0
        return self._member(name, "broken", notebook, points)

    def renamed(self, name: str) -> Member:
        files = {"my homework (2).ipynb": self._bytes(self._notebook(self._model))}
        return Member(name, "broken", files, self.full)

    def duplicated(self, name: str) -> Member:
        notebook = self._notebook(self._model)
        notebook.cells += [json.loads(json.dumps(cell)) for cell in notebook.cells]
        return Member(name, "broken", {f"{self.stem}.ipynb": self._bytes(notebook)}, self.full)

    def reordered(self, name: str) -> Member:
        notebook = self._notebook(self._model)
        notebook.cells.reverse()
        return self._member(name, "broken", notebook, self.full)

    def cut_off(self, name: str) -> Member:
        """An upload that stopped in the last answer."""
        text = json.dumps(self._notebook(self._model))
        last = self.code[-1]
        text = text[: text.rindex(f'"{last.slug}"')]
        points = self.full | {last.cells.check: 0.0}
        return Member(name, "broken", {f"{self.stem}.ipynb": text.encode()}, points)

    def no_notebook(self, name: str) -> Member:
        return Member(name, "broken", {"notes.txt": b"see my e-mail"}, self.nothing)

    def attack(self, name: str, attack: Attack) -> Member:
        """All answers wrong, and something that tries to earn the marks all the same."""
        notebook, target = self._notebook(self._released), self.code[0]
        for exercise in self.code:
            self.cell(notebook, exercise.slug).source = self._useless(exercise)
        attack.mount(notebook, self.course, target.name, target.slug)
        files = {f"{self.stem}.ipynb": self._bytes(notebook)}
        files = attack.files(files) if attack.files else files
        return Member(name, f"attack: {attack.name}", files, self.nothing, attack.folder)

    def odd(self, name: str, odd: Odd) -> Member:
        """All answers right, and something about them that must cost nothing."""
        notebook = self._notebook(self._model)
        odd.mount(notebook, self.code[0].slug)
        files = {f"{self.stem}.ipynb": self._bytes(notebook)}
        files = odd.files(files) if odd.files else files
        return Member(name, f"odd: {odd.name}", files, self.full)

    def earned(self, exercise: CodeExercise, wrong: str) -> float:
        """The points of the tests that it does not list; nothing if it lists the core test."""
        fails = set(getattr(self.wrong[exercise.name][wrong], "fails", ()))
        core = {test.name for test in exercise.tests if test.core}
        if core & fails:
            return 0.0
        return exercise.points * (1 - len(fails) / len(exercise.tests))

    def _useless(self, exercise: CodeExercise) -> str:
        return f'library = "numpy"\ndef {exercise.name}(*args, **kwargs):\n    return None'

    def _answer(
        self,
        notebook: nbformat.NotebookNode,
        exercise: CodeExercise,
        file: str,
        answer: str,
        library: str = "numpy",
    ) -> None:
        source = answer_cell(exercise, (exercise.folder / file).read_text(), answer)
        source = source.replace('library = "numpy"', f'library = "{library}"', 1)
        self.cell(notebook, exercise.slug).source = source

    def cell(self, notebook: nbformat.NotebookNode, name: str) -> nbformat.NotebookNode:
        return next(cell for cell in notebook.cells if cell.id == name)

    def _notebook(self, text: str) -> nbformat.NotebookNode:
        return nbformat.reads(text, as_version=4)

    def _bytes(self, notebook: nbformat.NotebookNode) -> bytes:
        return json.dumps(notebook).encode()

    def _member(
        self, name: str, kind: str, notebook: nbformat.NotebookNode, points: dict[str, float]
    ) -> Member:
        return Member(name, kind, {f"{self.stem}.ipynb": self._bytes(notebook)}, dict(points))


def hand_in(course: Path, stem: str, members: list[Member]) -> None:
    """Put the files where nbgrader collects them."""
    for member in members:
        folder = course / "submitted" / member.name / stem
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in member.files.items():
            (folder / name).write_bytes(data)
        if member.folder:
            member.folder(folder)
