"""Pieces of HTML in a page, and the scripts and styles that a page loads because of them."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

LOADED_FOR = {
    'class="exercise-list"': ("my-state.js",),
    'class="moving-figure"': ("figures/start.js", "figures/figures.css"),
    'class="page-cells"': ("cells.js",),
    'class="cover"': ("predictions.js",),
    'class="proof-blocks"': ("proof-blocks.js",),
    'class="try"': ("exercise.js",),
}


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def load_what_is_used(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    for piece, files in LOADED_FOR.items():
        if piece not in context.get("body", ""):
            continue
        for file in files:
            if file.endswith(".css"):
                app.add_css_file(file)
            else:
                app.add_js_file(file, type="module")


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", load_what_is_used)
