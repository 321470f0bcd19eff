"""Imports go one way: a package may use what stands above it in this list, and nothing below."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.commands.cli import VERBS

ROOT = Path(__file__).parents[1]
LAYERS = [
    "course_lib",
    "course_lib.checking",
    "autograder",  # errors, files, paths, untrusted
    "autograder.sandbox",
    "autograder.exercises",
    "autograder.roster",
    "autograder.typeset",
    "autograder.release",
    "autograder.grading",
    "autograder.classroom",
    "autograder.reports",
    "autograder.demo",
    "autograder.book",
    "autograder.tools",
    "autograder.commands",
]
MODULES = [
    path
    for folder in ("course_lib", "autograder")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if not {"blank", "handout", "hub"} & set(path.parts)
]


def layer_of(module: str) -> int:
    return max(n for n, name in enumerate(LAYERS) if f"{module}.".startswith(f"{name}."))


def imported_by(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    plain = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
    tails = [(n.module or "", n.names) for n in nodes if isinstance(n, ast.ImportFrom)]
    return plain | {f"{module}.{a.name}" for module, names in tails for a in names}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_its_own_layer_and_those_above(path):
    here = layer_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    ours = {n for n in imported_by(path) if n.partition(".")[0] in ("course_lib", "autograder")}
    assert not {name for name in ours if layer_of(name) > here}


def test_only_the_book_imports_sphinx():
    importing = {
        path.parent
        for path in MODULES
        if {name.partition(".")[0] for name in imported_by(path)} & {"sphinx", "jupyter_book"}
    }
    assert importing == {ROOT / "autograder" / "book"}


HEAVY = ("torch", "sphinx", "distributed")
LOOK = f"""
import sys
from importlib import import_module
for verb in sys.argv[1:]:
    import_module(f"autograder.commands.{{verb}}")
    if heavy := [name for name in {HEAVY} if name in sys.modules]:
        sys.exit(f"{{verb}} imports {{heavy}}")
"""


def test_no_verb_imports_what_it_may_not_need():
    """`course report` once imported 1,838 modules of Sphinx."""
    done = subprocess.run([sys.executable, "-c", LOOK, *VERBS], capture_output=True, text=True)
    assert done.stderr == ""
