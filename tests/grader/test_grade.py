"""A class is graded: everybody gets what is due, nobody stops anybody, and nothing is lost."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.exercises import ROOT, load_assignment
from autograder.grading.demo import Class, hand_in
from autograder.release import make_release

STEM = "03_softmax"
ASSIGNMENT = load_assignment(ROOT / "solutions" / STEM)
COURSE = [str(Path(sys.executable).with_name("course"))]

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    course = tmp_path_factory.mktemp("course")
    make_release(ASSIGNMENT, course)
    return course


@pytest.fixture(scope="module")
def members(released):
    return list(Class(ASSIGNMENT, released).members(40))


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


def test_a_changed_submission_alone_is_graded_again(released, graded, members):
    before = marks(released)
    name = members[0].name
    notebook = released / "submitted" / name / STEM / f"{STEM}.ipynb"
    kept = notebook.read_text()
    try:
        notebook.write_text(kept.replace("return", "return 0 *"))
        again = json.loads(grade(released, "--json").stdout)
        assert again["graded"] == 1
        assert sum(v or 0 for v in marks(released)[name].values()) < sum(
            v or 0 for v in before[name].values()
        )
    finally:
        notebook.write_text(kept)
        grade(released)
    assert marks(released) == before


def test_grading_again_gives_the_same_marks(released, graded):
    before = marks(released)
    grade(released, "--again")
    assert marks(released) == before


def test_nbgraders_own_command_gives_the_same_marks(released, graded, members):
    before = marks(released)
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    chosen = [members[0].name, members[2].name, members[3].name, members[6].name]
    for name in chosen:
        done = subprocess.run(
            ["nbgrader", "autograde", STEM, "--student", name, "--force"],
            cwd=released,
            env=os.environ | {"PATH": tools},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert marks(released) == before


@pytest.mark.slow
def test_a_run_that_is_killed_is_taken_up_again(tmp_path, released, graded, members):
    """Ten times at another moment; the marks are those of an undisturbed run."""
    import shutil

    undisturbed = marks(released)
    for moment in range(10):
        course = tmp_path / f"course{moment}"
        shutil.copytree(
            released, course, ignore=shutil.ignore_patterns("autograded", "grading", "gradebook.db")
        )
        shutil.copy(released / "gradebook.db", course)
        _forget_marks(course)
        run = subprocess.Popen(
            [*COURSE, "grade", STEM, "--course", str(course)],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(2.5 + 0.6 * moment)
        run.send_signal(signal.SIGKILL)
        run.wait()
        grade(course)
        assert marks(course) == undisturbed


def _forget_marks(course: Path) -> None:
    import sqlite3

    with sqlite3.connect(course / "gradebook.db") as db:
        for table in ("grade", "comment", "submitted_notebook", "submitted_assignment"):
            db.execute(f"DELETE FROM {table}")
