"""A class is graded: everybody gets what is due, nobody stops anybody, and nothing is lost."""

import json
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path

import pytest

from autograder.demo.made_up_class import Class, hand_in
from autograder.exercises.assignment import load_assignment
from autograder.grading.grade_class import grade_class
from autograder.grading.journal import course_lock
from autograder.paths import ROOT
from autograder.sandbox.host import NoSandbox
from tests.lab import TOKEN, jupyterlab, tools
from tests.waiting import wait_until

STEM = "03_softmax"
ASSIGNMENT = load_assignment(ROOT / "solutions" / STEM)
COURSE = [str(Path(sys.executable).with_name("course"))]

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def released(released_softmax, tmp_path_factory):
    return shutil.copytree(released_softmax, tmp_path_factory.mktemp("class") / "course")


@pytest.fixture(scope="module")
def members(released):
    return list(Class(ASSIGNMENT, released).members(60))


@pytest.fixture(scope="module")
def graded(released, members):
    """The same class, graded once by the command."""
    hand_in(released, STEM, members)
    done = grade(released, "--json")
    return json.loads(done.stdout)


def grade(course: Path, *words: str) -> subprocess.CompletedProcess:
    done = subprocess.run(
        [*COURSE, "grade", STEM, "--course", str(course), *words],
        capture_output=True,
        text=True,
        cwd=course,
    )
    assert done.returncode in (0, 1) and "Traceback" not in done.stderr, done.stderr
    return done


