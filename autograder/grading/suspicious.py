"""Uses of what an exercise asks to write: found in the text, shown to a person, never deducted.

No process can police itself: what the student's process refuses at run time can be got round there.
"""

import ast
import contextlib
import warnings


def suspicious(mentioned: set[str], withholds: tuple[str, ...]) -> list[str]:
    """The withheld names among those that the code mentions."""
    last = {name.rpartition(".")[2]: name for name in withholds}
    found = [name for word, name in last.items() if word in mentioned]
    return [f"its code mentions {name}, which the exercise asks to write" for name in found]


def mentioned(sources: list[str]) -> set[str]:
    """Every name that the code reaches for, whichever way."""
    found: set[str] = set()
    for source in sources:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
            found.update(*map(_mentions, ast.walk(tree)))
    return found


def _mentions(node: ast.AST) -> list[str]:
    match node:
        case ast.Attribute(attr=name):
            return [name]
        case ast.ImportFrom(names=names):
            return [alias.name for alias in names]
        case ast.Constant(value=str(text)):
            return [text]
    return []
