"""What everybody has, out of nbgrader's gradebook: the numbers that leave the course."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from autograder.classroom.class_list import everybody
from autograder.grading import submissions
from autograder.grading.gradebook import recorder_of
from autograder.release.course_folder import nbgrader_configuration, open_gradebook, the_assignment
from autograder.roster.students import Student


@dataclass(frozen=True)
class Result:
    """One student's marks for one assignment."""

    student: Student
    assignment: str
    most: float
    earned: float | None = None
    """Before the late penalty; None if nothing was handed in."""
    penalty: float = 0.0
    waits: bool = False
    """Some of it is still to be marked by a person."""
    handed_in: datetime | None = None

    @property
    def score(self) -> float | None:
        return None if self.earned is None else self.earned - self.penalty

    @property
    def state(self) -> str:
        if self.earned is None:
            return "not handed in"
        return "waits for a person" if self.waits else "graded"


def settle_lateness(course: Path, stems: list[str]) -> None:
    """Marks given by hand, extensions granted and times told since the last grading count now."""
    course = course.resolve()
    with recorder_of(course, nbgrader_configuration(course)) as recorder:
        for stem in stems:
            students = submissions.students_with(course, stem)
            times = {student: submissions.handed_in(course, stem, student) for student in students}
            recorder.correct_times(stem, {who: time for who, time in times.items() if time})
            recorder.settle_lateness(stem)


def read_marks(course: Path, stems: list[str]) -> list[Result]:
    """For each assignment in turn, everybody in the order of the class list."""
    class_list, results = everybody(course), []
    with open_gradebook(course) as gradebook:
        names = [the_assignment(gradebook, stem).name for stem in stems]
    settle_lateness(course, names)
    with open_gradebook(course) as gradebook:
        for stem in names:
            most = gradebook.find_assignment(stem).max_score
            of = {s.student_id: s for s in gradebook.assignment_submissions(stem)}
            results += [_result(student, stem, most, of.get(student.id)) for student in class_list]
    return results


def _result(student: Student, stem: str, most: float, submission: Any) -> Result:
    if submission is None:
        return Result(student, stem, most)
    return Result(
        student,
        stem,
        most,
        submission.score,
        submission.late_submission_penalty or 0.0,
        submission.needs_manual_grade,
        submission.timestamp,
    )
