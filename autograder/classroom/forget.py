"""`course forget STUDENT`: everything that the course folder keeps of one person, gone for good."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa
from nbgrader.api import Gradebook, MissingEntry

from autograder.classroom.class_list import everybody
from autograder.classroom.feedback_zip import feedback_zip, known_folders, remember_folders
from autograder.files import UNFINISHED
from autograder.grading.journal import Journal
from autograder.release.course_folder import gradebook_address
from autograder.roster.csv_tables import plain
from autograder.roster.extensions import FILE, Extensions, read_extensions, write_extensions
from autograder.roster.students import LIST, Student, known_students, write_students

FOLDERS = ("submitted", "autograded", "feedback")
TABLES = (
    "exports/*.csv",
    "collected/*/report.txt",
    "grading/*/changes.csv",
    "reports/*-with-names.html",
)
"""What is written anew by the next command; removed whole where it names the student."""


def count_submissions(course: Path, student: str) -> int | None:
    with Gradebook(gradebook_address(course)) as gradebook:
        try:
            return len(gradebook.find_student(student).submissions)
        except MissingEntry:
            return None


def files_of(course: Path, student: str) -> Iterator[Path]:
    """What is kept under this very name; a name with a slash or a dot leads nowhere else."""
    if student != Path(student).name or student in ("", ".", ".."):
        return
    for folder in FOLDERS:
        if (course / folder / student).is_symlink() or (course / folder / student).exists():
            yield course / folder / student
    for collected in sorted((course / "collected").glob("*/")):
        kept = (collected / name / student for name in ("earlier", "set_aside"))
        yield from filter(Path.exists, [*kept, collected / "taken" / f"{student}.json"])
    for logs in sorted((course / "grading").glob("*/")):
        if (logs / f"{student}.json").is_file():
            yield logs / f"{student}.json"
    sheets = (course / "quizzes" / f"island-{student}{of}.html" for of in ("", "-key"))
    yield from filter(Path.is_file, sheets)
    yield from tables_with(course, student)


def tables_with(course: Path, student: str) -> Iterator[Path]:
    """What names others, too, and is written anew by the next command."""
    for assignment in sorted((course / "collected").glob("*/")):
        feedback = feedback_zip(course, assignment.name)
        if student in known_folders(course, assignment.name) and feedback.is_file():
            yield feedback
    names = "|".join(map(re.escape, _called(course, student)))
    named = re.compile(rf"(?<!\w)({names})(?!\w)")
    for pattern in TABLES:
        for path in sorted(course.glob(pattern)):
            if named.search(path.read_bytes().decode("utf-8", errors="replace")):
                yield path


def lists_with(course: Path, student: str) -> Iterator[Path]:
    """What stays, without the lines of this student."""
    if any(listed.id == student for listed in known_students(course)):
        yield course / LIST
    if any(extension.student == student for extension in read_extensions(course).entries()):
        yield course / FILE
    for assignment in sorted((course / "collected").glob("*/")):
        if student in known_folders(course, assignment.name):
            yield assignment / "moodle.json"


def suggest_students(course: Path, name: str) -> str:
    """Who is called so; several may be."""
    wanted = plain(name)
    class_list = everybody(course) if wanted else []
    alike = [
        s.label
        for s in class_list
        if wanted in map(plain, (s.id, s.first_name, s.last_name, s.name, s.email))
    ]
    return f" Did you mean {' or '.join(alike[:5])}? Type the id." if alike else ""


def _called(course: Path, student: str) -> list[str]:
    """All by which a table of a platform's may name them."""
    who = next((each for each in everybody(course) if each.id == student), Student(student))
    name = [who.first_name, who.last_name]
    in_full = [mark.join(order) for mark in (" ", ",", ", ") for order in (name, name[::-1])]
    ids = [who.email, who.sis_user_id, who.sis_login_id]
    return [student, *filter(None, ids), *(in_full if all(name) else ())]


def remove_all(course: Path, student: str, paths: list[Path], in_gradebook: bool) -> None:
    with Journal(course / "grading" / "journal.db") as journal:
        journal.forget(student)
    if in_gradebook:
        with Gradebook(gradebook_address(course)) as gradebook:
            gradebook.remove_student(student)
        _wipe(sa.make_url(gradebook_address(course)))
    _off_the_lists(course, student)
    unfinished = course.rglob(UNFINISHED)  # of a killed command; it may hold what a table held
    for path in [*paths, *unfinished]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _off_the_lists(course: Path, student: str) -> None:
    for assignment in (course / "collected").glob("*/"):
        remember_folders(course, assignment.name, {student: ""})
    if any(listed.id == student for listed in known_students(course)):
        write_students(course, [s for s in known_students(course) if s.id != student])
    granted = read_extensions(course).entries()
    if any(extension.student == student for extension in granted):
        others = [extension for extension in granted if extension.student != student]
        write_extensions(course, Extensions(others))


def _wipe(url: sa.URL) -> None:
    """A database in a file keeps what was deleted until the file is written anew."""
    if url.get_backend_name() == "sqlite" and url.database:
        with closing(sqlite3.connect(url.database)) as db:
            db.execute("VACUUM")


def paths_named_after(course: Path, student: str) -> list[Path]:
    named = (path.relative_to(course) for path in course.rglob(f"*{_escape(student)}*"))
    return sorted(path for path in named if path.parts[0] not in ("release", "source"))[:20]


def _escape(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name).replace("/", "")
