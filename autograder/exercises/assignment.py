"""Read `solutions/NN_topic/`: one assignment, its exercises, and what each file of a folder says.

An exercise is written once, in its folder; the page, the notebook, the graded cell and the table of
wrong answers all come from the objects made here. Whatever is malformed is refused with the file,
the line where there is one, and the remedy.
"""

import ast
import re
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import ClassVar

from autograder.exercises.cell_ids import COMMON, CellIds
from autograder.exercises.sources import (
    Test,
    check_prompt,
    check_solution,
    library_of,
    read_tests,
    the_function,
)
from autograder.exercises.toml_tables import BadExercise, Table
from autograder.paths import ROOT
from autograder.sandbox.bounds import fault_in
from course_lib.checking.blocks import Blocks
from course_lib.checking.terms import Limits, Terms

LEVELS = {1: "warm-up", 2: "core", 3: "needs an idea", 4: "capstone"}
LIBRARIES = ("numpy", "torch")
MARKINGS = ("by hand", "self", "off")
CODE_FILES = ("prompt.md", "solution.py", "tests.py", "right.py", "wrong.py")
RUBRIC_POINTS = 4
BLOCK_LINES = 9


@dataclass(frozen=True)
class Exercise:
    """What every kind of exercise has."""

    kind: ClassVar[str]
    folder: Path
    name: str
    number: str
    title: str
    minutes: int
    level: int
    goal: str
    required: bool
    points: float
    why: str = field(default="", kw_only=True)
    """Why the model answer is as it is, in a sentence, for a reader who has opened it."""

    @property
    def cells(self) -> CellIds:
        return CellIds.of(self.name)

    @property
    def slug(self) -> str:
        return self.cells.answer


@dataclass(frozen=True)
class CodeExercise(Exercise):
    """A function to write."""

    kind = "code"
    withholds: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    libraries: tuple[str, ...] = LIBRARIES
    section: str = ""

    @property
    def terms(self) -> Terms:
        return Terms(self.withholds, self.limits)

    @cached_property
    def prompt(self) -> str:
        return (self.folder / "prompt.md").read_text().strip()

    @cached_property
    def solution(self) -> str:
        return (self.folder / "solution.py").read_text()

    @cached_property
    def signature(self) -> ast.FunctionDef:
        return the_function(self.folder / "solution.py", self.name)

    @property
    def library(self) -> str:
        """The library that the first line of the model answer names."""
        return library_of(self.solution)

    @cached_property
    def starter(self) -> str:
        """Everything up to the end of the docstring."""
        docstring = self.signature.body[0]
        return "\n".join(self.solution.splitlines()[: docstring.end_lineno])

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        return read_tests(self.folder / "tests.py", self.name)


@dataclass(frozen=True)
class ProofBlocks(Exercise):
    """The lines of a proof, to be put in order among lines that do not belong."""

    kind = "proof blocks"
    statement: str = ""
    blocks: Blocks = field(kw_only=True)

    @property
    def shown(self) -> list[tuple[str, str]]:
        return [(letter, self.blocks.text[letter]) for letter in self.blocks.letters]

    @property
    def solution(self) -> list[str]:
        return self.blocks.one_proof

    @property
    def marked_by(self) -> dict:
        """What the notebook and the page mark an answer by, in no order that gives it away."""
        data = asdict(self.blocks) | {"points": self.points}
        return data | {key: dict(sorted(data[key].items())) for key in ("after", "part")}


@dataclass(frozen=True)
class ProofQuestion(Exercise):
    """A proof in the student's own words, marked by a person against yes-or-no points."""

    kind = "proof"
    prompt: str = ""
    model: str = ""
    rubric: tuple[str, ...] = ()
    marking: str = "by hand"


@dataclass(frozen=True)
class Assignment:
    """A chapter's exercises, in order."""

    folder: Path
    title: str
    goals: dict[str, str]
    exercises: tuple[Exercise, ...]

    @property
    def stem(self) -> str:
        return self.folder.name

    @property
    def number(self) -> int:
        return int(self.stem[:2])

    @property
    def minutes(self) -> int:
        return sum(exercise.minutes for exercise in self.exercises)

    @property
    def example(self) -> str:
        """The exercise that commands are shown on."""
        code = [e.name for e in self.exercises if isinstance(e, CodeExercise)]
        return (code or [self.exercises[0].name])[0]

    def __getitem__(self, name: str) -> Exercise:
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        raise KeyError(
            f"{self.stem} has no exercise {name!r}; it has {[e.name for e in self.exercises]}"
        )


