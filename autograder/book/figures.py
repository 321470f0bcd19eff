"""Figures that move: drawn while the book is built, by the very modules that move them later.

Each is a module in `static/figures/`. Node runs it once with the numbers of `course_lib`, so that
its picture, its table and its sentence stand on the page without JavaScript.
"""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx

from autograder.book.boxes import CourseDirective
from autograder.book.markup import html
from autograder.book.page_models import megabytes
from autograder.typeset.katex import node_binary
from course_lib import island
from course_lib.scoring import scaled_dot_scores
from course_lib.sentence_encoder import SOURCE, SentenceEncoder

MODULE = "autograder/book/static/figures/{}.js"
MODULES = Path(__file__).resolve().parent / "static" / "figures"
DRAW = """
const [base, module] = await Promise.all([import(process.argv[1]), import(process.argv[2])]);
let given = "";
for await (const part of process.stdin) given += part;
const { name, data } = JSON.parse(given);
process.stdout.write(base.markup(name, module, data));
"""


def the_island() -> dict[str, Any]:
    return {
        "names": island.NAMES,
        "places": island.PLACES,
        "markers": island.MARKERS,
        "angles": [radio.angle for radio in island.RADIOS],
        "keys": island.KEYS.tolist(),
        "values": island.VALUES.tolist(),
        "centre": island.MAP_CENTRE,
        "sharpness": island.SHARPNESS,
    }


def names_of_any_length() -> dict[str, Any]:
    """For each d one query and 64 strangers: their scores, divided by the root of d."""
    rng, draws = np.random.default_rng(4), {}
    for d in 2 ** np.arange(1, 13):
        query, keys = rng.standard_normal(d), rng.standard_normal((64, d))
        scores = scaled_dot_scores(query[None], np.vstack([query, keys]))[0].round(4)
        draws[int(d)] = {"self": scores[0], "strangers": scores[1:].tolist()}
    return {"draws": draws}


def six_words() -> dict[str, Any]:
    """A sequence of six tokens, and for each of them another that may stand in its place."""
    tokens, others = np.random.default_rng(5).normal(size=(2, 6, 4)).round(4)
    return {"tokens": tokens.tolist(), "others": others.tolist()}


def noisy_sine() -> dict[str, Any]:
    x = np.linspace(0, 1, 50)
    y = np.sin(2 * np.pi * x) + 0.25 * np.random.default_rng(10).standard_normal(50)
    return {"points": np.stack([x, y], axis=1).round(4).tolist()}


SENTENCES = (
    "My sister is a doctor and she works at the hospital.",
    "The animal didn't cross the street because it was too tired.",
    "The cat sat on the mat because it was tired.",
)
HEAD_AT_FIRST, TOKEN_AT_FIRST = 7, "▁she"


def eight_heads() -> dict[str, Any]:
    """What each head of the published sentence encoder does with three sentences."""
    encoder = SentenceEncoder.load()
    sentences = []
    for sentence in SENTENCES:
        run = encoder.run(sentence)
        weights = run.weights.reshape(-1, len(run.tokens), len(run.tokens)).round(3)
        sentences.append({"text": sentence, "tokens": run.tokens, "weights": weights.tolist()})
    return {
        "sentences": sentences,
        "head": HEAD_AT_FIRST,
        "word": sentences[0]["tokens"].index(TOKEN_AT_FIRST) + 1,
        "megabytes": round(megabytes(SOURCE), 1),
    }


DATA: dict[str, Callable[[], dict[str, Any]]] = {
    "dial_and_map": the_island,
    "who_looks_at_whom": the_island,
    "softmax_temperature": the_island,
    "names_of_any_length": names_of_any_length,
    "painted_mask": six_words,
    "two_hands": the_island,
    "cut_into_heads": dict,
    "moving_crossover": dict,
    "how_wide_to_listen": noisy_sine,
    "who_pulls": the_island,
    "sentence_heads": eight_heads,
}
"""The numbers that each figure is given; what is not here is no figure."""


class NotDrawn(Exception):
    """Says which module could not be drawn, and what has to be mended in it."""


def draw(name: str) -> str:
    """The figure before anything has been moved, as HTML that `static/figures/start.js` wakes.

    Raises NotDrawn.
    """
    modules = [(MODULES / f"{module}.js").as_uri() for module in ("base", name)]
    options = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--input-type=module"]
    done = subprocess.run(
        [str(node_binary()), *options, "-e", DRAW, *modules],
        input=json.dumps({"name": name, "data": DATA[name]()}),
        capture_output=True,
        encoding="utf-8",
    )
    if done.returncode:
        error = re.search(r"^\w*Error: .*", done.stderr, re.MULTILINE)
        reason = error[0] if error else done.stderr.strip()
        raise NotDrawn(f"{MODULE.format(name)} could not be drawn: {reason}")
    return done.stdout


class MovingFigure(CourseDirective):
    """One moving figure; its content is the caption and, after it, a question for a prediction.

    `:show:` is the state, as JSON, that a button in the answer of the question brings about.
    """

    required_arguments = 1
    has_content = True
    option_spec = {"name": directives.unchanged_required, "show": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in DATA:
            raise self.error(f"no moving figure is called {name!r}; there are {', '.join(DATA)}")
        self.assert_has_content()
        caption, *prediction = self.parse_content_to_nodes()
        figure = nodes.figure(classes=["moving"])
        self.set_source_info(figure)
        try:
            figure += [*prediction, html(draw(name))]
        except NotDrawn as error:
            raise self.error(str(error)) from None
        figure += nodes.caption("", "", *caption.children)
        if "show" in self.options:
            self._offer(figure)
        self.add_name(figure)
        return [figure]

    def _offer(self, figure: nodes.figure) -> None:
        state = json.dumps(json.loads(self.options["show"]))
        button = (
            f"<button type='button' data-show='{state}' disabled>Show it in the figure</button>"
        )
        for answer in figure.findall(nodes.container):
            if "answer" in answer["classes"]:
                answer += html(button)
                return
        raise self.error(":show: needs a question with choices, in whose answer the button stands")


def setup(app: Sphinx) -> None:
    app.add_directive("moving-figure", MovingFigure)
