"""What a student gets: notebook, visible tests, recorded numbers, course_lib without the answers.

The grader's folder is made by the same functions with all tests and its own seed. No oracle and no
wrong answer is in either: only the numbers that they gave.
"""

import ast
import contextlib
import hashlib
import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat

from autograder.exercises.assignment import (
    Assignment,
    CodeExercise,
    ProofBlocks,
    ProofQuestion,
    load_assignment,
)
from autograder.exercises.toml_tables import BadExercise
from autograder.paths import ROOT
from course_lib.checking import percent
from course_lib.checking.recordings import record_test
from course_lib.checking.verdicts import load_module, tests_in
from course_lib.checking.work import OUTLINE

PUBLIC_SEED = 0
HANDOUT = Path(__file__).with_name("handout")
CONTENTS = """
Each chapter has its folder. Name the one that you want to open, check or hand in:

    python course.py {stem}
    python course.py submit {stem}

or go into it and leave the name out.
"""
PLAIN = """Chapter {number}: {title}

{count} exercises, about {minutes} minutes. Write each answer below the line that names it. Save the
file, then type   python course.py check   or, for one of them,   python course.py check {example}
Write helpers wherever you like; they are handed in with the rest. Leave the lines that begin with
# %% as they are. Proofs in words are written as comments.
"""
PACKAGES = (
    "numpy",
    "torch",
    "matplotlib",
    "array-api-compat",
    "jaxtyping",
    "jupyterlab",
    "ipykernel",
    "nbgrader",
)


def write_checks(
    assignment: Assignment, folder: Path, *, seed: int = PUBLIC_SEED, hidden: bool
) -> None:
    """Write `checks/` beside a notebook: visible tests for a student, all tests for the grader."""
    checks = folder / "checks"
    shutil.rmtree(checks, ignore_errors=True)
    for exercise in assignment.exercises:
        match exercise:
            case CodeExercise():
                _write_code_checks(exercise, checks / exercise.name, seed, hidden)
            case ProofBlocks():
                _write_json(checks / exercise.name / "blocks.json", exercise.marked_by)


def write_course_lib(assignment: Assignment, folder: Path) -> None:
    """Copy course_lib, with a refusal in place of every body that any chapter asks for.

    What only another chapter asks for is given where the tests in the bundle call it.
    """
    asked = _asked_by(assignment)
    if not formulas_called(assignment):
        asked = _asked_elsewhere(assignment) | asked
    target = folder / "course_lib"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(
        ROOT / "course_lib", target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
    )
    for path in target.rglob("*.py"):
        path.write_text(without_bodies(path.read_text(), asked))


def formulas_called(assignment: Assignment) -> set[str]:
    """What other chapters ask for and the tests in this one's bundle call."""
    called = {
        name
        for exercise in assignment.exercises
        if isinstance(exercise, CodeExercise)
        for name in _taken_from_course_lib(shown_tests(exercise))
    }
    return called & (_asked_elsewhere(assignment).keys() - _asked_by(assignment).keys())


def _asked_by(assignment: Assignment) -> dict[str, str]:
    """Function of course_lib -> number of the exercise that asks for it."""
    return {
        name.removeprefix("course_lib."): exercise.number
        for exercise in assignment.exercises
        if isinstance(exercise, CodeExercise)
        for name in exercise.withholds
        if name.startswith("course_lib.")
    }


def _asked_elsewhere(assignment: Assignment) -> dict[str, str]:
    """By the chapters of the course and by those that lie beside this one."""
    solutions = (ROOT / "solutions", assignment.folder.parent)
    chapters = {path.parent for folder in solutions for path in folder.glob("*/assignment.toml")}
    asked: dict[str, str] = {}
    for chapter in sorted(chapters, key=lambda chapter: chapter.name):
        with contextlib.suppress(BadExercise):  # what cannot be read is handed out to nobody
            asked = _asked_by(load_assignment(chapter)) | asked
    return asked


