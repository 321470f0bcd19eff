"""Which asserts compare our own sentences: python -m tests.prose_asserts

A sentence belongs into tests/messages, where `make messages` accepts a new wording; every other
test asserts data. Counted here is each comparison in an assert, and each `match=`, with a text of
three or more words; where the text comes in by a parameter, each row or call that gives one.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
PROSE = re.compile(r"[A-Za-z][a-z']*,? +[A-Za-z(][a-z']*,? +[A-Za-z(]")
COMPARING = ("startswith", "endswith", "count", "search", "match", "fullmatch", "findall")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def prose_asserts(source: str) -> list[int]:
    """The lines at which sentences are compared."""
    tree = ast.parse(source)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)}
    constants = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    compared = {name: _compared_parameters(node, {}) for name, node in functions.items()}
    for _ in range(2):  # a test that hands its parameter to a helper which compares it
        compared = {name: _compared_parameters(n, compared) for name, n in functions.items()}
    lines = [
        text.lineno
        for node in ast.walk(tree)
        for part in _compared(node, compared)
        for text in _texts(part)
        if PROSE.search(text.value)
    ]
    for name, function in functions.items():
        lines += _rows(function, compared[name], constants)
    return sorted(lines)


def _compared(node: ast.AST, helpers: dict[str, list[str]]) -> Iterator[ast.expr]:
    """What this node of the tree compares with what came out."""
    if isinstance(node, ast.Assert):
        for part in ast.walk(node.test):
            if isinstance(part, ast.Compare):
                yield from (part.left, *part.comparators)
            elif isinstance(part, ast.Call) and getattr(part.func, "attr", "") in COMPARING:
                yield from part.args
    elif isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "match")
        if isinstance(node.func, ast.Name) and node.func.id in helpers:
            names = helpers[node.func.id]
            yield from (argument for argument, at in zip(node.args, names, strict=False) if at)


def _texts(part: ast.expr) -> Iterator[ast.Constant]:
    """Texts that stand there, and not in a call within, whose words are input."""
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part
    elif isinstance(part, ast.JoinedStr):
        words = "".join(v.value if isinstance(v, ast.Constant) else "X" for v in part.values)
        yield ast.copy_location(ast.Constant(words), part)
    elif isinstance(part, (ast.Tuple, ast.List, ast.Set)):
        for element in part.elts:
            yield from _texts(element)
    elif isinstance(part, ast.Dict):
        for value in part.values:
            yield from _texts(value)
    elif isinstance(part, ast.BinOp):
        yield from _texts(part.left)
        yield from _texts(part.right)


def _compared_parameters(function: ast.FunctionDef, helpers: dict[str, list[str]]) -> list[str]:
    """Its parameters in order; in the place of one that is not compared stands nothing."""
    names = {
        part.id
        for node in ast.walk(function)
        for expression in _compared(node, helpers)
        for part in [expression, *getattr(expression, "elts", [])]
        if isinstance(part, ast.Name)
    }
    return [argument.arg if argument.arg in names else "" for argument in function.args.args]


def _rows(function: ast.FunctionDef, compared: list[str], constants: dict) -> Iterator[int]:
    """Of a parametrized test: the lines of the rows that give it a sentence to compare."""
    for mark in function.decorator_list:
        if not (isinstance(mark, ast.Call) and getattr(mark.func, "attr", "") == "parametrize"):
            continue
        names, values = mark.args[:2]
        if isinstance(names, ast.Constant):
            names = [name.strip() for name in names.value.split(",")]
        else:
            names = [name.value for name in names.elts]
        if isinstance(values, ast.Call) and getattr(values.func, "attr", "") == "values":
            values = values.func.value
        values = constants.get(getattr(values, "id", ""), values)
        rows = values.values if isinstance(values, ast.Dict) else getattr(values, "elts", [])
        for row in rows:
            cells = [row] if len(names) == 1 else getattr(row, "elts", [])
            texts = (
                t for n, c in zip(names, cells, strict=False) if n in compared for t in _texts(c)
            )
            yield from (text.lineno for text in texts if PROSE.search(text.value))


def count() -> Counter[str]:
    """How many in each file of tests but those of the messages."""
    files = [path for path in TESTS.rglob("*.py") if TESTS / "messages" not in path.parents]
    found = {path.relative_to(TESTS).as_posix(): prose_asserts(path.read_text()) for path in files}
    return Counter({name: len(lines) for name, lines in found.items() if lines})


if __name__ == "__main__":
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            text = Path(name).read_text().splitlines()
            for line in prose_asserts(Path(name).read_text()):
                print(f"{name}:{line}: {text[line - 1].strip()}")
    else:
        for name, number in count().most_common():
            print(f"{number:4}  {name}")
        print(f"{count().total():4}  in all")
