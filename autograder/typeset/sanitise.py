"""What a student wrote, in pages that others open: nbgrader's feedback and its formgrader.

Their templates put Markdown and comments into the page as they are, scripts included; and the
formgrader runs where whoever marks is logged in. nbgrader_config.py puts this in their place.
"""

import re
from collections.abc import Callable
from typing import Any

import bleach
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

LETTERS = 20_000
"""More of one text is not set: some texts take time that grows with the square of their length."""
_TAGS = """
p br hr h1 h2 h3 h4 h5 h6 a em strong b i u s del code pre blockquote ul ol li dl dt dd
table thead tbody tr th td img span div sup sub details summary
"""
TAGS = _TAGS.split()
LINK = re.compile(r"(https?://|mailto:|#)[^\s\\]*", re.IGNORECASE)
PICTURE = re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]*")
"""Within the page only: a picture from elsewhere would tell its owner who marks, and when."""
COLOURED_CODE = re.compile(r"highlight( hl-\w+)?|language-\w+|[a-z][a-z0-9]{0,2}")
SIZE = re.compile(r"\d{1,4}%?")
ALLOWED = {
    ("a", "href"): LINK,
    ("img", "src"): PICTURE,
    ("img", "width"): SIZE,
    ("img", "height"): SIZE,
} | {(tag, "class"): COLOURED_CODE for tag in ("span", "div", "pre", "code")}
WORDS = ("title", "alt")
OURS = "html_before_cells"
"""In nbconvert's resources, by the id of a cell: what we put before its text as it is."""
SET_FORMULA = "set_formula"
"""There, too: sets the formulas of the page; without it MathJax does, fetched from elsewhere."""


SetFormula = Callable[[str, bool], str]
"""From TeX, and whether it stands on a line of its own, to HTML that is ours."""


@pass_context
def markdown_to_html(context: Any, source: str) -> str:
    """nbconvert's own, with formulas and attached pictures, without anything that acts."""
    cell = context.get("cell", {})
    resources = context.get("resources", {})
    ours = resources.get(OURS, {}).get(cell.get("id"), "")
    return ours + safe_html(source, cell.get("attachments", {}), resources.get(SET_FORMULA))


def safe_html(source: str, attachments: dict | None = None, formula: SetFormula | None = None):
    """Markdown without anything that acts; formulas stay TeX unless somebody sets them."""
    renderer = _Renderer(attachments or {}, formula)
    more = f"\n\n... and {len(source) - LETTERS} letters more" if len(source) > LETTERS else ""
    text = source[:LETTERS].translate(_Renderer.NO_MARKS) + more
    html = MarkdownWithMath(renderer=renderer).render(text)
    clean = bleach.clean(html, TAGS, _may_stay, protocols=("http", "https", "mailto", "data"))
    return renderer.put_formulas(clean)


class _Renderer(IPythonRenderer):
    """Keeps formulas aside while the text around them is cleaned."""

    MARKS = "\ue000\ue001"
    NO_MARKS = str.maketrans("", "", MARKS)

    def __init__(self, attachments: dict, formula: SetFormula | None):
        super().__init__(escape=False, attachments=attachments, exclude_anchor_links=True)
        self._formula, self._kept = formula, []

    def put_formulas(self, html: str) -> str:
        opening, closing = self.MARKS
        return re.sub(f"{opening}(\\d+){closing}", lambda m: self._kept[int(m[1])], html)

    def inline_math(self, body: str) -> str:
        return self._keep(body, False) if self._formula else super().inline_math(body)

    def block_math(self, body: str) -> str:
        return self._keep(body, True) if self._formula else super().block_math(body)

    def latex_environment(self, name: str, body: str) -> str:
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return self._keep(whole, True) if self._formula else super().latex_environment(name, body)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """One that was named but never attached is no fault of the whole page."""
        if url.startswith("attachment:") and url.partition(":")[2] not in self.attachments:
            return self.escape_html(f"[{url}: no such picture was handed in]")
        return super().image(text, url, title)

    def _keep(self, tex: str, display: bool) -> str:
        self._kept.append(self._formula(tex, display))
        opening, closing = self.MARKS
        return f"{opening}{len(self._kept) - 1}{closing}"


def _may_stay(tag: str, name: str, value: str) -> bool:
    if name in WORDS:
        return True
    pattern = ALLOWED.get((tag, name))
    return bool(pattern and pattern.fullmatch(value))
