"""A word of the glossary is linked where a chapter first uses it in its prose."""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from autograder.book.numbering import chapter_number

PROSE = (nodes.document, nodes.section, nodes.bullet_list, nodes.enumerated_list, nodes.list_item)
PLAIN = (nodes.paragraph, nodes.emphasis, nodes.strong)


class LinkFirstUses(SphinxPostTransform):
    default_priority = 890  # formulas and references stand, punctuation is not yet bound to them
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        docname = self.env.docname
        if chapter_number(docname) is None:
            return
        wanted = {pattern_of(term): target for term, *target in self._terms()}
        for text in list(_prose(self.document)):
            self._link(text, wanted)

    def _terms(self) -> Iterator[tuple[str, str, str]]:
        for name, _, kind, docname, anchor, _ in self.env.get_domain("std").get_objects():
            if kind == "term":
                yield name, docname, anchor

    def _link(self, text: nodes.Text, wanted: dict[re.Pattern[str], list[str]]) -> None:
        """Link what this text uses first, and never ask for it again in this chapter."""
        first_uses = sorted(
            (use.start(), -use.end(), pattern)
            for pattern in wanted
            if (use := pattern.search(text))
        )
        pieces: list[nodes.Node] = []
        done = 0
        for start, end, pattern in first_uses:
            if start < done:  # a part of a longer word of the glossary
                continue
            docname, anchor = wanted.pop(pattern)
            link = nodes.reference("", text[start:-end], internal=True, classes=["word"])
            link["refuri"] = self.app.builder.get_relative_uri(self.env.docname, docname)
            link["refuri"] += f"#{anchor}"
            pieces += [nodes.Text(text[done:start]), link]
            done = -end
        if pieces:
            text.parent.replace(text, [*pieces, nodes.Text(text[done:])])


def pattern_of(term: str) -> re.Pattern[str]:
    """ "simplex, open" is written "open simplex"; one, many, and at the head of a sentence."""
    words = " ".join(reversed(term.split(", "))).removesuffix("s").split()
    written = r"\s+".join(map(re.escape, words))
    return re.compile(rf"\b{written}(?:s|es)?\b", re.IGNORECASE)


def _prose(document: nodes.document) -> Iterator[nodes.Text]:
    """The texts of the argument: of no box, heading, formula, code or link, nor of the opening."""
    for paragraph in document.findall(nodes.paragraph):
        around = [*_around(paragraph)]
        sections = sum(isinstance(one, nodes.section) for one in around)
        if sections > 1 and all(isinstance(one, PROSE) for one in around):
            for text in paragraph.findall(nodes.Text):
                if isinstance(text.parent, PLAIN):
                    yield text


def _around(node: nodes.Node) -> Iterator[nodes.Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def setup(app: Sphinx) -> None:
    app.add_post_transform(LinkFirstUses)
