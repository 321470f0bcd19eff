"""The rubric beside each answer that a person marks: in the formgrader, and nowhere else.

It is put into the page while the formgrader makes it, so no file that a student may get holds it.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, DictLoader
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.coursedir import CourseDirectory

from autograder.exercises.assignment import Assignment, ProofQuestion
from autograder.typeset.sanitise import OURS, SET_FORMULA

FILE = "rubrics.json"
OF_THE_FORMGRADER = "submission_id"
"""Only its pages are made with this."""
NO_MATHJAX = {"mathjax.html.j2": "{% macro mathjax(url='') %}{% endmacro %}"}
BESIDE = """<style>
@media (min-width: 992px) {
  .container { width: 96%; max-width: 1500px; }
  #notebook-container:has(> .cell) {
    display: grid;
    grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
    grid-auto-flow: dense;
    align-items: start;
    column-gap: 2em;
  }
  #notebook-container::before { content: none; }
  .cell { grid-column: 1 / -1; }
  .text_cell:has(input.score) { grid-column: 1; }
  .text_cell:has(+ .text_cell input.score) {
    grid-column: 2;
    position: sticky;
    top: 70px;
    max-height: calc(100vh - 80px);
    overflow-y: auto;
  }
  .text_cell:has(input.score, + .text_cell input.score) > .prompt { display: none; }
  .text_cell h4 { margin-top: 0; }
}
summary { display: list-item; cursor: pointer; }
</style>
"""
"""Where the window is wide enough: to the right of the answer, in sight however long that is."""


def write_rubrics(assignment: Assignment, grader: Path) -> None:
    """Beside the hidden tests, where nothing is copied to students."""
    rubrics = {
        exercise.slug: {
            "rubric": exercise.rubric,
            "model": exercise.model,
            "points": exercise.points,
        }
        for exercise in assignment.exercises
        if isinstance(exercise, ProofQuestion) and exercise.marking == "by hand"
    }
    (grader / FILE).write_text(json.dumps(rubrics, indent=1) + "\n")


class ShowRubric(Preprocessor):
    """Yes-or-no points and the model proof, for whoever marks."""

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        if OF_THE_FORMGRADER not in resources:
            return nb, resources
        _without_mathjax(self.parent)
        course = Path(CourseDirectory(parent=self).root)
        path = course / "grader" / resources["assignment_id"] / FILE
        rubrics = json.loads(path.read_text()) if path.is_file() else {}
        cells, styles = [], {}
        for cell in nb.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in rubrics:
                cells.append(new_markdown_cell(_for_marking(**rubrics[name])))
                styles[cells[-1].id] = BESIDE
            cells.append(cell)
        nb.cells = cells
        resources[OURS] = styles
        if _typesetter().can_set:
            resources[SET_FORMULA] = _typesetter().formula
        return nb, resources


def _without_mathjax(exporter: Any) -> None:
    """nbgrader's template would fetch it from elsewhere, whatever is configured."""
    environment = getattr(exporter, "environment", None)
    if environment is not None and not isinstance(environment.loader, _NoMathjax):
        environment.loader = _NoMathjax([DictLoader(NO_MATHJAX), environment.loader])


class _NoMathjax(ChoiceLoader):
    """Templates with an empty one in the place of MathJax's."""


@cache
def _typesetter() -> Any:
    """One for all pages of a formgrader, which so needs no network; it ends with the server."""
    from autograder.typeset.typesetter import Typesetter

    return Typesetter()


def _for_marking(rubric: list[str], model: str, points: float) -> str:
    each = f"{points / len(rubric):.3g}"
    lines = "\n".join(f"1. {point} &ensp;**{each}**" for point in rubric)
    return (
        "#### For whoever marks\n\n"
        f"Each point is met or not; one that is met is worth the number behind it.\n\n{lines}\n\n"
        f"<details><summary>A model proof</summary>\n\n{model}\n\n</details>"
    )
