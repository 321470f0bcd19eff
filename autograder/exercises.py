"""Read `solutions/NN_topic/`: one assignment, its exercises, and what each file of a folder says.

An exercise is written once, in its folder; the page, the notebook, the graded cell and the table of
wrong answers all come from the objects made here. Whatever is malformed is refused with the file,
the line where there is one, and the remedy.
"""

import ast
import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random

from course_lib.checking.blocks import Blocks

ROOT = Path(__file__).resolve().parent.parent
LEVELS = {1: "warm-up", 2: "core", 3: "needs an idea", 4: "capstone"}
MARKINGS = ("by hand", "self", "off")
CODE_FILES = ("prompt.md", "solution.py", "tests.py", "right.py", "wrong.py")
FIRST_LINE = r'library = "(numpy|torch)"'
RUBRIC_POINTS = 4
BLOCK_LINES = 9


class BadExercise(Exception):
    """An exercise folder that cannot be used: where, what, and what to do."""

    def __init__(self, path: Path, problem: str, remedy: str, line: int | None = None):
        where = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        self.path, self.line = path, line
        super().__init__(f"{where}{f':{line}' if line else ''}: {problem}\n  {remedy}")


@dataclass(frozen=True)
class Test:
    """What `tests.py` says about one property, read without running it."""

    name: str
    property: str
    """The first paragraph of the docstring, on one line: the property in words."""
    statement: str
    """The rest of the docstring: the property in mathematics, or nothing."""
    hidden: bool
    core: bool
    line: int


@dataclass(frozen=True)
class Exercise:
    """What every kind of exercise has."""

    folder: Path
    name: str
    number: str
    title: str
    minutes: int
    level: int
    goal: str
    required: bool
    points: float

    @property
    def slug(self) -> str:
        return self.name.replace("_", "-")


@dataclass(frozen=True)
class CodeExercise(Exercise):
    """A function to write."""

    kind = "code"
    withholds: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ("numpy", "torch")
    section: str = ""

    @cached_property
    def prompt(self) -> str:
        return (self.folder / "prompt.md").read_text().strip()

    @cached_property
    def solution(self) -> str:
        return (self.folder / "solution.py").read_text()

    @cached_property
    def signature(self) -> ast.FunctionDef:
        return _the_function(self.folder / "solution.py", self.name)

    @property
    def library(self) -> str:
        """The library that the first line of the model answer names."""
        return re.match(FIRST_LINE, self.solution.lstrip())[1]

    @cached_property
    def starter(self) -> str:
        """Everything up to the end of the docstring."""
        docstring = self.signature.body[0]
        return "\n".join(self.solution.splitlines()[: docstring.end_lineno])

    @cached_property
    def tests(self) -> tuple[Test, ...]:
        return _read_tests(self.folder / "tests.py", self.name)


@dataclass(frozen=True)
class ProofBlocks(Exercise):
    """The lines of a proof, to be put in order among lines that do not belong."""

    kind = "proof blocks"
    statement: str = ""
    blocks: Blocks = field(default=None)

    @property
    def shown(self) -> list[tuple[str, str]]:
        return [(letter, self.blocks.text[letter]) for letter in self.blocks.letters]

    @property
    def solution(self) -> list[str]:
        return self.blocks.one_proof


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

    def __getitem__(self, name: str) -> Exercise:
        for exercise in self.exercises:
            if exercise.name == name:
                return exercise
        raise KeyError(
            f"{self.stem} has no exercise {name!r}; it has {[e.name for e in self.exercises]}"
        )


