"""`course why STUDENT EXERCISE`: the mark, and what each test saw, for the instructor."""

from collections.abc import Iterator
from pathlib import Path

import click

from autograder.classroom.class_list import everybody
from autograder.classroom.forget import suggest_students
from autograder.commands.options import course_option
from autograder.errors import CourseError
from autograder.grading.redact import KEPT_BACK
from autograder.grading.sentences import in_full
from autograder.reports.pages import points
from autograder.reports.why import Explanation, explain, find_exercise
from autograder.roster.students import labels
from course_lib.checking.findings import Finding


@click.command()
@click.argument("student")
@click.argument("exercise")
@click.argument("chapter", metavar="[NN_topic]", required=False)
@course_option
def why(student: str, exercise: str, chapter: str | None, course: Path) -> None:
    """Say why a student has a mark: what each test saw.

    Hidden ones, too. STUDENT is the id, EXERCISE the name or the number. It is for you: a student
    may see the numbers of hidden tests nowhere, or they could not be used again.
    Exit code 0: told; 2: no such student or exercise, or not graded.

    Example: course why ada softmax
    """
    course = course.resolve()
    class_list = everybody(course)
    if student not in {each.id for each in class_list}:
        alike = suggest_students(course, student)
        raise CourseError(f"{course} knows no student whose id is {student!r}.{alike}")
    outline, chosen = find_exercise(course, exercise, chapter or "")
    explanation = explain(course, student, outline, chosen)
    click.echo(f"{labels(class_list)(student)}, {outline.stem}")
    for line in _lines(explanation):
        click.echo(line)
    notebook = course / "autograded" / student / outline.stem / f"{outline.stem}.ipynb"
    click.echo(f"notebook  {notebook}")


def _lines(explanation: Explanation) -> Iterator[str]:
    result, outline = explanation.result, explanation.outline
    exercise, mark = result.exercise, result.mark
    yield f"{exercise.number} {exercise.name}: {exercise.title}"
    if mark is None:
        yield "not marked: students mark it themselves"
        return
    earned = "no points yet" if result.points is None else f"{points(result.points)} points"
    yield f"{earned} of {points(mark.most)}; {mark.state}"
    if result.row.by_hand is not None:
        machine = "nothing" if mark.points is None else points(mark.points)
        yield f"marked by a person; the grader gave {machine}"
    if mark.reason:
        yield mark.reason
    for finding in [*result.failed, *result.held]:
        yield from _of_finding(finding)
    if result.core_missing and result.held:
        yield "as long as the core property does not hold, the others earn nothing"
    for note in explanation.notes:
        yield f"note: {in_full(note, outline.labels)}"
    if result.comment:
        yield f"comment: {result.comment}"


def _of_finding(finding: Finding) -> Iterator[str]:
    marks = ["core"] * finding.core + ["hidden"] * finding.hidden
    marked = f" ({', '.join(marks)})" if marks else ""
    yield f"{'holds' if finding.passed else 'FAILS'}  {finding.property}{marked}"
    if finding.passed:
        return
    if finding.hidden and finding.evidence == KEPT_BACK:
        yield "       graded by an earlier version, which kept no evidence: grade it with --again"
    else:
        yield f"       {finding.evidence}"
    if finding.mistake:
        yield f"       one slip gives these very numbers: {finding.mistake}"
    if finding.hint:
        yield f"       hint: {finding.hint}"
