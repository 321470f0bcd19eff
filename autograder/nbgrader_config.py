"""nbgrader's configuration for a folder of this course; `course release` copies it there."""

c = get_config()  # noqa: F821

c.CourseDirectory.course_id = "mathematics_of_attention"
c.ClearSolutions.code_stub = {"python": "..."}
c.ClearSolutions.text_stub = (
    "*Write your proof here: text, LaTeX, or a photograph dropped into this cell.*"
)

# Both can be turned against the grader: a tag that skips graded cells, and a cell that is missing.
c.Execute.skip_cells_with_tag = "no cell carries this tag"
c.OverwriteCells.add_missing_cells = True