def load_course(solutions: Path = ROOT / "solutions") -> list[Assignment]:
    """Read every assignment; an exercise's name is unique in the whole course."""
    assignments = [load_assignment(folder) for folder in _folders(solutions)]
    seen: dict[str, Assignment] = {}
    for assignment in assignments:
        for position, exercise in enumerate(assignment.exercises, start=1):
            if other := seen.get(exercise.name):
                raise Table(assignment.folder / "assignment.toml", {}, "exercise", position).bad(
                    f"two exercises are called {exercise.name!r}: here and in {other.stem}",
                    "rename one: its name is its address in notebooks, pages and the gradebook",
                )
            seen[exercise.name] = assignment
    return assignments


def load_assignment(folder: Path) -> Assignment:
    """Read one `solutions/NN_topic/` folder."""
    path = folder / "assignment.toml"
    if not re.fullmatch(r"\d\d_[a-z0-9_]+", folder.name):
        raise BadExercise(
            folder, "is not named like a chapter", "call it NN_topic, as in 03_softmax"
        )
    if not path.is_file():
        raise BadExercise(
            path, "is missing", "every folder of solutions/ has one; copy 03_softmax's"
        )
    table = Table.read(path)
    title, goals = table.take("title", str), table.take("goals", dict)
    entries = table.take("exercise", list)
    table.nothing_left()
    for_goals = Table(path, goals, "goals")
    for goal in goals:
        for_goals.take(goal, str)
    exercises, names = [], set()
    cells = dict.fromkeys(COMMON, "every assignment")
    for position, entry in enumerate(entries, start=1):
        table = Table(path, entry, "exercise", position)
        exercise = _read_exercise(table, folder, f"{int(folder.name[:2])}.{position}")
        if exercise.name in names:
            raise table.bad(f"two exercises are called {exercise.name!r}", "rename one of them")
        names.add(exercise.name)
        for cell in exercise.cells:
            if (owner := cells.setdefault(cell, exercise.name)) != exercise.name:
                problem = f"{exercise.name!r} would have the cell {cell!r} of {owner}"
                raise table.bad(problem, "choose another name", "name")
        if exercise.goal not in goals:
            raise table.bad(
                f"{exercise.name!r} practises the goal {exercise.goal!r}, which is not in [goals]",
                f"use one of {sorted(goals)}, or add it",
                "goal",
            )
        exercises.append(exercise)
    practised = {exercise.goal for exercise in exercises}
    if idle := [goal for goal in goals if goal not in practised]:
        raise for_goals.bad(
            f"no exercise practises the goal {idle[0]!r}",
            "promise only what is practised: add an exercise with this `goal`, or drop the goal",
            idle[0],
        )
    if strays := [stray for stray in _folders(folder) if stray.name not in names]:
        raise BadExercise(
            strays[0],
            "is not listed in assignment.toml",
            "add an [[exercise]] with this name, or remove the folder",
        )
    return Assignment(folder, title, goals, tuple(exercises))


def _folders(parent: Path) -> list[Path]:
    return [p for p in sorted(parent.iterdir()) if p.is_dir() and p.name[0] not in "._"]


def _read_exercise(table: Table, assignment: Path, number: str) -> Exercise:
    kind = table.one_of("kind", ("code", "proof blocks", "proof"), "code")
    name = table.take("name", str)
    if not name.isidentifier():
        raise table.bad(f"{name!r} is not a Python name", "use letters and _")
    common = {
        "folder": assignment / name,
        "name": name,
        "number": number,
        "title": table.take("title", str),
        "minutes": table.take("minutes", int),
        "level": table.one_of("level", LEVELS),
        "goal": table.take("goal", str),
        "required": table.take("required", bool, False),
        "why": table.take("why", str, ""),
    }
    points = table.take("points", (int, float), 0)
    for key, value, least in (("minutes", common["minutes"], 1), ("points", points, 0)):
        if value < least:
            raise table.bad(f"`{key}` is {value}", f"it is at least {least}", key)
    make = {"code": _code, "proof blocks": _proof_blocks, "proof": _proof_question}[kind]
    exercise = make(table, common, points)
    table.nothing_left()
    return exercise


