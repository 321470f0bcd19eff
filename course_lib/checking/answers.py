"""Find an answer among the cells of a notebook, and rebuild it from them alone.

The grader meets cells, not the memory of a kernel. What a check runs is therefore made in a fresh
namespace from the cells as they were last run: nothing passes here that fails there for want of
a helper.
"""

import ast
import builtins
import dis
import linecache
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any

from course_lib.checking.findings import Cause

Statements = list[tuple[str, ast.stmt]]


class NoAnswer(Exception):
    """There is nothing to check yet; says what is missing, and why as data where it is known."""

    def __init__(self, words: str, cause: Cause | None = None):
        super().__init__(words)
        self.cause = cause


class NotDefined(NoAnswer):
    """Nothing of that name stands in the cells."""


class NotWritten(NoAnswer):
    """The answer is still the starter."""

    def __init__(self, words: str = "not written yet"):
        super().__init__(words)


class Cells:
    """The source of each cell, as it was last run."""

    def __init__(self) -> None:
        self.sources: dict[str, str] = {}
        self.replaced: dict[str, str] = {}
        """What a cell said before it was last changed."""
        self.now: str | None = None
        """The cell that runs, where the front end says."""

    def ran(self, cell: str, source: str) -> None:
        before = self.sources.pop(cell, source)  # the last run comes last
        if before != source:
            self.replaced[cell] = before
        self.sources[cell] = source

    def among(self, cells: Iterable[str]) -> "Cells":
        """As if only these cells had run."""
        chosen = Cells()
        chosen.sources = {cell: self.sources[cell] for cell in cells if cell in self.sources}
        return chosen

    def answer(self, name: str) -> tuple[Any, str]:
        """What `name` is, rebuilt from the cells, and the library that its cell says it is in."""
        statements = self._statements()
        position = _last(statements, name, before=len(statements))
        if position is None:
            raise NotDefined(f"no cell defines {name} yet")
        if _is_starter(statements[position][1]):
            raise NotWritten
        needed = [statements[index] for index in _needed(statements, position)]
        own_cells = [cell for cell, step in needed if name in _names_bound(step)]
        library = _library([self.sources[cell] for cell in own_cells])
        return self._build(needed)[name], library

    def _statements(self) -> Statements:
        statements: Statements = []
        for cell, source in self.sources.items():
            try:
                body = ast.parse(source).body
            except SyntaxError:
                continue
            statements += [(cell, statement) for statement in body]
        return statements

    def _build(self, needed: Statements) -> dict[str, Any]:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        for cell, statement in needed:
            file, source = f"<cell {cell}>", self.sources[cell]
            linecache.cache[file] = len(source), None, source.splitlines(True), file
            exec(compile(ast.Module([statement], []), file, "exec"), namespace)
        return namespace


def only_defines(source: str) -> bool:
    """Imports, functions and plain values: to run this would do no more than bind names."""
    try:
        return all(map(_defines, ast.parse(source).body))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _defines(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import() | ast.ImportFrom():
            return True
        case ast.FunctionDef(decorator_list=[], args=args, returns=returns):
            at_once = [args, *([returns] if returns else [])]
        case ast.Assign(targets=targets, value=value) if all(
            _is_name(t, ast.Store) for t in targets
        ):
            at_once = [value]
        case ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False
    return not any(isinstance(node, _ACTS) for part in at_once for node in ast.walk(part))


_ACTS = ast.Call, ast.Await, ast.NamedExpr, ast.comprehension, ast.BinOp, ast.Yield


def missing_names(function: Callable, remembered: Iterable[str]) -> list[str]:
    """Global names that a rebuilt function uses and only the memory of the kernel still knows."""
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    here = function.__globals__
    used = dict.fromkeys(_globals_used(code))
    return [n for n in used if n not in here and not hasattr(builtins, n) and n in remembered]


def _globals_used(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname == "LOAD_GLOBAL":
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_used(constant)


def _needed(statements: Statements, position: int) -> list[int]:
    """Where everything stands that the statement at this place rests on, itself included."""
    stars = [n for n, (_, statement) in enumerate(statements) if "*" in _names_bound(statement)]
    needed, waiting = set(), [position, *stars]  # which names a star brings is seen when it runs
    while waiting:
        current = waiting.pop()
        needed.add(current)
        statement = statements[current][1]
        at_once = _names_used_at_once(statement)
        positions = [_last(statements, wanted, before=current) for wanted in at_once]
        # the body of a function runs later, and may use what is defined below it
        later = _names_used(statement) - at_once
        positions += [_last(statements, wanted, before=len(statements)) for wanted in later]
        waiting += [p for p in positions if p is not None and p not in needed]
    return sorted(needed)


def _last(statements: Statements, name: str, before: int) -> int | None:
    for index in range(before - 1, -1, -1):
        if name in _names_bound(statements[index][1]):
            return index
    return None


def _names_bound(node: ast.AST) -> set[str]:
    """The names that a statement makes or changes: n = 1, n += 1, n[0] = 1, n.size = 1."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return {name}
        case ast.Subscript(value=owner, ctx=ast.Store()) | ast.Attribute(owner, ctx=ast.Store()):
            while isinstance(owner, (ast.Subscript, ast.Attribute)):
                owner = owner.value
            return {owner.id} if isinstance(owner, ast.Name) else set()
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(alias.asname or alias.name).partition(".")[0] for alias in names}
        case ast.Lambda() | ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
            return set()
    return set().union(*map(_names_bound, ast.iter_child_nodes(node)))


def _names_used(statement: ast.stmt) -> set[str]:
    names = (n for n in ast.walk(statement) if isinstance(n, ast.Name))
    used = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    steps = [n.target for n in ast.walk(statement) if isinstance(n, ast.AugAssign)]
    return used.union(*map(_names_bound, steps))


def _names_used_at_once(node: ast.AST) -> set[str]:
    """The names that the statement looks up itself, not those in the bodies of its functions."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            parts = [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]
            return set().union(*map(_names_used_at_once, parts))
        case ast.Lambda():
            return _names_used_at_once(node.args)
        case ast.Name(id=name, ctx=ast.Load()):
            return {name}
        case ast.AugAssign():
            changed = _names_bound(node.target) | _names_used_at_once(node.target)
            return changed | _names_used_at_once(node.value)
    return set().union(*map(_names_used_at_once, ast.iter_child_nodes(node)))


def _is_name(node: ast.AST, context: type) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, context)


def _is_starter(statement: ast.stmt) -> bool:
    """A function that holds a docstring and three dots."""
    if not isinstance(statement, ast.FunctionDef):
        return False
    rest = statement.body[1:] if ast.get_docstring(statement) else statement.body
    return [ast.unparse(line) for line in rest] in ([], ["..."])


def _library(sources: list[str]) -> str:
    library = "numpy"
    for statement in [step for source in sources for step in ast.parse(source).body]:
        match statement:
            case ast.Assign([ast.Name("library")], ast.Constant("numpy" | "torch" as name)):
                library = name
            case ast.Assign([ast.Name("library")]):
                raise NoAnswer('the answer begins neither with library = "numpy" nor with "torch"')
    return library
