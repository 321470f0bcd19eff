"""Formulas are set by KaTeX while the book is built, so that a page shows them without JavaScript.

Node comes as a Python package, KaTeX through npm by the hash in package-lock.json; nothing of it is
in git, and a reader's browser asks nobody else for its fonts. sphinxcontrib-katex does not do here:
over its Unix socket it now and then asks before node listens, over TCP a formula takes 80 ms.
"""

import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

from autograder.book.build_state import state_of
from autograder.typeset.katex import Katex, NoKatex, katex_files

log = logging.getLogger(__name__)


def start_katex(app: Sphinx) -> None:
    """Start the renderer; put its fonts where Sphinx collects static files.

    Ends the build where KaTeX cannot be had: no page is ever written with bare TeX.
    """
    if app.builder.format != "html":
        return
    try:
        source = katex_files()
    except NoKatex as reason:  # plain Sphinx was started; `course site` has looked before
        raise ExtensionError(str(reason)) from reason
    static = Path(app.srcdir) / "_build" / "static"
    state_of(app).katex = Katex(source)
    shutil.rmtree(static, ignore_errors=True)
    (static / "fonts").mkdir(parents=True)
    for font in source.glob("fonts/*.woff2"):
        shutil.copy(font, static / "fonts")


def stop_katex(app: Sphinx, exception: Exception | None) -> None:
    if katex := state_of(app).katex:
        katex.close()


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math"))
    self.body.append(_render(self, node, display=False) + "</span>")
    raise nodes.SkipNode


def _display(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_render(self, node, display=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>")
    raise nodes.SkipNode


def _render(self: HTML5Translator, node: nodes.Element, display: bool) -> str:
    tex, katex = node.astext(), state_of(self.builder.app).katex
    if katex is None:
        raise ExtensionError("no formula can be set: KaTeX has not been started")
    try:
        html = katex.render(tex, display)
    except ValueError as error:
        log.warning("formula: %s", error, location=with_line(node))
        return f'<code class="katex-error">{escape(tex)}</code>'
    if "eqn-num" in html:
        log.warning(
            "formula that numbers itself: write $$ ... $$ (eq-label), with aligned inside",
            location=with_line(node),
        )
    return html


class PunctuationStays(SphinxPostTransform):
    """No line of a page begins with the comma that follows a formula, or ends with its bracket."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            siblings = formula.parent.children
            i = siblings.index(formula)
            before, after = "", ""
            if i and isinstance(siblings[i - 1], nodes.Text):
                text, before = _split(siblings[i - 1], r"(.*?)([(\[“‘]*)")
                siblings[i - 1] = nodes.Text(text)
            if i + 1 < len(siblings) and isinstance(siblings[i + 1], nodes.Text):
                after, text = _split(siblings[i + 1], r"([\]),.;:?!”’-]*)(.*)")
                siblings[i + 1] = nodes.Text(text)
            if before or after:
                siblings[i] = nodes.inline(
                    "", "", nodes.Text(before), formula, nodes.Text(after), classes=["unbroken"]
                )


def _split(text: str, pattern: str) -> tuple[str, str]:
    """In two, by a pattern of two groups that matches any text."""
    match = re.fullmatch(pattern, text, re.DOTALL)
    assert match is not None
    return match[1], match[2]


def with_line(node: nodes.Node) -> nodes.Node:
    """The node, or the nearest one around it, that knows its line in the page."""
    while node.parent is not None and not (node.source and node.line):
        node = node.parent
    return node


def setup(app: Sphinx) -> None:
    app.add_html_math_renderer(
        "prerendered", inline_renderers=(_inline, None), block_renderers=(_display, None)
    )
    app.add_post_transform(PunctuationStays)
    app.connect("builder-inited", start_katex)
    app.connect("build-finished", stop_katex)