def load_course(solutions: Path = ROOT / "solutions") -> list[Assignment]:
    """Read every assignment; an exercise's name is unique in the whole course."""
    assignments = [
        load_assignment(path.parent) for path in sorted(solutions.glob("*/assignment.toml"))
    ]
    seen: dict[str, Assignment] = {}
    for assignment in assignments:
        for exercise in assignment.exercises:
            if other := seen.get(exercise.name):
                raise BadExercise(
                    assignment.folder / "assignment.toml",
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
    try:
        data = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise BadExercise(
            path, f"is not valid TOML: {error}", "mend that line", line and int(line[1])
        ) from None
    table = _Table(path, data)
    title, goals, entries = (
        table.take("title", str),
        table.take("goals", dict),
        table.take("exercise", list),
    )
    table.nothing_left()
    exercises, names = [], set()
    for position, entry in enumerate(entries, start=1):
        exercise = _read_exercise(_Table(path, entry), folder, f"{int(folder.name[:2])}.{position}")
        if exercise.name in names:
            raise BadExercise(
                path,
                f"two exercises are called {exercise.name!r}",
                "rename one of them",
                _Table(path, entry).line,
            )
        names.add(exercise.name)
        if exercise.goal not in goals:
            raise BadExercise(
                path,
                f"{exercise.name!r} practises the goal {exercise.goal!r}, which is not in [goals]",
                f"use one of {sorted(goals)}, or add it",
                _Table(path, entry).line,
            )
        exercises.append(exercise)
    if idle := set(goals) - {exercise.goal for exercise in exercises}:
        raise BadExercise(
            path,
            f"no exercise practises the goal {sorted(idle)[0]!r}",
            "promise only what is practised: add an exercise with this `goal`, or drop the goal",
            table.line_of(sorted(idle)[0]),
        )
    strays = {p.name for p in folder.iterdir() if p.is_dir() and p.name[0] not in "._"} - names
    if strays:
        raise BadExercise(
            folder / sorted(strays)[0],
            "is not listed in assignment.toml",
            "add an [[exercise]] with this name, or remove the folder",
        )
    return Assignment(folder, title, goals, tuple(exercises))


class _Table:
    """A table of assignment.toml that knows its line, refuses wrong types and unknown keys."""

    def __init__(self, path: Path, data: dict):
        self.path, self.left = path, dict(data)
        self.line = self.line_of(data.get("name", ""), value=True)

    def line_of(self, word: str, value: bool = False) -> int | None:
        pattern = rf'=\s*"{re.escape(word)}"' if value else rf'^\s*"?{re.escape(word)}"?\s*='
        for number, text in enumerate(self.path.read_text().splitlines(), start=1):
            if word and re.search(pattern, text):
                return number
        return None

    def take(self, key: str, kind: type | tuple, default=None):
        if key not in self.left:
            if default is not None:
                return default
            raise BadExercise(self.path, f"has no `{key}`", f"add `{key} = ...`", self.line)
        value = self.left.pop(key)
        if not isinstance(value, kind) or isinstance(value, bool) and kind is not bool:
            wanted = kind.__name__ if isinstance(kind, type) else "number"
            raise BadExercise(
                self.path,
                f"`{key}` is {value!r}, not a {wanted}",
                "mend its value",
                self.line_of(key),
            )
        return value

    def one_of(self, key: str, choices, default=None):
        value = self.take(key, type(next(iter(choices))), default)
        if value not in choices:
            raise BadExercise(
                self.path,
                f"`{key} = {value!r}` is unknown",
                f"use one of {list(choices)}",
                self.line_of(key) if self.line is None else self.line,
            )
        return value

    def nothing_left(self) -> None:
        if self.left:
            key = next(iter(self.left))
            raise BadExercise(
                self.path,
                f"`{key}` means nothing here",
                "remove it or mend its spelling",
                self.line_of(key),
            )


def _read_exercise(table: _Table, assignment: Path, number: str) -> Exercise:
    kind = table.one_of("kind", ("code", "proof blocks", "proof"), "code")
    name = table.take("name", str)
    if not name.isidentifier():
        raise BadExercise(
            table.path, f"{name!r} is not a Python name", "use letters and _", table.line
        )
    folder = assignment / name
    common = {
        "folder": folder,
        "name": name,
        "number": number,
        "title": table.take("title", str),
        "minutes": table.take("minutes", int),
        "level": table.one_of("level", LEVELS),
        "goal": table.take("goal", str),
        "required": table.take("required", bool, False),
    }
    points = table.take("points", (int, float), 0)
    make = {"code": _code, "proof blocks": _proof_blocks, "proof": _proof_question}[kind]
    exercise = make(table, common, points)
    table.nothing_left()
    return exercise


def _code(table: _Table, common: dict, points: float) -> CodeExercise:
    folder = common["folder"]
    _need_files(folder, CODE_FILES)
    extra = {
        "withholds": tuple(table.take("withholds", list, [])),
        "libraries": tuple(table.take("libraries", list, ["numpy", "torch"])),
        "section": table.take("section", str, ""),
    }
    exercise = CodeExercise(**common, points=points, **extra)
    _check_prompt(folder / "prompt.md")
    _check_signature(exercise)
    tests = exercise.tests
    if not points:
        exercise = CodeExercise(**common, points=len(tests), **extra)
    return exercise


def _proof_blocks(table: _Table, common: dict, points: float) -> ProofBlocks:
    folder = common["folder"]
    _need_files(folder, ("proof.toml",))
    path = folder / "proof.toml"
    try:
        data = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise BadExercise(
            path, f"is not valid TOML: {error}", "mend that line", line and int(line[1])
        ) from None
    proof = _Table(path, data)
    statement, lines = proof.take("statement", str), proof.take("line", list)
    distractors = proof.take("distractor", list, [])
    proof.nothing_left()
    if len(lines) > BLOCK_LINES:
        raise BadExercise(
            path, f"has {len(lines)} lines", f"a proof to build has at most {BLOCK_LINES}"
        )
    for number, line in enumerate(lines, start=1):
        if any(
            not 1 <= before <= len(lines) or before == number for before in line.get("after", [])
        ):
            raise BadExercise(
                path, f"line {number} comes after a line that does not exist", "mend `after`"
            )
    for distractor in distractors:
        if not distractor.get("why") or not 1 <= distractor.get("beside", 0) <= len(lines):
            raise BadExercise(
                path,
                f"the distractor {distractor.get('text', '')[:40]!r} lacks `why` or `beside`",
                "say why it is false, and the number of the line it imitates",
            )
    try:
        blocks = Blocks.from_lines(lines, distractors, shuffle=Random(common["name"]))
    except ValueError as error:
        raise BadExercise(path, str(error), "mend `after` and `part`") from None
    return ProofBlocks(
        **common, points=points or len(lines), statement=statement.strip(), blocks=blocks
    )


def _proof_question(table: _Table, common: dict, points: float) -> ProofQuestion:
    rubric = tuple(table.take("rubric", list))
    if not 1 <= len(rubric) <= RUBRIC_POINTS:
        raise BadExercise(
            table.path,
            f"{common['name']!r} has {len(rubric)} rubric points",
            f"a proof question has 1 to {RUBRIC_POINTS}, each answered by yes or no",
            table.line,
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


def _check_prompt(path: Path) -> None:
    for number, text in enumerate(path.read_text().splitlines(), start=1):
        if text.lstrip().startswith(("```", "~~~")) and "{math}" not in text and text.strip("`~ "):
            raise BadExercise(
                path,
                "holds a code cell",
                "a prompt is prose and one equation; code goes to solution.py",
                number,
            )


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(), filename=str(path))
    except SyntaxError as error:
        raise BadExercise(
            path, f"is not valid Python: {error.msg}", "mend that line", error.lineno
        ) from None


def _the_function(path: Path, name: str) -> ast.FunctionDef:
    functions = [node for node in _parse(path).body if isinstance(node, ast.FunctionDef)]
    for node in functions:
        if node.name == name:
            return node
    raise BadExercise(path, f"defines no function {name!r}", "name it as the folder", 1)


def _check_signature(exercise: CodeExercise) -> None:
    path, function = exercise.folder / "solution.py", exercise.signature
    if not ast.get_docstring(function):
        raise BadExercise(
            path,
            f"{exercise.name} has no docstring",
            "the docstring is the border between starter and answer: write it",
            function.lineno,
        )
    if len(function.body) < 2:
        raise BadExercise(
            path,
            f"{exercise.name} has no model answer",
            "write it below the docstring",
            function.lineno,
        )
    if function.returns is None:
        raise BadExercise(
            path,
            f"{exercise.name} does not say what it returns",
            "annotate it: -> np.ndarray, -> float, -> tuple[np.ndarray, np.ndarray]",
            function.lineno,
        )
    if not re.match(FIRST_LINE, exercise.solution.lstrip()):
        raise BadExercise(
            path, "does not begin with the student's choice", 'begin with library = "numpy"', 1
        )


def _read_tests(path: Path, name: str) -> tuple[Test, ...]:
    tests = []
    for node in _parse(path).body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        arguments = [argument.arg for argument in node.args.args]
        if arguments != [name, "arrays"]:
            raise BadExercise(
                path,
                f"{node.name} takes {arguments}",
                f"a test takes ({name}, arrays)",
                node.lineno,
            )
        words, _, statement = (ast.get_docstring(node) or "").partition("\n\n")
        if not words:
            raise BadExercise(
                path,
                f"{node.name} has no docstring",
                "write the property it checks, in one sentence",
                node.lineno,
            )
        marks = {mark.id for mark in node.decorator_list if isinstance(mark, ast.Name)}
        tests.append(
            Test(
                node.name,
                " ".join(words.split()),
                statement.strip(),
                "hidden" in marks,
                "core" in marks,
                node.lineno,
            )
        )
    if [test.hidden for test in tests] != sorted(test.hidden for test in tests):
        first = next(t for t in tests if t.hidden)
        raise BadExercise(
            path, "a visible test stands below a hidden one", "visible tests come first", first.line
        )
    if sum(test.core for test in tests) != 1:
        raise BadExercise(
            path,
            f"{sum(t.core for t in tests)} tests are marked @core",
            "mark one: ordinary inputs and an independent oracle; until it passes nothing is earned",
        )
    if all(test.hidden for test in tests):
        raise BadExercise(path, "has no visible test", "the student needs one to work with")
    return tuple(tests)
