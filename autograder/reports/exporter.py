"""Our feedback page where nbgrader writes its own: on its command, on the formgrader's button."""

from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter

from autograder.grading.journal import Journal
from autograder.reports.feedback import feedback_page, plain_page, submissions_of
from autograder.typeset.typesetter import Typesetter


class FeedbackExporter(HTMLExporter):
    """What `course grade` never saw gets nbgrader's page."""

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        resources = resources or {}
        whose = resources.get("nbgrader", {})
        student, stem = whose.get("student"), whose.get("assignment")
        course = Path(self.parent.coursedir.root).resolve()
        with Journal(course / "grading" / "journal.db") as journal:
            outcome = journal.last_recorded(student, stem)
        if outcome is None:
            page: tuple[str, dict[str, Any]] = super().from_filename(filename, resources, **kw)
            return page
        (submission,) = submissions_of(course, stem, [outcome])
        with Typesetter() as typesetter:
            try:
                html = feedback_page(course, stem, submission, typesetter)
            except Exception as error:  # as `course feedback` does
                self.log.warning("a page could not be set: %s", type(error).__name__)
                html = plain_page(stem, outcome)
        return html, resources | {"output_extension": ".html"}
