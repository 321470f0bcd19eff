"""Predictions: what answers a question stays covered until the reader has chosen or asks for it.

    ```{prediction}
    The question, with choices as a list, or without.

    ---
    The answer.
    ```

    A cell, a figure, sentences: covered. Of a cell, only what it prints.

    ```{prediction-end}
    ```

Styles do it alone; without JavaScript and in print all is open, and so is what an address leads to.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from autograder.book.boxes import QuestionBox
from autograder.book.markup import html

COVER = """
<div class="cover"><p>Choose above, and what follows is shown.</p>
<button type="button" class="cover-show">Show it</button>
<button type="button" class="cover-none">Always show everything</button></div>
<div class="uncovered"><button type="button" class="cover-again">Cover answers again</button></div>
"""

log = logging.getLogger(__name__)


class Prediction(QuestionBox):
    """A question that covers what stands between it and `{prediction-end}`."""

    heading = "Predict before reading on"

    def run(self) -> list[nodes.Node]:
        box, *others = super().run()
        assert isinstance(box, nodes.Element)
        box["classes"].append("prediction")
        self.set_source_info(box)
        return [box, *others]


class prediction_end(nodes.Invisible, nodes.Element):
    """Where what is covered ends; no page has it any more."""


class PredictionEnd(SphinxDirective):
    def run(self) -> list[nodes.Node]:
        end = prediction_end()
        self.set_source_info(end)
        return [end]


def cover(app: Sphinx, doctree: nodes.document) -> None:
    """Put what each prediction covers into one box."""
    for box in list(doctree.findall(nodes.admonition)):
        if "prediction" not in box["classes"]:
            continue
        following = box.parent[box.parent.index(box) + 1 :]
        ends = [k for k, node in enumerate(following) if isinstance(node, prediction_end)]
        if not ends:
            log.warning("prediction without {prediction-end} in its section", location=box)
            continue
        covered = nodes.container("", *following[: ends[0]], html(COVER), classes=["covered"])
        for node in following[: ends[0] + 1]:
            box.parent.remove(node)
        box.parent.insert(box.parent.index(box) + 1, covered)
    for end in list(doctree.findall(prediction_end)):
        log.warning("{prediction-end} without a prediction before it", location=end)
        end.parent.remove(end)


def setup(app: Sphinx) -> None:
    app.add_directive("prediction", Prediction)
    app.add_directive("prediction-end", PredictionEnd)
    app.add_node(prediction_end)
    app.connect("doctree-read", cover)
