"""Find an answer among the cells of a notebook, and rebuild it from them alone.

The grader meets cells, not the memory of a kernel. What a check runs is therefore made in a fresh
namespace from the cells as they now stand: nothing passes here that fails there for want of a helper.
"""

import ast
import builtins
import linecache
from collections.abc import Callable, Iterable
from typing import Any


class NoAnswer(Exception):
    """There is nothing to check yet; says what is missing."""


class Cells:
    """The source of each cell, as it was last run."""

    def __init__(self):
        self.sources: dict[str, str] = {}

    def ran(self, cell: str, source: str) -> None:
        self.sources.pop(cell, None)  # the last run comes last
        self.sources[cell] = source

    def answer(self, name: str) -> tuple[Any, str]:
        """What `name` is, rebuilt from the cells, and the library its cell says it is written in."""
        statements = self._statements()
        place = _last(statements, name, before=len(statements))
        if place is None:
            raise NoAnswer(f"no cell defines {name} yet: run the cell with your answer first")
        cell, statement = statements[place]
        if _is_starter(statement):
            raise NoAnswer("not written yet")
        return self._build(name, place, statements), _library(self.sources[cell])

    def _statements(self) -> list[tuple[str, ast.stmt]]:
        found = []
        for cell, source in self.sources.items():
            try:
                body = ast.parse(source).body
            except SyntaxError:
                continue
            found += [(cell, statement) for statement in body]
        return found

    def _build(self, name: str, place: int, statements: list[tuple[str, ast.stmt]]) -> Any:
        needed, missing = {place}, {name}
        waiting = [place]
        while waiting:
            current = waiting.pop()
            for wanted in _names_used(statements[current][1]):
                # a function may use what is defined below it, so look at the last definition anywhere
                found = _last(statements, wanted, before=len(statements))
                if found is not None and found not in needed:
                    needed.add(found)
                    waiting.append(found)
                missing.discard(wanted)
        namespace: dict[str, Any] = {"__name__": "__main__"}
        for index in sorted(needed):
            cell, statement = statements[index]
            file = f"<cell {cell}>"
            linecache.cache[file] = (
                len(self.sources[cell]),
                None,
                self.sources[cell].splitlines(True),
                file,
            )
            exec(compile(ast.Module([statement], []), file, "exec"), namespace)
        return namespace[name]


def missing_names(function: Callable, known: Iterable[str]) -> list[str]:
    """Global names that a rebuilt function uses and no cell defines, although the kernel remembers them."""
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    here = function.__globals__
    return [n for n in code.co_names if n not in here and not hasattr(builtins, n) and n in known]


def _last(statements: list[tuple[str, ast.stmt]], name: str, before: int) -> int | None:
    for index in range(before - 1, -1, -1):
        if name in _names_bound(statements[index][1]):
            return index
    return None


def _names_bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AsyncFunctionDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(alias.asname or alias.name).partition(".")[0] for alias in names}
        case (
            ast.Assign()
            | ast.AnnAssign()
            | ast.With()
            | ast.For()
            | ast.If()
            | ast.Try()
            | ast.AugAssign()
        ):
            return {
                n.id
                for n in ast.walk(statement)
                if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            }
    return set()


def _names_used(statement: ast.stmt) -> set[str]:
    return {
        n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    }


def _is_starter(statement: ast.stmt) -> bool:
    """A function that holds a docstring and three dots."""
    if not isinstance(statement, ast.FunctionDef):
        return False
    rest = statement.body[1:] if ast.get_docstring(statement) else statement.body
    return [ast.unparse(line) for line in rest] in ([], ["..."])


def _library(source: str) -> str:
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="library")],
                value=ast.Constant(value="numpy" | "torch" as name),
            ):
                return name
            case ast.Assign(targets=[ast.Name(id="library")]):
                raise NoAnswer(
                    'the first line of the answer says neither library = "numpy" nor "torch"'
                )
    return "numpy"