def marks(course: Path) -> dict[str, dict[str, float | None]]:
    """What nbgrader's gradebook says."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            submission.student.id: {
                grade.name: grade.auto_score for grade in submission.notebooks[0].grades
            }
            for submission in gradebook.assignment_submissions(STEM)
        }


def test_everybody_gets_what_is_due(released, graded, members):
    found = marks(released)
    for member in members:
        got = {cell: found[member.name][cell] for cell in member.points}
        assert got == pytest.approx(member.points), member.kind


def test_each_student_has_a_log_and_a_graded_notebook(released, graded, members):
    for member in members:
        log = json.loads((released / "grading" / STEM / f"{member.name}.json").read_text())
        assert log["student"] == member.name
        assert (released / "autograded" / member.name / STEM / f"{STEM}.ipynb").is_file()


def test_what_has_not_changed_is_not_graded_again(released, graded, members):
    again = json.loads(grade(released, "--json").stdout)
    assert (again["graded"], again["unchanged"]) == (0, len(members))


def test_a_changed_submission_alone_is_graded_again_and_of_two_it_is_said_which(
    released, graded, members
):
    before = marks(released)
    name = members[0].name
    notebook = released / "submitted" / name / STEM / f"{STEM}.ipynb"
    kept = notebook.read_text()
    try:
        notebook.write_text(kept.replace("return", "return 0 *"))
        notebook.with_name("older.ipynb").write_text(kept)
        done = grade(released, "--json")
        again = json.loads(done.stdout)
        assert (again["graded"], done.returncode) == (1, 1)
        ((who, problem),) = again["problems"]
        assert who == name and f"{STEM}.ipynb" in problem
        assert sum(v or 0 for v in marks(released)[name].values()) < sum(
            v or 0 for v in before[name].values()
        )
    finally:
        notebook.write_text(kept)
        notebook.with_name("older.ipynb").unlink()
        grade(released)
    assert marks(released) == before


def test_grading_again_gives_the_same_marks(released, graded):
    before = marks(released)
    grade(released, "--again")
    assert marks(released) == before


def test_nbgraders_own_command_gives_the_same_marks(released, graded, members):
    before = marks(released)
    chosen = [members[0].name, members[2].name, members[3].name, members[6].name]
    _take_marks_away(released, chosen)
    for name in chosen:
        done = subprocess.run(
            ["nbgrader", "autograde", STEM, "--student", name, "--force"],
            cwd=released,
            env=os.environ | {"PATH": tools()},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert marks(released) == before


@pytest.mark.slow
def test_the_formgraders_button_gives_the_same_marks_and_keeps_to_the_lock(
    released, graded, members, tmp_path
):
    before, student = marks(released), members[0].name
    button = f"formgrader/api/submission/{STEM}/{student}/autograde"
    _take_marks_away(released, [student])
    with jupyterlab(released, tmp_path / "home", "-m", "jupyter_server") as address:
        with course_lock(released):
            refused = _press(f"{address}/{button}")
        graded_again = _press(f"{address}/{button}")
    assert not refused["success"] and str(os.getpid()) in refused["log"]
    assert graded_again["success"], graded_again["log"]
    assert marks(released) == before


def _press(button: str) -> dict:
    who = {"Authorization": f"token {TOKEN}"}
    with urllib.request.urlopen(urllib.request.Request(button, headers=who, data=b"")) as answer:
        return json.load(answer)


def _take_marks_away(course: Path, students: list[str]) -> None:
    """From the gradebook alone, so that it shows who puts them there again."""
    whose = """SELECT submitted_notebook.id FROM submitted_notebook JOIN submitted_assignment
        ON submitted_notebook.assignment_id = submitted_assignment.id WHERE student_id = ?"""
    with closing(sqlite3.connect(course / "gradebook.db")) as db, db:
        for student in students:
            db.execute(f"UPDATE grade SET auto_score = 0 WHERE notebook_id IN ({whose})", [student])


def test_nobody_else_can_read_the_hidden_tests_while_a_class_is_graded(released, graded):
    def look(folder, data):
        modes.append(stat.S_IMODE(folder.stat().st_mode))
        raise NoSandbox("seen enough")

    modes = []
    with pytest.raises(NoSandbox, match="seen enough"):
        grade_class(released, STEM, look, again=True)
    assert modes == [0o700]


@pytest.mark.parametrize(
    "kills",
    [pytest.param(3, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.nightly)],
)
def test_a_run_that_is_stopped_or_killed_is_taken_up_again(
    tmp_path, released, graded, members, kills
):
    """By Ctrl-C, then so often by kill -9, each time at work; the marks are as if nothing was."""
    course, draw = tmp_path / "course", random.Random(20261119)
    ignored = shutil.ignore_patterns("autograded", "grading")
    shutil.copytree(released, course, ignore=ignored)
    _forget_marks(course)
    for number in (signal.SIGINT, *[signal.SIGKILL] * kills):
        begun = subprocess.Popen(
            [*COURSE, "grade", STEM, "--course", str(course)],
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        enough = _settled(course) + draw.randint(1, 4)

        def it_is_time(begun=begun, enough=enough):
            return _settled(course) >= enough or begun.poll() is not None

        wait_until(it_is_time, 600)
        assert begun.poll() is None, "it was done before it was killed"
        whole = number == signal.SIGINT or draw.random() < 0.5
        (os.killpg if whole else os.kill)(begun.pid, number)
        said, _ = begun.communicate()
        if number == signal.SIGINT:
            assert begun.returncode == 130, said
        assert "Traceback" not in said, said
    kept = _rows(course / "grading" / "journal.db", "SELECT count(DISTINCT student) FROM outcome")
    again = json.loads(grade(course, "--json").stdout)
    assert 1 + kills <= kept[0][0] == again["unchanged"] == len(members) - again["graded"]
    assert marks(course) == marks(released)
    for table in TABLES:
        count = f"SELECT count(*) FROM {table}"
        assert _rows(course / "gradebook.db", count) == _rows(released / "gradebook.db", count)


TABLES = "grade", "comment", "submitted_notebook", "submitted_assignment"


def _settled(course: Path) -> int:
    return len(list((course / "grading" / STEM).glob("[!.]*.json")))


def _rows(path: Path, query: str) -> list[tuple]:
    with closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def _forget_marks(course: Path) -> None:
    with sqlite3.connect(course / "gradebook.db") as db:
        for table in TABLES:
            db.execute(f"DELETE FROM {table}")
