"""What a verdict depends on besides the submission: the code that judges and what it runs on.

Followed import by import from what a worker and a student's process start with; and of each module
only the code, since neither a comment nor a docstring changes a mark.
"""

import ast
import platform
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from autograder.files import digest_of
from autograder.paths import ROOT

WORKER = (
    "autograder.grading.worker",
    "autograder.grading.warm_grader",
    "autograder.sandbox.launcher",
    "autograder.sandbox.in_kernel",
)
"""The last two are programs that the others start by name."""
NOTEBOOK = "course_lib.checking.notebook"
"""What the first cell of every released notebook imports."""
OURS = ("autograder", "course_lib")
PACKAGES = (
    "numpy",
    "torch",
    "matplotlib",
    "array-api-compat",
    "jaxtyping",
    "ipython",
    "nbformat",
    "pillow",
)


@cache
def environment_fingerprint(tests_import: tuple[str, ...] = ()) -> str:
    """Readable, so that a worker that is refused can be told what differs.

    `tests_import` are the modules that the tests of an assignment take values from.
    """
    parts = [f"python {platform.python_version()}"]
    parts += [f"{name} {version(name)}" for name in PACKAGES]
    parts.append(f"grader {_digest(WORKER)}")
    if tests_import:
        parts.append(f"course_lib {_digest(tests_import)}")
    return ", ".join(parts)


def _digest(roots: tuple[str, ...]) -> str:
    modules = modules_behind(roots)
    return digest_of((), ROOT, *(word for pair in sorted(modules.items()) for word in pair))[:16]


def modules_behind(roots: Iterable[str]) -> dict[str, str]:
    """Our modules that these import, at once, late or through others, each with its code."""
    code: dict[str, str] = {}
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        path = _file_of(name)
        if name not in code and path is not None:
            tree = ast.parse(path.read_bytes())
            waiting += _imported(tree)
            code[name] = _code_of(tree)
    return code


def modules_imported(source: bytes) -> set[str]:
    """Our modules that this source imports itself. Raises SyntaxError."""
    return set(_imported(ast.parse(source)))


def code_of(source: bytes) -> str:
    """What is the same exactly if the code is, whatever its comments, docstrings and layout.

    Raises SyntaxError.
    """
    return _code_of(ast.parse(source))


def _code_of(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            body[:] = [statement for statement in body if not _is_bare_text(statement)]
    return ast.dump(tree)


def _is_bare_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _imported(tree: ast.Module) -> Iterator[str]:
    """By name, as Python finds it; what a package only passes on, by the module that defines it."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names if _is_ours(alias.name))
            case ast.ImportFrom(module=str(module)) if _is_ours(module):
                yield from (_home_of(module, alias.name) for alias in node.names)


def _home_of(module: str, name: str) -> str:
    if _file_of(f"{module}.{name}"):
        return f"{module}.{name}"
    path = _file_of(module)
    if path is not None and path.name == "__init__.py":
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ImportFrom) and node.module and _is_ours(node.module):
                for alias in node.names:
                    if name == (alias.asname or alias.name):
                        return _home_of(node.module, alias.name)
    return module


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in OURS


def _file_of(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((path for path in candidates if path.is_file()), None)
