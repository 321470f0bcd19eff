"""Read the Python files and the prompt of an exercise without running them."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from autograder.exercises.toml_tables import BadExercise

FIRST_LINE = r'library = "(numpy|torch)"'


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


def library_of(source: str) -> str:
    """The library that the first line of an answer names, or nothing."""
    first = re.match(FIRST_LINE, source.lstrip())
    return first[1] if first else ""


def check_prompt(path: Path) -> None:
    """Prose and equations: a fence that opens anything else is refused."""
    inside = False
    for number, text in enumerate(path.read_text().splitlines(), start=1):
        if not text.lstrip().startswith(("```", "~~~")):
            continue
        if not inside and "{math}" not in text:
            raise BadExercise(
                path,
                "holds a code cell",
                "a prompt is prose and one equation; code goes to solution.py",
                number,
            )
        inside = not inside


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(), filename=str(path))
    except SyntaxError as error:
        raise BadExercise(
            path, f"is not valid Python: {error.msg}", "mend that line", error.lineno
        ) from None


def the_function(path: Path, name: str) -> ast.FunctionDef:
    functions = [node for node in _parse(path).body if isinstance(node, ast.FunctionDef)]
    for node in functions:
        if node.name == name:
            return node
    raise BadExercise(path, f"defines no function {name!r}", "name it as the folder", 1)


def check_solution(path: Path, name: str) -> None:
    """Docstring, model answer below it, annotated result, library on the first line."""
    function = the_function(path, name)
    if not ast.get_docstring(function):
        raise BadExercise(
            path,
            f"{name} has no docstring",
            "the docstring is the border between starter and answer: write it",
            function.lineno,
        )
    docstring, *answer = function.body
    if not answer or answer[0].lineno == docstring.end_lineno:
        raise BadExercise(
            path,
            f"{name} has no model answer",
            "write it on the lines below the docstring",
            function.lineno,
        )
    if function.returns is None:
        raise BadExercise(
            path,
            f"{name} does not say what it returns",
            "annotate it: -> np.ndarray, -> float, -> tuple[np.ndarray, np.ndarray]",
            function.lineno,
        )
    if not library_of(path.read_text()):
        raise BadExercise(
            path, "does not begin with the student's choice", 'begin with library = "numpy"', 1
        )


def read_tests(path: Path, name: str) -> tuple[Test, ...]:
    tests: list[Test] = []
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
        if node.name in {test.name for test in tests}:
            raise BadExercise(
                path, f"two tests are called {node.name}", "rename one of them", node.lineno
            )
        sentence, _, statement = (ast.get_docstring(node) or "").partition("\n\n")
        if not sentence:
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
                " ".join(sentence.split()),
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
            "mark one: ordinary inputs, independent oracle; until it passes nothing is earned",
        )
    if all(test.hidden for test in tests):
        raise BadExercise(path, "has no visible test", "the student needs one to work with")
    return tuple(tests)
