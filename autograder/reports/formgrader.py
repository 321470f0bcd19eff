"""What each test saw, below its cell: in the formgrader, and nowhere else.

It is put into the page while the formgrader makes it, as `release.rubric` does, so no file that a
student may get holds it. It is read from the log, which no process holds: a class may be graded
while somebody marks.
"""

import json
from pathlib import Path
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.coursedir import CourseDirectory

from autograder.grading.grade_class import log_of
from autograder.grading.outcome import Mark
from autograder.release.rubric import OF_THE_FORMGRADER
from course_lib.checking.findings import Finding


class ShowEvidence(Preprocessor):
    """For each check that failed: got, expected, and the known mistake, hidden tests included."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if OF_THE_FORMGRADER not in resources:
            return nb, resources
        course = Path(CourseDirectory(parent=self).root)
        path = log_of(course, resources["assignment_id"], resources["student"])
        marks = json.loads(path.read_text())["marks"] if path.is_file() else []
        of_cell = {mark.cell: mark for mark in map(Mark.from_dict, marks)}
        cells = []
        for cell in nb.cells:
            cells.append(cell)
            mark = of_cell.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            failed = [finding for finding in mark.findings if not finding.passed] if mark else []
            if failed:
                cells.append(new_markdown_cell(_for_the_instructor(failed)))
        nb.cells = cells
        return nb, resources


def _for_the_instructor(failed: list[Finding]) -> str:
    lines = ["#### For whoever marks: what the tests saw", ""]
    for finding in failed:
        hidden = " (hidden from students)" if finding.hidden else ""
        lines += [f"- {finding.property}{hidden}<br><code>{_literal(finding.evidence)}</code>"]
        if finding.mistake:
            lines.append(f"  <br>{finding.mistake}")
    return "\n".join(lines)


def _literal(text: str) -> str:
    """As it is: nothing in it is Markdown, HTML or a formula."""
    return "".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in text)
