"""What grading again has changed: a table of marks before and after; and what it would."""

from collections.abc import Callable
from pathlib import Path

from autograder.exercises.assignment import CodeExercise, load_assignment
from autograder.exercises.toml_tables import BadExercise
from autograder.grading.grade_class import Change, Report
from autograder.release.bundle import shown_tests
from autograder.release.course_folder import chapter_folders
from autograder.roster.csv_tables import write_sheet
from course_lib.checking import recordings
from course_lib.checking.terms import Terms

SHOWN = 20


def before_and_after(changes: list[Change], label: Callable[[str], str] = str) -> list[str]:
    """First each exercise with all of its students, then single marks, as many as are read."""
    lines = ["", "the answer is the same, and the mark is another:", ""]
    of_cell: dict[str, list[Change]] = {}
    for change in changes:
        of_cell.setdefault(change.cell, []).append(change)
    wide = max(map(len, of_cell))
    lines.append(f"  {'exercise':<{wide}}  students  up  down  points in all")
    for cell, some in of_cell.items():
        up = sum(change.after > change.before for change in some)
        total = sum(change.after - change.before for change in some)
        lines.append(
            f"  {cell:<{wide}}  {len(some):>8}  {up:>2}  {len(some) - up:>4}  {total:>+13.5g}"
        )
    names = max(len(label(change.student)) for change in changes[:SHOWN])
    lines += ["", f"  {'student':<{max(names, 7)}}  {'exercise':<{wide}}  before  after"]
    for change in changes[:SHOWN]:
        lines.append(
            f"  {label(change.student):<{max(names, 7)}}  {change.cell:<{wide}}  "
            f"{change.before:>6.4g}  {change.after:>5.4g}"
        )
    if len(changes) > SHOWN:
        lines.append(f"  and {len(changes) - SHOWN} more")
    return [*lines, ""]


def write_changes(course: Path, report: Report) -> Path:
    path = course / "grading" / report.assignment / "changes.csv"
    lines = [[c.student, c.cell, str(c.before), str(c.after)] for c in report.changes]
    write_sheet(path, [["student", "exercise", "before", "after"], *lines])
    return path


def tests_changed(course: Path, stem: str) -> bool:
    """Or their terms, since the release; not where the chapter is gone or cannot be read."""
    checks = course / "grader" / stem / "checks"
    try:
        exercises = load_assignment(chapter_folders(course)[stem]).exercises
        return any(
            (released := checks / exercise.name / "tests.py").is_file()
            and (
                released.read_text() != shown_tests(exercise, hidden=True)
                or Terms.from_dict(recordings.read(released.parent)) != exercise.terms
            )
            for exercise in exercises
            if isinstance(exercise, CodeExercise)
        )
    except (BadExercise, KeyError):
        return False
