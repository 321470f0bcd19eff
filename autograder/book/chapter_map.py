"""`{course-map}`: the chapters as cards with a question and a picture each, and what is to come."""

import re
from html import escape
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from sphinx.application import Sphinx

from autograder.book.boxes import CourseDirective
from autograder.book.figures import NotDrawn, draw
from autograder.book.markup import html

MAP = Path("chapters") / "map.yml"
PANEL = r'<svg(?:(?!<svg).)*?data-panel="{}".*?</svg>'


class ChapterMap(CourseDirective):
    """One card for each chapter of map.yml that the book has; the others are named below."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(MAP))
        entries = yaml.safe_load((Path(self.env.srcdir) / MAP).read_text(encoding="utf-8"))
        written = [entry for entry in entries if self._is_written(entry)]
        cards = nodes.container(classes=["chapter-map"])
        cards += [self._card(entry) for entry in written]
        to_come = [entry for entry in entries if entry not in written]
        return [cards, *self._to_come(to_come)]

    def _is_written(self, entry: dict[str, Any]) -> bool:
        return f"chapters/{entry.get('chapter')}" in self.env.found_docs

    def _card(self, entry: dict[str, Any]) -> nodes.container:
        number = int(entry["chapter"].partition("_")[0])
        try:
            drawn = re.search(PANEL.format(entry["panel"]), draw(entry["figure"]), re.DOTALL)
        except NotDrawn as error:
            raise self.error(str(error)) from None
        if drawn is None:
            raise self.error(f"{entry['figure']} has no panel {entry['panel']!r}")
        decoration = f'<div class="moving-figure picture" aria-hidden="true">{drawn[0]}</div>'
        card = nodes.container(classes=["chapter-card"])
        card += html(decoration)
        card += self.line(f"{number}. {{doc}}`{entry['chapter']}`", classes="chapter-title")
        card += html(f'<p data-chapter="{entry["chapter"]}">{escape(entry["asks"])}</p>')
        return card

    def _to_come(self, entries: list[dict[str, Any]]) -> list[nodes.Node]:
        if not entries:
            return []
        names = "; ".join(f"{entry['number']}, {entry['title']}" for entry in entries)
        return [self.line(f"Not written yet, and nothing above depends on them: {names}.")]


def setup(app: Sphinx) -> None:
    app.add_directive("course-map", ChapterMap)
