"""The code cells of a page as its script needs them, to run them where they stand.

A page shows most of its cells; the script gets the text of the others. PyTorch does not run in a
browser, and the weights of published models are not there: of a cell that needs them, the script
gets the statements that do without.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from nbformat import NotebookNode
from sphinx.application import Sphinx

from autograder.book import runtime
from autograder.book.build_state import state_of
from autograder.book.execution import notebook_of

UNSEEN = {"remove-cell", "remove-input"}
ELSEWHERE = {"torch", "course_lib.sentence_encoder", "course_lib.reaction_model"}


def cells_for_script(notebook: NotebookNode) -> list[dict[str, Any]]:
    """For each code cell what its page does not show: all of it, or what runs without PyTorch."""
    cells, needs_torch = [], set[str]()
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        source = cell.source
        plain = "\n".join(_without_torch(source, needs_torch))
        here = plain if (torch := plain != _normal(source)) else source
        unseen = UNSEEN & set(cell.metadata.get("tags", ()))
        cells.append({"unseen": here} if unseen else {"torch": plain} if torch else {})
    return cells


def _normal(source: str) -> str:
    return "\n".join(ast.unparse(statement) for statement in ast.parse(source).body)


def _without_torch(source: str, needs_torch: set[str]) -> Iterator[str]:
    """The statements that use neither torch nor a name in `needs_torch`, which is updated."""
    for statement in ast.parse(source).body:
        imported, loaded, stored, changed = (set[str]() for _ in range(4))
        for node in ast.walk(statement):
            match node:
                case ast.Import(names=names):
                    imported |= {alias.name.partition(".")[0] for alias in names}
                    stored |= {(a.asname or a.name).partition(".")[0] for a in names}
                case ast.ImportFrom(module=str(module), names=names):
                    imported |= {module.partition(".")[0], module}
                    stored |= {alias.asname or alias.name for alias in names}
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    stored.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    stored.add(name)
                case ast.Name(id=name):
                    loaded.add(name)
                case (
                    ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
                    | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"))
                ):
                    changed.add(name)
        if ELSEWHERE & imported or loaded & needs_torch:
            needs_torch |= stored | changed
        else:
            needs_torch -= stored
            yield ast.unparse(statement)


def give_cells(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    if doctree is None or app.builder.name != "html" or runtime.fetched() is None:
        return
    notebook = notebook_of(app.env, Path(app.env.doc2path(page)))
    cells = cells_for_script(notebook) if notebook else []
    if not cells:
        return
    state_of(app).with_cells.add(page)
    data = json.dumps(cells).replace("<", "\\u003c")
    context["body"] += f'<script type="application/json" class="page-cells">{data}</script>'


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", give_cells, priority=400)  # before scripts are chosen by it
