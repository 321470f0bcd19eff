"""Texts for pages without a script: Markdown made harmless, formulas set as MathML."""

import re
from functools import cached_property
from html import escape
from typing import Any

from markupsafe import Markup

from autograder.typeset.katex import Katex, NoKatex, katex_files
from autograder.typeset.sanitise import safe_html

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
        started: Katex | None = self.__dict__.get("_katex")
        if started:
            started.close()

    @cached_property
    def _katex(self) -> Katex | None:
        """Started when the first formula comes; without it formulas are shown as TeX."""
        try:
            return Katex(katex_files())
        except (NoKatex, OSError):
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

    def markdown(self, source: str, attachments: dict[str, Any] | None = None) -> Markup:
        """What anybody wrote, made harmless."""
        return safe_html(source, attachments, self.formula)

    def line(self, source: str) -> Markup:
        """Markdown that stands inside a sentence."""
        html = self.markdown(source).strip()
        whole = html.startswith("<p>") and html.endswith("</p>") and html.count("<p>") == 1
        return Markup(html[3:-4] if whole else html)
