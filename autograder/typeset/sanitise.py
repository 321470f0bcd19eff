"""What a student wrote, in pages that others open: nbgrader's feedback and its formgrader.

Their templates put Markdown and comments into the page as they are, scripts included; and the
formgrader runs where whoever marks is logged in. nbgrader_config.py puts this in their place.

All HTML passes nh3 with one allowlist. nh3 drops what is not on it, so what only looks like a tag,
as in "x<y and z>w", is escaped before: it is shown as it was typed.
"""

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import nh3
from jinja2 import pass_context
from markupsafe import Markup
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath, import_plugin

LETTERS = 20_000
"""More of one text is not set: some texts take time that grows with the square of their length."""
_TAGS = """
p br hr h1 h2 h3 h4 h5 h6 a em strong b i u s del code pre blockquote ul ol li dl dt dd
table thead tbody tr th td img span div sup sub details summary
"""
TAGS = frozenset(_TAGS.split())
VOID = frozenset({"br", "hr", "img"})
"""Those that are never closed."""
MAY_STAY_OPEN = {
    **dict.fromkeys(("tr", "td", "th", "thead", "tbody"), ("table",)),
    **dict.fromkeys(("dt", "dd"), ("dl",)),
    "li": ("ul", "ol"),
}
"""Those that HTML closes by itself, and inside what."""
LINK = re.compile(r"(https?://|mailto:|#)[^\s\\]*", re.IGNORECASE)
PICTURE_TYPES = ("image/png", "image/jpeg")
PICTURE = re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]*")
"""Within the page only: a picture from elsewhere would tell its owner who marks, and when."""
COLOURED_CODE = re.compile(r"highlight( hl-\w+)?|language-\w+|[a-z][a-z0-9]{0,2}")
SIZE = re.compile(r"\d{1,4}%?")
ANYTHING = re.compile(r"(?s).*")
ALLOWED = {
    ("*", "title"): ANYTHING,
    ("*", "alt"): ANYTHING,
    ("a", "href"): LINK,
    ("img", "src"): PICTURE,
    ("img", "width"): SIZE,
    ("img", "height"): SIZE,
} | {(tag, "class"): COLOURED_CODE for tag in ("span", "div", "pre", "code")}
"""Attributes, and what their whole value must match."""
SCHEMES = {"http", "https", "mailto", "data"}
PLUGINS = tuple(name for name in MarkdownWithMath.DEFAULT_PLUGINS if name != "task_lists")
"""A task list is made of <input>, which is no text."""
OURS = "html_before_cells"
"""In nbconvert's resources, by the id of a cell: what we put before its text as it is."""
SET_FORMULA = "set_formula"
"""There, too: sets the formulas of the page; without it they stay as they were typed."""

