"""What is left out of Python for the pages is imported by nothing that runs in them."""

import ast
from pathlib import PurePosixPath

from autograder.book.pyodide_packing import LEFT_OUT, STANDARD
from tests.book.conftest import ROOT


def imported_by_the_library() -> set[str]:
    """The files of the standard library by which modules might be found."""
    names = set()
    for path in (ROOT / "course_lib").rglob("[!_]*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(str(node.module))
    return {name.replace(".", "/") for name in names}


def test_no_module_that_the_library_imports_is_left_out():
    patterns = LEFT_OUT[STANDARD].split()
    builtin = {"io", "os", "abc", "codecs", "stat", "site"}  # inside the interpreter
    missing = {
        name
        for name in imported_by_the_library() - builtin
        for pattern in patterns
        if any(PurePosixPath(f"{name}{end}").match(pattern) for end in ("", ".py"))
        and name.count("/") == pattern.count("/")
    }
    assert missing == set()
