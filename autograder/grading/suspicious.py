"""Uses of what an exercise asks to write: found in the text, shown to a person, never deducted.

No process can police itself: what the student's process refuses at run time can be got round there.
"""

import ast
import contextlib
import re
import warnings

BY_NAME = (
    *("getattr", "attrgetter", "methodcaller", "eval", "exec", "compile"),
    *("__import__", "import_module", "get", "pop", "__getattr__", "__getattribute__"),
)
"""What takes the name of a function as a text."""
WORD = re.compile(r"\w+")


def suspicious(mentioned: set[str], withholds: tuple[str, ...]) -> list[str]:
    """The withheld names among those that the code mentions."""
    by_last_part = {name.rpartition(".")[2]: name for name in withholds}
    return [name for last_part, name in by_last_part.items() if last_part in mentioned]


def mentioned(sources: list[str]) -> set[str]:
    """Every name that the code reaches for, whichever way. Any text may be given: none is run."""
    names: set[str] = set()
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
            names.update(*map(_mentions, ast.walk(tree)))
    return names


def _mentions(node: ast.AST) -> list[str]:
    match node:
        case ast.Attribute(attr=name):
            return [name]
        case ast.ImportFrom(names=names):
            return [alias.name for alias in names]
        case ast.Call(func=ast.Name(id=by) | ast.Attribute(attr=by), args=args) if by in BY_NAME:
            return [part for arg in args for part in _texts(arg)]
        case ast.Subscript(value=ast.Call(func=ast.Name(id="vars" | "globals")), slice=key):
            return _texts(key)
        case ast.Subscript(value=ast.Attribute(attr="__dict__" | "modules"), slice=key):
            return _texts(key)
    return []


def _texts(node: ast.AST) -> list[str]:
    """Every word of the constants in it: a label of a plot is not looked at, but code in a text."""
    constants = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    return [word for text in constants if isinstance(text, str) for word in WORD.findall(text)]
