"""What a student gets: notebook, visible tests, recorded numbers, course_lib without the answers.

The grader's folder is made by the same functions with all tests and its own seed. No oracle and no
wrong answer is in either: only the numbers that they gave.
"""

import ast
import json
import shutil
from pathlib import Path

from autograder.exercises import ROOT, Assignment, CodeExercise, ProofBlocks
from course_lib.checking.record import record_test
from course_lib.checking.verdicts import load_module, tests_in

PUBLIC_SEED = 0
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
    """Copy course_lib, with a refusal in place of every body that the assignment asks for."""
    asked = {
        name.removeprefix("course_lib."): exercise.number
        for exercise in assignment.exercises
        if isinstance(exercise, CodeExercise)
        for name in exercise.withholds
        if name.startswith("course_lib.")
    }
    target = folder / "course_lib"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(
        ROOT / "course_lib", target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc")
    )
    for path in target.rglob("*.py"):
        path.write_text(without_bodies(path.read_text(), asked))


def write_requirements(folder: Path) -> None:
    """The exact versions that a student needs, from the one lock."""
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    chosen = [line for line in lines if line.partition("==")[0] in PACKAGES]
    (folder / "requirements.txt").write_text("\n".join(chosen) + "\n")


def without_bodies(source: str, asked: dict[str, str]) -> str:
    """Refuse in place of every body of a module that holds a function asked for.

    Its neighbours go too: whoever reads log_softmax has read softmax.
    """
    functions = [node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]
    if not any(node.name in asked for node in functions):
        return source
    lines = source.splitlines(keepends=True)
    for node in reversed(functions):
        number = asked.get(node.name)
        reason = (
            f"is what exercise {number} asks you to write"
            if number
            else "stands beside what you are asked to write"
        )
        refusal = f'    raise NotImplementedError("{node.name} {reason}")\n'
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
        "withholds": list(exercise.withholds),
        "hidden": sum(test.hidden for test in exercise.tests),
        "tests": {
            test.name: record_test(tests[test.name], model, mistakes, oracle, seed) | {"seed": seed}
            for test in shown
        },
    }
    _write_json(folder / "record.json", record)
    source = (exercise.folder / "tests.py").read_text()
    (folder / "tests.py").write_text(_only(source, {test.name for test in shown}))


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
