"""Why a mark is what it is: one exercise of one student, with all that the journal keeps of it.

For the instructor alone: here are the numbers of hidden tests.
"""

from contextlib import ExitStack
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from autograder.errors import CourseError
from autograder.grading.journal import Journal, course_lock
from autograder.grading.notes import Note
from autograder.release.outline import Outline, OutlinedExercise, read_outline
from autograder.reports.results import Result, Sheet, Submission, read_sheets


class NoSuchExercise(CourseError):
    """No released chapter has it, or several have."""


class NotGraded(CourseError):
    """The journal has no outcome of this student for this chapter."""


@dataclass(frozen=True)
class Explanation:
    """All that there is to say about one mark."""

    result: Result
    outline: Outline
    notes: tuple[Note, ...]
    """Of this exercise, and of the submission as a whole."""


def find_exercise(course: Path, name: str, stem: str = "") -> tuple[Outline, OutlinedExercise]:
    """By its name, number or cell, in this chapter or in all that are released.

    Raises NoSuchExercise.
    """
    stems = [stem] if stem else sorted(path.name for path in (course / "release").glob("*/"))
    outlines = [read_outline(course, each) for each in stems]
    fitting = [
        (outline, exercise)
        for outline in outlines
        for exercise in outline.exercises
        if name in (exercise.name, exercise.number, *exercise.cells)
    ]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        chapters = " and ".join(outline.stem for outline, _ in fitting)
        raise NoSuchExercise(f"{name} is an exercise of {chapters}: name the chapter, too.")
    names = [exercise.name for outline in outlines for exercise in outline.exercises]
    alike = get_close_matches(name.replace("-", "_"), names) or names
    where = stem or "the released chapters"
    raise NoSuchExercise(
        f"{where}: no exercise is called {name!r}. "
        + (f"There are: {', '.join(alike[:8])}." if names else "Nothing is released there.")
    )


def explain(
    course: Path, student: str, outline: Outline, exercise: OutlinedExercise
) -> Explanation:
    """Raises NotGraded, CourseIsBusy, CannotRecord."""
    with ExitStack() as stack:
        stack.enter_context(course_lock(course))
        journal = stack.enter_context(Journal(course / "grading" / "journal.db"))
        outcome = journal.last_recorded(student, outline.stem)
        sheets = read_sheets(course, outline.stem)
    if outcome is None:
        raise NotGraded(
            f"Nothing of {student} is graded for {outline.stem}. If work was handed in, type  "
            f"course grade {outline.stem} --student {student}"
        )
    submission = Submission(outcome, sheets.get(student, Sheet(student)), outline)
    result = next(each for each in submission.results if each.exercise == exercise)
    own = {"", exercise.name, *exercise.cells}
    notes = [*outcome.repairs, *outcome.incidents]
    concerning = tuple(note for note in notes if {note.fact.exercise, note.fact.cell} <= own)
    return Explanation(result, outline, concerning)
