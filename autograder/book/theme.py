"""The theme of the book: one style sheet, one script, pictures that say how large they are.

What Sphinx's extensions would load besides is left out: a page of this book needs none of it.
"""

import re
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from PIL import Image
from pygments.formatters import HtmlFormatter
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform

from autograder.book.boxes import fold_line
from autograder.book.build_cache import kept
from autograder.book.build_state import state_of

HERE = Path(__file__).resolve().parent
CODE_COLOURS = {"light": "a11y-high-contrast-light", "dark": "a11y-high-contrast-dark"}
NOT_LOADED = re.compile(
    r"basic\.css|pygments\.css|mystnb\..*\.css|proof\.css"  # course.css has what is used of them
    r"|sphinx-design.*\.css|design-tabs\.js"
    r"|(documentation_options|doctools|sphinx_highlight)\.js"  # the search page loads them itself
)
OUR_OPTIONS = ("announcement", "repository_url", "repository_branch")
SIZE_AS_STYLE = re.compile(r'style="width: (\d+)px; height: (\d+)px;"')
COLOURS_IN_A_PICTURE = 256


def only_our_options(app: Sphinx, config: Config) -> None:
    """Jupyter Book sets options that only its own theme knows."""
    config.html_theme_options = {
        name: value for name, value in config.html_theme_options.items() if name in OUR_OPTIONS
    }


def write_style_sheet(app: Sphinx) -> None:
    """Join the files of styles/, so that a page asks for one; rules for paper come last."""
    katex = state_of(app).katex
    if katex is None:
        return
    files = sorted((HERE / "styles").glob("*.css"), key=lambda path: (path.stem == "print", path))
    sheets = [katex.stylesheet, *(path.read_text() for path in files), _code_colours()]
    static = Path(app.srcdir) / "_build" / "static"
    static.mkdir(parents=True, exist_ok=True)
    (static / "course.css").write_text("\n".join(sheets))
    app.config.html_static_path.append(str(static))


def _code_colours() -> str:
    """On paper code has the colours of a light page, whatever the screen had."""
    prefixes = {"light": ".highlight", "dark": 'html[data-theme="dark"] .highlight'}
    sheets = {}
    for theme, style in CODE_COLOURS.items():
        rules = HtmlFormatter(style=style).get_style_defs(prefixes[theme]).splitlines()
        sheets[theme] = "\n".join(rule for rule in rules if "background" not in rule)
    return f"{sheets['light']}\n@media screen {{\n{sheets['dark']}\n}}"


def prepare_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    context["root_title"] = app.env.titles[app.config.root_doc].astext()
    # the role that docutils gives to an entry of the bibliography has been withdrawn
    body = context.get("body", "").replace('role="doc-biblioentry"', 'role="listitem"')
    # docutils writes a size as a style, which a narrow window could not scale
    context["body"] = SIZE_AS_STYLE.sub(r'width="\1" height="\2"', body)
    for kind in ("css_files", "script_files"):
        context[kind] = [file for file in context[kind] if not NOT_LOADED.fullmatch(_name(file))]


def _name(file: object) -> str:
    return PurePosixPath(str(getattr(file, "filename", file) or "")).name


class WideTables(SphinxPostTransform):
    """A table wider than the page scrolls in a box of its own."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for table in list(self.document.findall(nodes.table)):
            box = nodes.container(classes=["wide"])
            table.replace_self(box)
            box += table


class NoLinksInFoldLines(SphinxPostTransform):
    """The line of a fold is a button already; not every reader can reach a link in it."""

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for line in self.document.findall(fold_line):
            for link in list(line.findall(nodes.reference)):
                link.replace_self(link.children)


class PictureSizes(SphinxPostTransform):
    """The browser keeps the place of a picture that has not come yet."""

    default_priority = 901
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.image):
            path = Path(self.app.srcdir) / node["uri"]
            if path.suffix == ".png" and path.is_file():
                with Image.open(path) as picture:
                    node["width"], node["height"] = map(str, picture.size)


def lighten_pictures(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    with kept(app, "pictures", _lighter) as lighter:
        for path in Path(app.outdir, "_images").glob("*.png"):
            path.write_bytes(lighter(path.read_bytes()))


def _lighter(png: bytes) -> bytes:
    """A plot has few colours: with a palette of them its file is a quarter of what it was."""
    with Image.open(BytesIO(png)) as picture:
        white = Image.new("RGBA", picture.size, "white")
        plain = Image.alpha_composite(white, picture.convert("RGBA")).convert("RGB")
    saved = BytesIO()
    few = plain.quantize(COLOURS_IN_A_PICTURE, dither=Image.Dither.NONE)
    few.save(saved, "PNG", optimize=True)
    return saved.getvalue()


def setup(app: Sphinx) -> None:
    app.add_html_theme("course", str(HERE / "theme"))
    app.config.html_static_path.append(str(HERE / "static"))
    app.add_js_file("page.js", type="module")
    app.add_post_transform(WideTables)
    app.add_post_transform(NoLinksInFoldLines)
    app.add_post_transform(PictureSizes)
    app.connect("config-inited", only_our_options)
    app.connect("builder-inited", write_style_sheet)
    app.connect("html-page-context", prepare_page, priority=900)
    app.connect("build-finished", lighten_pictures, priority=400)