def _taken_from_course_lib(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("course_lib"):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "course_lib":
            yield node.attr


def write_requirements(folder: Path) -> None:
    """The exact versions that a student needs, from the one lock."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    chosen = [line for line in lines if line.partition("==")[0] in PACKAGES]
    (folder / "requirements.txt").write_text("\n".join(chosen) + "\n")


def write_handout(
    folder: Path, *, stem: str, title: str, version: str, example: str = "", contents: str = ""
) -> None:
    """What is the same for every assignment: the program, the readme, the tutor's file."""
    shutil.copytree(
        HANDOUT, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    readme = (
        (HANDOUT / "README.md")
        .read_text()
        .format(title=title, stem=stem, version=version, example=example, contents=contents)
    )
    (folder / "README.md").write_text(readme)


def write_outline(
    assignment: Assignment, folder: Path, released: nbformat.NotebookNode, version: str
) -> None:
    """Say in `checks/` what the assignment consists of, with the starter of each answer."""
    starters = {cell.id: cell.source for cell in released.cells}
    exercises = []
    for exercise in assignment.exercises:
        if exercise.slug not in starters:  # a question that the instructor has switched off
            continue
        kept = {
            key: getattr(exercise, key) for key in ("name", "slug", "number", "title", "points")
        }
        kept |= {"kind": exercise.kind, "starter": starters[exercise.slug]}
        kept["cells"] = exercise.cells._asdict()
        if isinstance(exercise, ProofQuestion):
            kept["marking"] = exercise.marking
        exercises.append(kept)
    outline = {"stem": assignment.stem, "title": assignment.title, "version": version}
    _write_json(folder / "checks" / OUTLINE, outline | {"exercises": exercises})


def write_plain_file(
    assignment: Assignment, folder: Path, released: nbformat.NotebookNode, version: str
) -> None:
    """The same assignment for any editor. Its checks are commands, not cells."""
    head = PLAIN.format(
        number=assignment.number,
        title=assignment.title,
        count=len(assignment.exercises),
        minutes=assignment.minutes,
        example=assignment.example,
    )
    left_out = {"head", *(exercise.cells.check for exercise in assignment.exercises)}
    cells = [cell for cell in released.cells if cell.id not in left_out]
    text = percent.as_text(head.strip(), version, cells)
    (folder / f"{assignment.stem}.py").write_text(text)


def version_of(folder: Path, released: nbformat.NotebookNode) -> str:
    """The version of the course, and what tells this release from every other."""
    state = hashlib.sha256()
    for cell in released.cells:
        state.update(f"{cell.id}\0{cell.source}\0".encode())
    for path in sorted((folder / "checks").rglob("*.*")):
        state.update(path.relative_to(folder).as_posix().encode() + path.read_bytes())
    course = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return f"{course}+{state.hexdigest()[:8]}"


def visible_tests(folder: Path) -> dict[str, str]:
    """A digest of the visible tests of each exercise: when it changes, a test was mended."""
    return {
        path.parent.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for name in ("tests.py", "blocks.json")
        for path in sorted((folder / "checks").glob(f"*/{name}"))
    }


def without_bodies(source: str, asked: dict[str, str]) -> str:
    """Refuse in place of every body of a module that holds a function asked for.

    Its neighbours go too: whoever reads log_softmax has read softmax.
    """
    tree = ast.parse(source)
    classes = (node for node in tree.body if isinstance(node, ast.ClassDef))
    nodes = [*tree.body, *(node for each in classes for node in each.body)]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    if not any(node.name in asked for node in functions):
        return source
    lines = source.splitlines(keepends=True)
    for node in sorted(functions, key=lambda node: -node.lineno):
        number = asked.get(node.name)
        reason = (
            f"is what exercise {number} asks you to write"
            if number
            else "stands beside what you are asked to write"
        )
        indent = " " * node.body[0].col_offset
        refusal = f'{indent}raise NotImplementedError("{node.name} {reason}")\n'
        lines[node.body[0].lineno - 1 : node.end_lineno] = [refusal]
    return "".join(lines)


def _write_code_checks(exercise: CodeExercise, folder: Path, seed: int, hidden: bool) -> None:
    shown = [test for test in exercise.tests if hidden or not test.hidden]
    tests = tests_in(load_module(exercise.folder / "tests.py"))
    model = getattr(load_module(exercise.folder / "solution.py"), exercise.name)
    right, wrong = (load_module(exercise.folder / f"{kind}.py") for kind in ("right", "wrong"))
    oracle = next(answer for answer in vars(right).values() if getattr(answer, "is_oracle", False))
    mistakes = {
        answer.__doc__: answer for answer in vars(wrong).values() if getattr(answer, "fails", None)
    }
    worked = getattr(load_module(exercise.folder / "tests.py"), "on_the_island", str)()
    record = {
        "number": exercise.number,
        "title": exercise.title,
        "points": exercise.points,
        "section": exercise.section,
        "worked": worked,
        **exercise.terms.to_dict(),
        "hidden": sum(test.hidden for test in exercise.tests),
        "tests": {
            test.name: record_test(tests[test.name], model, mistakes, oracle, seed) | {"seed": seed}
            for test in shown
        },
    }
    _write_json(folder / "record.json", record)
    (folder / "tests.py").write_text(shown_tests(exercise, hidden))


def shown_tests(exercise: CodeExercise, hidden: bool = False) -> str:
    """What a bundle holds of its tests.py; with the hidden ones, what the grader has."""
    source = (exercise.folder / "tests.py").read_text()
    return _only(source, {test.name for test in exercise.tests if hidden or not test.hidden})


def _only(source: str, names: set[str]) -> str:
    """The tests of these names and what is no test; worked examples are recorded, not shipped."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    for node in reversed(tree.body):
        if not isinstance(node, ast.FunctionDef):
            continue
        if (
            node.name.startswith("test_") and node.name not in names
        ) or node.name == "on_the_island":
            start = min([node.lineno, *(mark.lineno for mark in node.decorator_list)]) - 1
            del lines[start : node.end_lineno]
    return "".join(lines).rstrip() + "\n"


def _write_json(path: Path, data: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, sort_keys=False) + "\n")
