"""Chapters are numbered by the name of their file.

Sphinx numbers pages by their place in the table of contents, so that every theorem of the book
would be renumbered when a chapter is added before it. `03_softmax` is chapter 3, its theorems
3.1, 3.2, ..., whatever else is there.
"""

import re
from collections.abc import Set
from pathlib import PurePosixPath

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors import EnvironmentCollector
from sphinx.environment.collectors.toctree import TocTreeCollector


def chapter_number(docname: str) -> int | None:
    """3 for chapters/03_softmax, None for a page that is not a chapter (page 0 included)."""
    stem = re.match(r"(\d\d)_", PurePosixPath(docname).name)
    return int(stem[1]) or None if stem else None


class ChapterNumbers(EnvironmentCollector):
    """Runs after Sphinx's own collector and puts the numbers of the file names in place of its."""

    def get_updated_docs(self, app: Sphinx, env: BuildEnvironment) -> list[str]:
        for docname, toc in env.tocs.items():
            number = chapter_number(docname)
            if number is None:
                continue
            entries = list(toc.findall(nodes.reference))
            entries[0]["secnumber"] = env.titles[docname]["secnumber"] = [number]
            # the sections of a chapter have no number: 3.2 would be a theorem and a section
            env.toc_secnumbers[docname] = {entry["anchorname"]: () for entry in entries} | {
                "": (number,)
            }
        return TocTreeCollector().assign_figure_numbers(env)

    def clear_doc(self, app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        """Nothing is kept."""

    def merge_other(
        self, app: Sphinx, env: BuildEnvironment, docnames: Set[str], other: BuildEnvironment
    ) -> None:
        """Nothing is kept."""

    def process_doc(self, app: Sphinx, doctree: nodes.document) -> None:
        """Nothing is kept."""
