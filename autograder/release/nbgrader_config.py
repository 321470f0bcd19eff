"""nbgrader's configuration for a folder of this course; `course release` copies it there."""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "mathematics_of_attention"
c.ClearSolutions.code_stub = {"python": "..."}
c.ClearSolutions.text_stub = (
    "*Write your proof here: text, LaTeX, or a photograph dropped into this cell.*"
)

# `nbgrader autograde` and the formgrader's button grade as `course grade` does.
c.Autograde.sanitize_preprocessors = [
    "autograder.grading.nbgrader_steps.Rebuild",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.Autograde.autograde_preprocessors = ["autograder.grading.nbgrader_steps.Referee"]
c.OverwriteCells.add_missing_cells = True

# `nbgrader generate_feedback` and the formgrader's button write the pages of `course feedback`.
c.GenerateFeedback.exporter_class = "autograder.reports.exporter.FeedbackExporter"

# nbgrader's own copying follows links that students make; ours follows none, and refuses an
# exchange that a student could change. What lies under submitted/ is looked through, too.
c.ExchangeFactory.collect = "autograder.classroom.nbgrader_exchange.Collect"
c.ExchangeFactory.release_assignment = "autograder.classroom.nbgrader_exchange.ReleaseAssignment"
c.ExchangeFactory.release_feedback = "autograder.classroom.nbgrader_exchange.ReleaseFeedback"
c.Autograde.pre_convert_hook = "autograder.grading.nbgrader_steps.set_links_aside"

# For whoever goes back to stock execution: a tag that skips graded cells.
c.Execute.skip_cells_with_tag = "no cell carries this tag"

# Feedback and formgrader show what a student wrote; nothing in it may act.
c.HTMLExporter.filters = {
    "markdown2html": "autograder.typeset.sanitise.markdown_to_html",
    "clean_html": "autograder.typeset.sanitise.clean_html",
}
c.HTMLExporter.sanitize_html = True

# The formgrader shows the rubric beside each proof, and what the tests saw; no file holds either.
c.HTMLExporter.preprocessors = [
    "autograder.release.rubric.ShowRubric",
    "autograder.reports.formgrader.ShowEvidence",
]

# What is yours, such as c.CourseDirectory.db_url, stands in a file that no release writes over.
load_subconfig("local_config.py")  # noqa: F821
