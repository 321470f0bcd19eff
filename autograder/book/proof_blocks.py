"""A proof to build in the page: the lines offered, the proof so far, and what it is marked by.

Without JavaScript the offered lines stand there as a list with letters.
"""

import json
from collections.abc import Callable, Iterator

from docutils import nodes

from autograder.book.markup import html
from autograder.exercises.assignment import ProofBlocks

HOW = """
Put lines in order so that they prove it. Not every line belongs, and more than one order may be
right.
"""
PROOF_SO_FAR = """
<div class="proof-so-far"><p class="list-name" id="{slug}-built">Your proof</p>
<ol class="built" role="list" aria-labelledby="{slug}-built"></ol>
<p class="verdict"></p>
<p class="in-notebook" hidden>In the notebook: <code>{name} = </code><code></code></p></div>
<p class="visually-hidden" role="status"></p>
<script type="application/json">{data}</script></div>
"""


def lines_to_order(
    exercise: ProofBlocks, inline: Callable[[str], list[nodes.Node]]
) -> Iterator[nodes.Node]:
    slug, address = exercise.slug, f"{exercise.folder.parent.name}/{exercise.name}"
    yield nodes.paragraph("", "", *inline(HOW))
    yield html(
        f'<div class="proof-blocks" data-exercise="{address}">\n'
        f'<div><p class="list-name" id="{slug}-offered">Lines</p>\n'
        f'<ul class="lettered offered" role="list" aria-labelledby="{slug}-offered">'
    )
    for letter, text in exercise.shown:
        yield html(f'<li data-letter="{letter}"><span class="grip" aria-hidden="true"></span>')
        yield nodes.strong("", letter)
        yield nodes.inline("", "", *inline(text), classes=["line"])
        yield html("</li>")
    marked_by = {key: value for key, value in exercise.marked_by.items() if key != "text"}
    data = json.dumps(marked_by).replace("<", "\\u003c")
    yield html("</ul></div>" + PROOF_SO_FAR.format(name=exercise.name, slug=slug, data=data))
