"""Every single edit of a model answer: an operator, a constant, an axis, a call, a transpose.

A test suite that cannot tell an edited answer from the model answer has a gap; a list of wrong
answers thought up by hand cannot show that.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
CALLS = {
    "max": "min",
    "min": "max",
    "sum": "mean",
    "mean": "sum",
    "exp": "sinh",
    "log": "log1p",
    "argmax": "argmin",
    "zeros": "ones",
    "ones": "zeros",
    "maximum": "minimum",
    "minimum": "maximum",
    "sqrt": "abs",
    "tanh": "sin",
    "triu": "tril",
    "tril": "triu",
    "cos": "sin",
    "sin": "cos",
    "isinf": "isnan",
    "zeros_like": "ones_like",
}
TRANSPOSES = ("T", "mT")
TRANSPOSING_CALLS = ("swapaxes", "transpose")


@dataclass(frozen=True)
class Mutant:
    """The model answer with one edit."""

    source: str
    edit: str
    """What stood there => what stands there now; by this it may be listed as equivalent."""
    line: int


def mutants(source: str, function: str) -> Iterator[Mutant]:
    """Edit the body of one function in every single way; edits that read alike are numbered."""
    tree = ast.parse(source)
    body = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function).body
    edits = [edit for statement in body[1:] for edit in _edits(statement)]
    seen: dict[str, int] = {}
    for node, replacement in edits:
        changed = _with_replacement(tree, node, replacement)
        edit = f"{ast.unparse(node)} => {ast.unparse(replacement)}"
        seen[edit] = seen.get(edit, 0) + 1
        if seen[edit] > 1:
            edit = f"{edit} #{seen[edit]}"
        yield Mutant(ast.unparse(changed), edit, node.lineno)


def _edits(statement: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    nodes = [node for node in ast.walk(statement) if isinstance(node, ast.expr)]
    inside = {id(number) for node in nodes for number in _number_below_a_minus(node)}
    for node in nodes:
        if id(node) not in inside:
            yield from ((node, replacement) for replacement in _replacements(node))


def _number_below_a_minus(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int()) as number):
            yield number


def _replacements(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield _with(node, op=OPERATORS[type(op)]())
        case ast.BoolOp(op=op):
            yield _with(node, op=OPERATORS[type(op)]())
        case ast.Compare(ops=[op]) if type(op) in OPERATORS:
            yield _with(node, ops=[OPERATORS[type(op)]()])
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            # another axis; not its opposite, which in a matrix is the same axis
            yield _with(node, operand=ast.Constant(value + 1))
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield _with(node, value=not value)
        case ast.Constant(value=int() | float() as value):
            yield _with(node, value=value + 1)
        case ast.Attribute(attr=attribute) if attribute in TRANSPOSES:
            yield node.value
        case ast.Call(func=ast.Attribute(attr=name) as func):
            if name in CALLS:
                yield _with(node, func=_with(func, attr=CALLS[name]))
            if name in TRANSPOSING_CALLS:
                yield node.args[0] if _is_module(func.value) else func.value
    if isinstance(node, ast.Call):
        for position, keyword in enumerate(node.keywords):
            if keyword.arg in ("axis", "dim", "keepdims", "keepdim"):
                yield _with(node, keywords=node.keywords[:position] + node.keywords[position + 1 :])


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("np", "torch", "xp")


def _with(node: ast.expr, **changes: object) -> ast.expr:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _with_replacement(tree: ast.Module, node: ast.expr, replacement: ast.expr) -> ast.Module:
    """A copy; the node keeps its position in the walk."""
    position = next(n for n, each in enumerate(ast.walk(tree)) if each is node)
    changed = copy.deepcopy(tree)
    target = list(ast.walk(changed))[position]
    _Replace(target, replacement).visit(changed)
    return ast.fix_missing_locations(changed)


class _Replace(ast.NodeTransformer):
    def __init__(self, node: ast.AST, replacement: ast.expr):
        self.node, self.replacement = node, replacement

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.node:
            return copy.deepcopy(self.replacement)
        return super().generic_visit(node)
