"""Who is in the class: the list of students, and whom the gradebook knows besides."""

from pathlib import Path

from autograder.roster.students import Student, known_students


def everybody(course: Path) -> list[Student]:
    """Of the class list, and whom the gradebook knows besides."""
    from autograder.release.course_folder import open_gradebook

    listed = {student.id: student for student in known_students(course)}
    with open_gradebook(course) as gradebook:
        for row in gradebook.students:
            student = Student(row.id, row.last_name or "", row.first_name or "", row.email or "")
            listed.setdefault(row.id, student)
    return list(listed.values())
