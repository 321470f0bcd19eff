"""Texts for pages without a script: Markdown made harmless, formulas set as MathML."""

import re
from functools import cached_property
from html import escape
from pathlib import Path
from statistics import median

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from sphinx.errors import ExtensionError

from autograder.book.formulas import Katex, katex_files
from autograder.grading.pages import safe_html

CSS = Path(__file__).with_name("page.css").read_text()
FORMULA_LETTERS = 2_000
"""A longer one is shown as it was typed."""
THIN = '<mspace width="0.17em"></mspace>'
BEFORE_NAMED = re.compile(
    r"((?<=</m[in]>)|(?<=</m(?:sub|sup|row)>))(?=<mi[^>]*>\w\w+</mi><mo>\u2061</mo>)"
)
AFTER_NAMED = re.compile(r"(?<=<mo>\u2061</mo>)(?!<mo|<mrow><mo|</)")
"""Where TeX puts a thin space around ln or max, and browsers none."""


class Typesetter:
    """Sets formulas as MathML, which browsers show without a script, a style sheet or a font."""

    def __enter__(self) -> "Typesetter":
        return self

    def __exit__(self, *_: object) -> None:
        if self.__dict__.get("_katex"):
            self._katex.close()

    @cached_property
    def _katex(self) -> Katex | None:
        """Started when the first formula comes; without it formulas are shown as TeX."""
        try:
            return Katex(katex_files())
        except (ExtensionError, OSError):
            return None

    @property
    def can_set(self) -> bool:
        return self._katex is not None

    def formula(self, tex: str, display: bool) -> str:
        try:
            if self._katex is None or len(tex) > FORMULA_LETTERS:
                raise ValueError(tex)
            html = self._katex.render(tex, display, output="mathml", strict="ignore")
        except (ValueError, OSError):  # no formula, or no node any more to set it
            return f"<code>{escape(tex)}</code>"
        html = AFTER_NAMED.sub(THIN, BEFORE_NAMED.sub(THIN, html))
        return f'<div class="formula">{html}</div>' if display else html

    def markdown(self, source: str, attachments: dict | None = None) -> Markup:
        return Markup(safe_html(source, attachments, self.formula))

    def line(self, source: str) -> Markup:
        """Markdown that stands inside a sentence."""
        html = self.markdown(source).strip()
        whole = html.startswith("<p>") and html.endswith("</p>") and html.count("<p>") == 1
        return Markup(html[3:-4] if whole else html)


def page(name: str, typesetter: Typesetter, **values: object) -> str:
    """Fill a template of this folder."""
    environment = Environment(
        loader=PackageLoader(__package__, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "markdown": typesetter.markdown,
        "line": typesetter.line,
        "sentence": lambda text: typesetter.line(sentence(text)),
        "points": points,
        "median": median,
        "ms": milliseconds,
    }
    return environment.get_template(name).render(css=Markup(CSS), **values)


def sentence(text: str) -> str:
    """With a capital letter, unless it begins with a name."""
    first = text.partition(" ")[0]
    is_name = "_" in first or "(" in first or (len(first) == 1 and first != "a")
    return text if is_name else text[:1].upper() + text[1:]


def points(number: float) -> str:
    """At most two decimals, and none that say nothing."""
    return f"{round(number, 2):g}"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
