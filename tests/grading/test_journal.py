"""What was judged is found again, whatever happened in between; and one grades at a time."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading import journal as module
from autograder.grading.journal import (
    CannotRecord,
    CourseIsBusy,
    Journal,
    course_lock,
    journal_key,
)
from autograder.grading.notes import Kind, Note
from autograder.grading.outcome import Finding, Mark, Outcome
from course_lib.checking.findings import FailureKind
from tests.grading.class_of_sixty import STUDENTS, outcome_of
from tests.grading.gradebook_fixtures import PROOF, STEM, mark_by_hand, opened, outcome

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "grading" / "journal.db"


@pytest.fixture
def journal(path):
    with Journal(path) as journal:
        yield journal


# what is kept


def test_an_outcome_comes_back_as_it_was(path):
    finding = Finding("rows", "rows sum to one", False, True, False, evidence="row 4: 1.7 \ud800")
    mark = Mark("softmax-check", 1 / 3, 3.0, answer="digest", findings=(finding,), comment="\0")
    repairs = (Note.of(Kind.OTHER_FILE_NAME, "Zoë.ipynb"),)
    incidents = (Note.of(Kind.CELL_TOO_SLOW, cell="one", limit=10, cause=FailureKind.TOO_SLOW),)
    seconds, notebook = {"run": 0.1}, '{"a": 1}'
    whole = Outcome("Zoë", STEM, "key", (mark,), repairs, incidents, seconds, notebook)
    with Journal(path) as journal:
        journal.store(whole)
    with Journal(path) as journal:
        assert journal.find("Zoë", STEM, "key") == whole


def test_only_the_same_key_of_the_same_student_is_found(journal):
    journal.store(outcome("ada", key="one"))
    assert journal.find("ada", STEM, "one") == outcome("ada", key="one")
    assert journal.find("ada", STEM, "two") is None
    assert journal.find("grace", STEM, "one") is None
    assert journal.find("ada", "02_columns", "one") is None


def test_what_is_judged_waits_until_it_is_recorded(journal):
    journal.store(outcome("grace"))
    journal.store(outcome("ada"))
    assert list(journal.unrecorded(STEM)) == [outcome("ada"), outcome("grace")]
    assert list(journal.unrecorded("02_columns")) == []
    journal.mark_recorded(outcome("ada"))
    assert list(journal.unrecorded(STEM)) == [outcome("grace")]


def test_all_that_waits_may_be_recorded_one_by_one(journal):
    for student in STUDENTS:
        journal.store(outcome(student))
    seen = []
    for waiting in journal.unrecorded(STEM):
        journal.mark_recorded(waiting)
        seen.append(waiting.student)
    assert seen == STUDENTS
    assert list(journal.unrecorded(STEM)) == []


def test_the_last_recorded_stays_until_the_next_one_is(journal):
    old, new = outcome(key="old"), outcome(code=1.0, key="new")
    assert journal.last_recorded("ada", STEM) is None
    journal.store(old)
    assert journal.last_recorded("ada", STEM) is None
    journal.mark_recorded(old)
    journal.store(new)
    assert journal.last_recorded("ada", STEM) == old
    journal.mark_recorded(new)
    assert journal.last_recorded("ada", STEM) == new


def test_grading_the_same_again_keeps_what_was_recorded_to_compare_with(journal):
    once, again = outcome(code=1.0), outcome(code=2.0)
    journal.store(once)
    journal.mark_recorded(once)
    journal.store(again)
    assert journal.last_recorded("ada", STEM) == once
    assert journal.find("ada", STEM, "key") == again
    journal.mark_recorded(again)
    assert journal.last_recorded("ada", STEM) == again


def test_a_newer_submission_takes_the_place_of_one_that_was_never_recorded(journal):
    journal.store(outcome(key="old"))
    journal.store(outcome(key="new"))
    assert [waiting.key for waiting in journal.unrecorded(STEM)] == ["new"]


def test_what_was_recorded_is_not_judged_again(journal):
    journal.store(outcome())
    journal.mark_recorded(outcome())
    assert journal.find("ada", STEM, "key") == outcome()
    journal.mark_recorded(outcome())
    assert journal.last_recorded("ada", STEM) == outcome()


def test_marking_an_older_one_does_not_touch_what_waits(journal):
    journal.store(outcome(key="new"))
    journal.mark_recorded(outcome(key="old"))
    assert [waiting.key for waiting in journal.unrecorded(STEM)] == ["new"]


def test_what_another_version_wrote_and_we_cannot_read_is_judged_again(path):
    with Journal(path) as journal:
        journal.store(outcome())
        unknown = json.loads(outcome().to_json()) | {"mood": "good"}
        journal._db.execute("UPDATE outcome SET outcome = ?", (json.dumps(unknown),))
        assert journal.find("ada", STEM, "key") is None
        assert list(journal.unrecorded(STEM)) == []


# the key


@given(st.binary(), st.text(), st.integers(), st.text(), st.binary(), st.text())
def test_the_key_changes_with_each_part(submission, checks, seed, environment, other, words):
    key = journal_key(submission, checks, seed, environment)
    assert key == journal_key(submission, checks, seed, environment)
    assert (key == journal_key(other, checks, seed, environment)) == (other == submission)
    assert (key == journal_key(submission, words, seed, environment)) == (words == checks)
    assert (key == journal_key(submission, checks, seed, words)) == (words == environment)
    assert key != journal_key(submission, checks, seed + 1, environment)


def test_what_moves_from_one_part_to_the_next_changes_the_key():
    assert journal_key(b"ab", "c", 1, "d") != journal_key(b"a", "bc", 1, "d")
    assert journal_key(b"", "1", 1, "") != journal_key(b"", "", 11, "")


# faults


def test_a_broken_journal_is_told(path):
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 1000)
    with pytest.raises(CannotRecord) as told:
        Journal(path)
    assert told.value.__cause__.sqlite_errorcode == sqlite3.SQLITE_NOTADB


def test_a_journal_of_another_layout_is_told(path):
    Journal(path).close()
    db = sqlite3.connect(path)
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(CannotRecord, match=r"\b99\b"):
        Journal(path)


def test_a_journal_that_is_open_elsewhere_is_told(path, monkeypatch):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.1)
    with Journal(path), pytest.raises(CannotRecord) as told:
        Journal(path)
    assert told.value.__cause__.sqlite_errorcode == sqlite3.SQLITE_BUSY


def test_no_folder_to_write_to_is_told(tmp_path):
    (tmp_path / "grading").touch()
    with pytest.raises(CannotRecord):
        Journal(tmp_path / "grading" / "journal.db")
    with pytest.raises(CannotRecord), course_lock(tmp_path):
        pass


def test_a_full_disk_is_told_and_what_was_kept_stays(journal):
    journal.store(outcome("ada"))
    pages = journal._db.execute("PRAGMA page_count").fetchone()[0]
    journal._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(CannotRecord) as told:
        journal.store(replace(outcome("grace"), notebook="x" * 100_000))
    assert told.value.__cause__.sqlite_errorcode == sqlite3.SQLITE_FULL
    assert journal.find("ada", STEM, "key") == outcome("ada")


# one at a time

HOLDER = """
import sys
from pathlib import Path
from autograder.grading.journal import course_lock
with course_lock(Path(sys.argv[1])):
    print("mine", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "mine\n"
    with process:
        yield process
        process.kill()


def take(course):
    with course_lock(course):
        return True


def test_a_second_run_is_told_who_is_at_it(tmp_path, holder):
    with pytest.raises(CourseIsBusy) as told:
        take(tmp_path)
    assert str(holder.pid) in str(told.value)


def test_asking_does_not_take_the_lock_away(tmp_path, holder):
    for _ in range(3):
        with pytest.raises(CourseIsBusy, match=str(holder.pid)):
            take(tmp_path)


def test_the_lock_of_one_that_was_killed_is_free(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert take(tmp_path)


def test_the_lock_is_free_when_the_run_is_over(tmp_path, holder):
    holder.communicate()
    assert take(tmp_path)
    assert take(tmp_path)


def test_the_same_process_cannot_take_it_twice(tmp_path):
    with course_lock(tmp_path), pytest.raises(CourseIsBusy, match=str(os.getpid())):
        take(tmp_path)


def test_an_error_in_the_run_frees_the_lock(tmp_path):
    with pytest.raises(ZeroDivisionError), course_lock(tmp_path):
        raise ZeroDivisionError
    assert take(tmp_path)


def test_a_note_of_the_holder_that_cannot_be_read_is_no_trouble(tmp_path, holder):
    (tmp_path / "grading" / "holder.json").write_text("{")
    with pytest.raises(CourseIsBusy):
        take(tmp_path)


# killed at any moment


@pytest.fixture
def class_of_sixty(released, tmp_path):
    """Graded once; five proofs were marked by hand since, and the second round is to come."""
    shutil.copy(released / "gradebook.db", tmp_path)
    run(tmp_path, 0)
    for student in STUDENTS[:5]:
        mark_by_hand(f"sqlite:///{tmp_path / 'gradebook.db'}", PROOF, student, manual_score=1.5)
    return tmp_path


def start(course, round_, **environment):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.grading.class_of_sixty", course, str(round_)],
        cwd=ROOT,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def run(course, round_, **environment):
    process = start(course, round_, **environment)
    process.communicate()
    return process.returncode


def results(course):
    """Every mark of every student, as nbgrader has it."""
    with opened(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return sorted(
            (grade.student.id, grade.name, grade.auto_score, grade.manual_score, grade.score)
            + (grade.needs_manual_grade,)
            for submission in gradebook.assignment_submissions(STEM)
            for notebook in submission.notebooks
            for grade in notebook.grades
        )


def expected():
    """What an undisturbed run must give, worked out from the rules."""
    rows = []
    for student in STUDENTS:
        after, marked = outcome_of(student, 1), student in STUDENTS[:5]
        changed = after.marks[2] != outcome_of(student, 0).marks[2]
        for mark in after.marks:
            by_hand = 1.5 if marked and mark.cell == PROOF else None
            needs = mark.cell == PROOF and (changed or not marked)
            score = mark.points if by_hand is None else by_hand
            rows.append((student, mark.cell, mark.points, by_hand, score or 0.0, needs))
    return sorted(rows, key=lambda row: row[:2])


def test_an_undisturbed_run_gives_what_the_rules_say(class_of_sixty):
    assert run(class_of_sixty, 1) == 0
    assert results(class_of_sixty) == expected()


@pytest.mark.slow
def test_a_run_killed_at_each_moment_of_a_submission_is_taken_up_again(class_of_sixty):
    """kill -9 before it is stored, before each statement, and after it was recorded."""
    killed = [run(class_of_sixty, 1, KILL_AT=str(at)) for at in range(22)]
    assert set(killed) == {-signal.SIGKILL}
    assert run(class_of_sixty, 1) == 0
    assert results(class_of_sixty) == expected()


@pytest.mark.parametrize(
    "kills",
    [pytest.param(3, marks=pytest.mark.slow), pytest.param(10, marks=pytest.mark.nightly)],
)
def test_a_run_killed_from_outside_is_taken_up_again(class_of_sixty, kills):
    draw = random.Random(20261118)
    for _ in range(kills):
        process = start(class_of_sixty, 1)
        for _ in range(draw.randint(1, 5)):
            process.stdout.readline()
        process.kill()
        process.communicate()
    assert run(class_of_sixty, 1) == 0
    assert results(class_of_sixty) == expected()
