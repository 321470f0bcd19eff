"""What a second `course grade` judges again, and what it only records: from data, without workers.

The workers' part is left out: each job comes back with all marks.
"""

import json
import shutil
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from sqlite3 import connect

import pytest

from autograder.grading import fingerprint
from autograder.grading.fingerprint import environment_fingerprint
from autograder.grading.grade_class import grade_class
from autograder.grading.journal import Journal
from autograder.paths import ROOT
from tests.grading.gradebook_fixtures import CODE, STEM, grade, outcome, submission

DUE = datetime(2027, 3, 1, 12)


class Pool:
    """Every job comes back with all marks; says for whom it was asked."""

    def __init__(self):
        self.students: list[str] = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def grade(self, jobs):
        for job in jobs:
            self.students.append(job.student)
            yield replace(outcome(job.student), key=job.key, notebook="{}")


@pytest.fixture
def course(released, tmp_path):
    """Two students have handed in, a day before it was due, and were graded."""
    course = shutil.copytree(released, tmp_path / "course")
    (course / "local_config.py").write_text(
        "c = get_config()\n"
        'c.AssignLatePenalties.plugin_class = "autograder.classroom.late.PercentADay"\n'
    )
    with closing(connect(course / "gradebook.db")) as gradebook, gradebook:
        gradebook.execute("UPDATE assignment SET duedate = ?", [f"{DUE:%Y-%m-%d %H:%M:%S.%f}"])
    for student in ("ada", "bo"):
        folder = course / "submitted" / student / STEM
        folder.mkdir(parents=True)
        shutil.copy(course / "release" / STEM / f"{STEM}.ipynb", folder)
        hand_in_at(course, "2027-02-28 12:00:00 UTC", student)
    assert judged_again(course) == ["ada", "bo"]
    return course


def hand_in_at(course, time: str, student: str = "ada") -> None:
    (course / "submitted" / student / STEM / "timestamp.txt").write_text(time)


def judged_again(course) -> list[str]:
    environment_fingerprint.cache_clear()
    with Pool() as pool:
        report = grade_class(course, STEM, lambda folder, data: pool)
    assert not report.problems and report.graded == len(pool.students)
    return pool.students


def url(course) -> str:
    return f"sqlite:///{course / 'gradebook.db'}"


def marks(course) -> dict[str, float]:
    return {student: grade(url(course), CODE, student)["auto_score"] for student in ("ada", "bo")}


def test_what_has_not_changed_is_not_judged_again(course):
    assert judged_again(course) == []


@pytest.mark.parametrize(
    ("source", "more", "students"),
    [
        ("course_lib/plots/_style.py", "\nA_NEW_NAME = 1\n", []),
        ("autograder/demo/attacks/answers.py", "\nA_NEW_NAME = 1\n", []),
        ("course_lib/checking/expect.py", "\n# a comment\n", []),
        ("course_lib/checking/expect.py", "\nA_NEW_NAME = 1\n", ["ada", "bo"]),
        ("course_lib/checking/marks.py", "\nA_NEW_NAME = 1\n", ["ada", "bo"]),  # by its tests
        ("autograder/grading/referee.py", "\nA_NEW_NAME = 1\n", ["ada", "bo"]),
    ],
)
def test_a_class_is_judged_again_where_the_code_that_judges_has_changed(
    course, tmp_path, monkeypatch, source, more, students
):
    for name in ("autograder", "course_lib"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / source).write_text((tmp_path / source).read_text() + more)
    monkeypatch.setattr(fingerprint, "ROOT", tmp_path)
    before = marks(course)
    assert judged_again(course) == students
    assert marks(course) == before


def test_a_changed_time_of_handing_in_reaches_the_mark_and_nobody_is_judged_again(course):
    assert not submission(url(course))["late_submission_penalty"]
    hand_in_at(course, "2027-03-02 18:00:00 UTC")
    assert judged_again(course) == []
    late = submission(url(course))
    assert late["late_submission_penalty"] == pytest.approx(0.2 * 7)
    assert datetime.fromisoformat(late["timestamp"]) == datetime(2027, 3, 2, 18)
    assert not submission(url(course), "bo")["late_submission_penalty"]
    copy = course / "autograded" / "ada" / STEM / "timestamp.txt"
    assert copy.read_text() == "2027-03-02 18:00:00 UTC"
    hand_in_at(course, "2027-03-01 13:00:00+01:00")
    assert judged_again(course) == []
    assert not submission(url(course))["late_submission_penalty"]


def test_a_time_that_has_gone_leaves_the_one_that_is_recorded(course):
    hand_in_at(course, "2027-03-02 18:00:00 UTC")
    judged_again(course)
    before = submission(url(course))
    (course / "submitted" / "ada" / STEM / "timestamp.txt").unlink()
    assert judged_again(course) == []
    assert submission(url(course)) == before


OLD_ROW = {
    "student": "ada",
    "assignment": STEM,
    "key": "as it was made then",
    "marks": [
        {
            "cell": CODE,
            "points": 3.0,
            "most": 3.0,
            "state": "graded",
            "answer": outcome().marks[0].answer,
            "findings": [
                {
                    "test": "test_rows",
                    "property": "Each row has its mean",
                    "passed": True,
                    "core": True,
                    "hidden": False,
                    "evidence": "",
                    "hint": "",
                    "mistake": "",
                }
            ],
            "comment": "",
        },
        {
            "cell": "what-a-mean-forgets-check",
            "points": 4.0,
            "most": 4.0,
            "state": "graded",
            "answer": outcome().marks[1].answer,
            "findings": [],
            "comment": "",
        },
        {
            "cell": "mean-of-a-shift",
            "points": None,
            "most": 2.0,
            "state": "by hand",
            "answer": outcome().marks[2].answer,
            "findings": [],
            "comment": "",
        },
    ],
    "repairs": ["answers are in 2 notebooks; 01_rows.ipynb was graded"],
    "incidents": ["row_means: it took more than 2 seconds"],
    "seconds": {"rebuild": 0.01, "run": 0.1, "referee": 0.2, "record": 0.01},
    "notebook": "{}",
    "too_slow": False,
}
"""Of the first layout: as every course that was graded before it has it in its journal."""


def test_a_journal_of_the_first_version_is_read_and_gives_the_same_marks(course):
    path = course / "grading" / "journal.db"
    with closing(connect(path)) as journal, journal:
        journal.execute(
            "UPDATE outcome SET key = ?, outcome = ? WHERE student = 'ada'",
            [OLD_ROW["key"], json.dumps(OLD_ROW)],
        )
        assert journal.execute("PRAGMA user_version").fetchone() == (1,)
    with Journal(path) as journal:
        old = {one.student: one for one in journal.recorded(STEM)}["ada"]
    assert [(mark.cell, mark.points) for mark in old.marks] == [
        (mark["cell"], mark["points"]) for mark in OLD_ROW["marks"]
    ]
    assert old.marks[0].findings[0].property == "Each row has its mean"
    assert (len(old.repairs), len(old.incidents)) == (1, 1)
    before = marks(course)
    assert judged_again(course) == ["ada"]
    assert marks(course) == before
