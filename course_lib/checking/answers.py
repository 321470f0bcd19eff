"""Find an answer among the cells of a notebook, and rebuild it from them alone.

The grader meets cells, not the memory of a kernel. What a check runs is therefore made in a fresh
namespace from the cells as they were last run: nothing passes here that fails there for want of
a helper.
"""

import ast
import builtins
import dis
import linecache
import re
import symtable
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from course_lib.checking.findings import Cause

Statements = list[tuple[str, ast.stmt]]
TIMED = re.compile(r"\s*%%(time|timeit|capture|prun)\b[^\n]*\n")
"""Magics on top of a cell that run it as it is."""


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
        """What `name` is, rebuilt from the cells, and the library that its cell says it is in.

        Raises NoAnswer, and what the statements raise without which there is no answer.
        """
        rebuilt = self.rebuild(name)
        return rebuilt.value, rebuilt.library

    def rebuild(self, name: str) -> "RebuiltAnswer":
        """The same, with what was left out: as in a notebook, a statement that raises binds
        nothing, and the names that it would have bound keep what they were before.
        """
        statements, stopped = self._statements(), list[Stopped]()
        while True:
            position = _last(statements, name, before=len(statements))
            if position is None:
                if stopped:
                    raise stopped[-1].error
                raise NotDefined(f"no cell defines {name} yet")
            if _is_starter(statements[position][1]):
                raise NotWritten
            indices = _needed(statements, position)
            own_cells = [
                cell for cell, step in map(statements.__getitem__, indices) if _binds(step, name)
            ]
            library = _library([self.sources[cell] for cell in own_cells])
            try:
                value = self._build(statements, indices)[name]
                return RebuiltAnswer(value, library, stopped)
            except _StatementStopped as reason:
                cell, _ = statements[reason.index]
                stopped.append(Stopped(cell, reason.error))
                statements[reason.index] = cell, ast.Pass()

    def _statements(self) -> Statements:
        statements: Statements = []
        for cell, source in self.sources.items():
            try:
                body = ast.parse(source).body
            except SyntaxError:
                continue
            statements += [(cell, statement) for statement in body]
        return statements

    def _build(self, statements: Statements, indices: list[int]) -> dict[str, Any]:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        for index in indices:
            cell, statement = statements[index]
            file, source = f"<cell {cell}>", self.sources[cell]
            linecache.cache[file] = len(source), None, source.splitlines(True), file
            try:
                exec(compile(ast.Module([statement], []), file, "exec"), namespace)
            except Exception as error:
                raise _StatementStopped(index, error) from error
        return namespace


@dataclass(frozen=True)
class Stopped:
    """A statement that an answer rests on raised, and was left out."""

    cell: str
    error: Exception


@dataclass(frozen=True)
class RebuiltAnswer:
    """An answer, and what happened while it was rebuilt."""

    value: Any
    library: str
    stopped: list[Stopped] = field(default_factory=list)


class _StatementStopped(Exception):
    def __init__(self, index: int, error: Exception):
        super().__init__(index, error)
        self.index, self.error = index, error


def without_timing(source: str) -> str:
    """A cell without a magic on top that only times it or catches what it prints."""
    if magic := TIMED.match(source):
        return "\n" * magic[0].count("\n") + source[magic.end() :]
    return source


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
        at_once, later = _names_used(statements[current][1])
        positions = [_last(statements, wanted, before=current) for wanted in at_once]
        # the body of a function runs later, and may use what is defined below it
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


def _names_used(statement: ast.stmt) -> tuple[set[str], set[str]]:
    """The global names that a statement looks up itself, and those that only the bodies of its
    functions look up, later; no parameter and no local variable is among them.
    """
    try:
        table = symtable.symtable(ast.unparse(statement), "<cell>", "exec")
    except (SyntaxError, RecursionError):  # it will say so itself when it is run
        return set(), set()
    at_once = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()}
    at_once |= _names_stepped(statement)
    later: set[str] = set()
    for child in table.get_children():
        _look_into(child, at_once, later)
    return at_once, later - at_once


def _look_into(table: symtable.SymbolTable, at_once: set[str], later: set[str]) -> None:
    """The body of a class and of a comprehension runs where it stands, that of a function later."""
    if not (table.get_type() == "class" or table.get_name() in COMPREHENSIONS):
        at_once = later
    at_once |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global()}
    for child in table.get_children():
        _look_into(child, at_once, later)


COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")


def _names_stepped(node: ast.AST) -> set[str]:
    """Those in n += 1, which a table of symbols holds for bound and not for used."""
    if isinstance(node, ast.AugAssign):
        return _names_bound(node.target)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
        return set()
    return set().union(*map(_names_stepped, ast.iter_child_nodes(node)))


def _binds(statement: ast.stmt, name: str) -> bool:
    return name in _names_bound(statement)


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