def _code(table: Table, common: dict, points: float) -> CodeExercise:
    folder = common["folder"]
    _need_files(folder, CODE_FILES)
    libraries = table.take_all("libraries", str, list(LIBRARIES))
    if not libraries or set(libraries) - set(LIBRARIES):
        raise table.bad(
            f"`libraries` is {list(libraries)}",
            f"use one or both of {list(LIBRARIES)}",
            "libraries",
        )
    exercise = CodeExercise(
        **common,
        points=points,
        withholds=table.take_all("withholds", str, []),
        limits=_limits(table),
        libraries=libraries,
        section=table.take("section", str, ""),
    )
    check_prompt(folder / "prompt.md")
    check_solution(folder / "solution.py", exercise.name)
    return replace(exercise, points=points or len(exercise.tests))


def _limits(table: Table) -> Limits:
    """Where this exercise needs others than the grader's."""
    stated = table.take("limits", dict, {})
    for name, value in stated.items():
        if fault := fault_in(name, value):
            raise table.bad(*fault, "limits")
    return Limits(**stated)


def _proof_blocks(table: Table, common: dict, points: float) -> ProofBlocks:
    path = common["folder"] / "proof.toml"
    _need_files(path.parent, (path.name,))
    proof = Table.read(path)
    statement = proof.take("statement", str)
    lines, distractors = proof.take("line", list), proof.take("distractor", list, [])
    proof.nothing_left()
    if not 2 <= len(lines) <= BLOCK_LINES:
        raise proof.bad(f"has {len(lines)} lines", f"a proof to build has 2 to {BLOCK_LINES}")
    if len(distractors) > BLOCK_LINES:
        raise proof.bad(f"has {len(distractors)} distractors", f"keep {BLOCK_LINES} at most")
    for number, line in enumerate(lines, start=1):
        _check_line(Table(path, line, "line", number), number, len(lines))
    for number, distractor in enumerate(distractors, start=1):
        _check_distractor(Table(path, distractor, "distractor", number), len(lines))
    try:
        blocks = Blocks.from_lines(lines, distractors, shuffle=Random(common["name"]))
    except ValueError as error:
        raise BadExercise(path, str(error), "mend `after` and `part`") from None
    return ProofBlocks(
        **common, points=points or len(lines), statement=statement.strip(), blocks=blocks
    )


def _check_line(table: Table, number: int, lines: int) -> None:
    table.take("text", str)
    table.take("part", str, "")
    for before in table.take_all("after", int, []):
        if not 1 <= before <= lines or before == number:
            raise table.bad(
                f"line {number} comes after line {before}",
                f"`after` holds numbers of other lines, 1 to {lines}",
                "after",
            )
    table.nothing_left()


def _check_distractor(table: Table, lines: int) -> None:
    table.take("text", str)
    if not table.take("why", str).strip():
        raise table.bad("`why` is empty", "say why the line is false or does not follow", "why")
    if not 1 <= table.take("beside", int) <= lines:
        raise table.bad(
            "`beside` names no line",
            f"give the number of the line it imitates, 1 to {lines}",
            "beside",
        )
    table.nothing_left()


def _proof_question(table: Table, common: dict, points: float) -> ProofQuestion:
    rubric = table.take_all("rubric", str)
    if not 1 <= len(rubric) <= RUBRIC_POINTS:
        raise table.bad(
            f"{common['name']!r} has {len(rubric)} rubric points",
            f"a proof question has 1 to {RUBRIC_POINTS}, each answered by yes or no",
            "rubric",
        )
    return ProofQuestion(
        **common,
        points=points or len(rubric),
        prompt=table.take("prompt", str).strip(),
        model=table.take("model", str).strip(),
        rubric=rubric,
        marking=table.one_of("marking", MARKINGS, "by hand"),
    )


def _need_files(folder: Path, names: tuple[str, ...]) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise BadExercise(
                folder / name, "is missing", f"an exercise of this kind has {', '.join(names)}"
            )
