"""course forget: nothing of the one stays, everything of the others."""

import shutil
import zipfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from autograder.classroom.feedback_zip import known_folders, remember_folders
from autograder.commands.cli import main
from autograder.grading.gradebook import Recorder
from autograder.grading.journal import Journal
from autograder.roster.extensions import (
    Extension,
    Extensions,
    read_extensions,
    write_extensions,
)
from autograder.roster.students import Student, add_students, known_students
from tests.grading.gradebook_fixtures import STEM, contents, opened, outcome

SECRET = "a sentence of hers alone"


@pytest.fixture
def course(released, tmp_path, url) -> Path:
    """Ada and Bo are graded; the gradebook lies where `url` says."""
    course = shutil.copytree(released, tmp_path / "course")
    (course / "gradebook.db").unlink()
    (course / "local_config.py").write_text(f'c.CourseDirectory.db_url = "{url}"\n')
    with Journal(course / "grading" / "journal.db") as journal, Recorder(url) as recorder:
        for student in ("ada", "bo"):
            found = replace(outcome(student), notebook=f"{SECRET if student == 'ada' else 'his'}")
            journal.store(found)
            recorder.record(found)
            journal.mark_recorded(found)
            for folder in ("submitted", "autograded", "feedback"):
                (course / folder / student / STEM).mkdir(parents=True)
                (course / folder / student / STEM / "page.html").write_text(found.notebook)
            (course / "grading" / STEM).mkdir(exist_ok=True)
            (course / "grading" / STEM / f"{student}.json").write_text(found.notebook)
    (course / "collected" / STEM / "earlier" / "ada").mkdir(parents=True)
    (course / "collected" / STEM / "earlier" / "ada" / "first.ipynb").write_text(SECRET)
    (course / "exports").mkdir()
    (course / "quizzes").mkdir()
    for sheet in ("island-ada.html", "island-ada-key.html", "island-bo.html"):
        (course / "quizzes" / sheet).write_text("his")
    tables = {
        "one.csv": f"ada,{SECRET}",
        "moodle.csv": f"Ada,Lovelace,4711,{SECRET}",
        "other.csv": "adam,his",
    }
    for name, text in tables.items():
        (course / "exports" / name).write_text(text)
    (course / ".students.csv.a1b2.unfinished").write_text(SECRET)  # course init was killed
    (course / "reports").mkdir()
    (course / "reports" / f"{STEM}-with-names.html").write_text(f"<td>ada</td>{SECRET}")
    with zipfile.ZipFile(course / "exports" / f"{STEM}_moodle_feedback.zip", "w") as archive:
        archive.writestr("x.html", SECRET)
    (course / "collected" / STEM / "report.txt").write_text(f"ada: {SECRET}")
    remember_folders(course, STEM, {"ada": SECRET, "bo": "Bo Ebo_2_assignsubmission_file"})
    add_students(course, [Student("ada", "Lovelace", "Ada"), Student("bo", "Ebo", "Bo")])
    hours = timedelta(hours=3)
    write_extensions(course, Extensions([Extension(s, STEM, hours) for s in ("ada", "bo")]))
    with opened(url) as gradebook:
        cell = gradebook.find_submission_notebook(STEM, STEM, "ada").comments[0]
        cell.manual_comment = SECRET
        gradebook.db.commit()
    return course


def forget(course: Path, *words: str, answer: str = ""):
    words = ["forget", *words, "--course", str(course)]
    return CliRunner().invoke(main, words, input=answer, catch_exceptions=False)


def holding(course: Path, text: str) -> list[str]:
    files = (path for path in course.rglob("*") if path.is_file())
    return [path.name for path in files if text.encode() in path.read_bytes()]


def test_not_a_byte_of_her_stays_and_nobody_else_loses_one(course, url):
    assert len(holding(course, SECRET)) >= 5
    done = forget(course, "ada", "--yes")
    assert done.exit_code == 0, done.output
    assert holding(course, SECRET) == []
    assert not list(course.rglob("*ada*"))
    rows = contents(url)
    tables = ("student", "submitted_assignment")
    assert "'ada'" not in str([rows[table] for table in tables])  # a bare ada may be in a number
    assert len(rows["submitted_notebook"]) == 1
    assert len(rows["grade"]) == 3
    with opened(url) as gradebook:
        assert gradebook.find_submission(STEM, "bo").score == 7
    with Journal(course / "grading" / "journal.db") as journal:
        assert [o.student for o in journal.recorded(STEM)] == ["bo"]
    assert [student.id for student in known_students(course)] == ["bo"]
    assert [granted.student for granted in read_extensions(course).entries()] == ["bo"]
    assert len(holding(course, "his")) >= 4
    assert [path.name for path in (course / "quizzes").iterdir()] == ["island-bo.html"]
    assert (course / "exports" / "other.csv").is_file(), "Adam is somebody else"
    assert list(known_folders(course, STEM)) == ["bo"]
    assert "your backups" in done.output
    if url.startswith("sqlite"):
        assert SECRET.encode() not in Path(url.removeprefix("sqlite:///")).read_bytes()


def test_it_asks_first_and_no_leaves_everything(course, url):
    before = contents(url)
    done = forget(course, "ada", answer="n\n")
    assert done.exit_code == 1
    assert "submitted/ada" in done.output and "1 submissions" in done.output
    for part in ("students.csv, what it has of ada", "extensions.csv, what it has of ada"):
        assert part in done.output
    assert "exports/one.csv, the whole file" in done.output
    assert contents(url) == before and (course / "submitted" / "ada").is_dir()


@pytest.mark.parametrize("name", ["eve", "..", "../bo", "", "*", "a*", "/etc"])
def test_a_name_that_is_nobodys_removes_nothing(course, url, name):
    before, files = contents(url), sorted(course.rglob("*"))
    done = forget(course, name, "--yes")
    assert done.exit_code == 2 and "keeps nothing" in done.output
    assert contents(url) == before
    assert set(files) <= set(course.rglob("*")) | {course / "grading" / "holder.json"}


@pytest.mark.parametrize("name", ["Ada", "lovelace", "Ada Lovelace"])
def test_a_first_name_is_no_id_and_says_whose_it_is(course, url, name):
    """A table that names her is no reason to remove it."""
    before = contents(url)
    done = forget(course, name, "--yes")
    assert done.exit_code == 2 and "Did you mean ada Ada Lovelace?" in done.output
    assert contents(url) == before and (course / "exports" / "moodle.csv").is_file()


def test_a_link_is_removed_and_not_followed(course, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "kept.txt").write_text("kept")
    shutil.rmtree(course / "submitted" / "ada")
    (course / "submitted" / "ada").symlink_to(other)
    assert forget(course, "ada", "--yes").exit_code == 0
    assert (other / "kept.txt").is_file() and not (course / "submitted" / "ada").is_symlink()