LOOKS_LIKE_TAG = re.compile(
    r"""
    <!--(?!-?>)(?:(?!<!--).)*?--!?>
    | </(?P<closed>[a-z][a-z0-9]*)\s*+>
    | <(?P<opened>[a-z][a-z0-9]*+)
      (?:\s++[a-z_:][\w:.-]*+ (?:\s*+=\s*+ (?:[^\s"'=<>`]++ | "[^"]*+" | '[^']*+'))?+)*+
      \s*+/?>
    | <
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE | re.ASCII,
)
"""A comment, a tag, or a sign that begins neither, as a browser would read them."""

CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

SetFormula = Callable[[str, bool], str]
"""From TeX, and whether it stands on a line of its own, to HTML that is ours."""


@pass_context
def markdown_to_html(context: Any, source: str) -> Markup:
    """nbconvert's filter `markdown2html`: formulas and attached pictures, nothing that acts."""
    cell = context.get("cell", {})
    resources = context.get("resources", {})
    ours = resources.get(OURS, {}).get(cell.get("id"), "")
    return Markup(ours) + safe_html(source, cell.get("attachments"), resources.get(SET_FORMULA))


def clean_html(html: str | bytes) -> str:
    """nbconvert's filter of this name, for what cells put out, without bleach."""
    if isinstance(html, Markup):  # made harmless by the filter above, with formulas of ours in it
        return html
    return _clean(html.decode(errors="replace") if isinstance(html, bytes) else html)


def safe_html(source: str, attachments: Any = None, formula: SetFormula | None = None) -> Markup:
    """Markdown of anybody without anything that acts; formulas stay TeX unless somebody sets them.

    Every letter outside the tags of the allowlist is shown. An HTML comment is not, as in Jupyter.
    """
    try:
        return _safe_html(source, attachments, formula)
    except Exception:  # whatever a parser of strange texts may raise: no text stops a page
        return Markup(f"<pre>{escape(_encodable(source[:LETTERS]))}</pre>")


def _safe_html(source: str, attachments: Any, formula: SetFormula | None) -> Markup:
    more = f"\n\n... and {len(source) - LETTERS} letters more" if len(source) > LETTERS else ""
    renderer = _Renderer(attachments, formula)
    plugins = map(import_plugin, PLUGINS)
    html = MarkdownWithMath(renderer, plugins=plugins).render(_encodable(source[:LETTERS]) + more)
    return Markup(renderer.put_formulas(_clean(renderer.put_tags(html))))


def _encodable(text: str) -> str:
    """JSON can hold halves of characters and codes for terminals, which no page can."""
    return CONTROL.sub("\ufffd", text.encode(errors="replace").decode())


def _clean(html: str) -> str:
    attributes: dict[str, set[str]] = {}
    for tag, name in ALLOWED:
        attributes.setdefault(tag, set()).add(name)
    return nh3.clean(
        _encodable(html),
        tags=set(TAGS),
        attributes=attributes,
        attribute_filter=_allowed_value,
        url_schemes=SCHEMES,
    )


def _allowed_value(tag: str, name: str, value: str) -> str | None:
    pattern = ALLOWED.get((tag, name)) or ALLOWED.get(("*", name))
    return value if pattern and pattern.fullmatch(value) else None


@dataclass(frozen=True)
class _Kept:
    """A formula or a student's own tag, for which a mark stands while the text is rendered."""

    typed: str
    html: str
    opened: str = ""
    closed: str = ""

    @property
    def is_tag(self) -> bool:
        return bool(self.opened or self.closed)


class _Renderer(IPythonRenderer):
    """Puts formulas and tags of the student's own aside, until the text around them is known."""

    def __init__(self, attachments: Any, formula: SetFormula | None) -> None:
        pictures = attachments if isinstance(attachments, dict) else {}
        super().__init__(escape=False, attachments=pictures, exclude_anchor_links=True)
        self._formula = formula
        self._kept: list[_Kept] = []
        self._secret = secrets.token_hex(8)  # no text can hold a mark
        self._mark = re.compile(f"kept-{self._secret}-(\\d+)-")

    def put_tags(self, html: str) -> str:
        """Those that are opened and closed; in "a<b>c" nothing closes it, so it is no tag."""
        still_open: dict[str, list[int]] = {}
        real = set()
        for number in map(int, self._mark.findall(html)):
            tag = self._kept[number]
            parents = MAY_STAY_OPEN.get(tag.opened, ())
            if tag.opened in VOID or any(still_open.get(parent) for parent in parents):
                real.add(number)
            if tag.opened:
                still_open.setdefault(tag.opened, []).append(number)
            elif still_open.get(tag.closed):
                real |= {number, still_open[tag.closed].pop()}

        def put(mark: re.Match[str]) -> str:
            kept = self._kept[int(mark[1])]
            if not kept.is_tag:
                return mark[0]
            return kept.html if int(mark[1]) in real else escape(kept.typed, quote=False)

        return self._mark.sub(put, html)

    def put_formulas(self, html: str) -> str:
        return self._mark.sub(lambda mark: self._kept[int(mark[1])].html, html)

    def inline_html(self, html: str) -> str:
        return LOOKS_LIKE_TAG.sub(self._tag_or_text, html)

    def block_html(self, html: str) -> str:
        return self.inline_html(html) + "\n"

    def _tag_or_text(self, match: re.Match[str]) -> str:
        opened, closed = (match["opened"] or "").lower(), (match["closed"] or "").lower()
        if match[0].startswith("<!--"):
            return match[0]
        if {opened, closed} & TAGS:
            return self._keep(_Kept(match[0], match[0], opened, closed))
        return escape(match[0], quote=False)

    def inline_math(self, body: str) -> str:
        return self._set(f"${body}$", body, False)

    def block_math(self, body: str) -> str:
        return self._set(f"$${body}$$", body, True)

    def latex_environment(self, name: str, body: str) -> str:
        whole = f"\\begin{{{name}}}{body}\\end{{{name}}}"
        return self._set(whole, whole, True)

    def _set(self, typed: str, tex: str, display: bool) -> str:
        if self._formula is None:
            return escape(typed, quote=False)
        return self._keep(_Kept(typed, self._formula(tex, display)))

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """One that was named but never attached is no fault of the whole page."""
        name = url.removeprefix("attachment:")
        if name != url and not self._is_picture(name):
            return escape(f"[{url}: no such picture was handed in]")
        alt = self._mark.sub(lambda mark: escape(self._kept[int(mark[1])].typed), text)
        html: str = super().image(alt, url, title)
        return html

    def _is_picture(self, name: str) -> bool:
        attached = self.attachments.get(name)
        return isinstance(attached, dict) and not {*PICTURE_TYPES}.isdisjoint(attached)

    def block_mermaidjs(self, code: str) -> str:
        """As code: nbconvert puts a diagram into the page as it is, for a script to draw."""
        return f"<pre><code>{escape(code)}</code></pre>\n"

    def _keep(self, kept: _Kept) -> str:
        self._kept.append(kept)
        return f"kept-{self._secret}-{len(self._kept) - 1}-"
