"""Uses of what an exercise asks to write: found in the text, shown to a person, never deducted.

No process can police itself: what the student's process refuses at run time can be got round there.
"""

import ast
import contextlib
import warnings


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
        case ast.Constant(value=str(text)):
            return [text]
    return []
