"""Uses of what an exercise asks to write: found in the text, shown to a person, never deducted.

No process can police itself: what the student's process refuses at run time can be got round there.
"""

import ast


def suspicious(sources: list[str], withholds: tuple[str, ...]) -> list[str]:
    """The withheld names that the code mentions, whichever way they are reached."""
    last = {name.rpartition(".")[2]: name for name in withholds}
    found: dict[str, None] = {}
    for source in sources:
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            for mentioned in _mentions(node):
                if mentioned in last:
                    found[last[mentioned]] = None
    return [f"its code mentions {name}, which the exercise asks to write" for name in found]


def _mentions(node: ast.AST) -> list[str]:
    match node:
        case ast.Attribute(attr=name):
            return [name]
        case ast.ImportFrom(names=names):
            return [alias.name for alias in names]
        case ast.Constant(value=str(text)):
            return [text]
    return []
