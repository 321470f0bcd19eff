"""What a student wrote, in pages that others open: nbgrader's feedback and its formgrader.

Their templates put Markdown and comments into the page as they are, scripts included; and the
formgrader runs where whoever marks is logged in. nbgrader_config.py puts this in their place.
"""

import re
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


@pass_context
def markdown_to_html(context: Any, source: str) -> str:
    """nbconvert's own, with formulas and attached pictures, without anything that acts."""
    cell = context.get("cell", {})
    renderer = IPythonRenderer(
        escape=False, attachments=cell.get("attachments", {}), exclude_anchor_links=True
    )
    more = f"\n\n... and {len(source) - LETTERS} letters more" if len(source) > LETTERS else ""
    html = MarkdownWithMath(renderer=renderer).render(source[:LETTERS] + more)
    return bleach.clean(html, TAGS, _may_stay, protocols=("http", "https", "mailto", "data"))


def _may_stay(tag: str, name: str, value: str) -> bool:
    if name in WORDS:
        return True
    pattern = ALLOWED.get((tag, name))
    return bool(pattern and pattern.fullmatch(value))
