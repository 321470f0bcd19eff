"""A gradebook that is locked, gone, full or read-only: waited for, or told, nothing half done.

What is told then is in tests/messages/test_gradebook.py.
"""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import tracemalloc
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from nbgrader.api import Student

from autograder.grading import database
from autograder.grading.gradebook import Recorder
from autograder.grading.journal import CannotRecord
from tests.grading.gradebook_fixtures import (
    CODE,
    PROOF,
    STEM,
    by_hand,
    contents,
    grade,
    opened,
    outcome,
)


@pytest.fixture
def impatient(monkeypatch):
    """What would be told after half a minute is told at once."""
    monkeypatch.setattr(database, "PATIENCE", 0.3)
    monkeypatch.setattr(database, "SINGLE_TRY", 0.1)


def path_of(url) -> Path:
    return Path(url.removeprefix("sqlite:///"))


def code_of(refusal: CannotRecord) -> int | str | None:
    """Of the database's own error."""
    return database._code(refusal.__cause__)


@contextmanager
def written_by_another(url):
    """As a formgrader that has begun to write and not finished."""
    with closing(sqlite3.connect(path_of(url), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield other
        if other.in_transaction:
            other.rollback()


@contextmanager
def at_the_second_try(recorder, monkeypatch, repair):
    """Something is wrong now; when the recorder has noticed, somebody mends it."""
    pauses = []

    def pause(seconds):
        if not pauses:
            repair()
        pauses.append(seconds)

    monkeypatch.setattr(database.time, "sleep", pause)
    yield pauses


# locked


def test_a_lock_of_another_program_is_waited_for(sqlite_url, monkeypatch, impatient):
    with Recorder(sqlite_url) as recorder, written_by_another(sqlite_url) as other:
        with at_the_second_try(recorder, monkeypatch, other.rollback) as pauses:
            recorder.record(outcome())
        assert pauses, "it had to wait"
    assert grade(sqlite_url, CODE)["auto_score"] == 3.0


def test_a_lock_that_stays_is_told(sqlite_url, impatient):
    with Recorder(sqlite_url) as recorder:
        before = contents(sqlite_url)
        with written_by_another(sqlite_url), pytest.raises(CannotRecord) as told:
            recorder.record(outcome())
        assert code_of(told.value) == sqlite3.SQLITE_BUSY
    assert contents(sqlite_url) == before


def test_the_pause_grows_and_ends(sqlite_url, monkeypatch):
    """Every pause is at most twice the last; all together last as long as the patience."""
    clock = [0.0]
    pauses = []

    def pause(seconds):
        pauses.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(database.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(database.time, "sleep", pause)
    with Recorder(sqlite_url) as recorder:
        path_of(sqlite_url).unlink()
        with pytest.raises(CannotRecord) as told:
            recorder.record(outcome())
    assert code_of(told.value) == sqlite3.SQLITE_CANTOPEN
    assert pauses == [min(0.05 * 2**k, 4.0) for k in range(len(pauses))]
    assert database.PATIENCE - 4.0 < sum(pauses) <= database.PATIENCE


def test_a_mark_that_a_person_saves_meanwhile_is_seen(postgres_url):
    """The recorder waits for the person's transaction and leaves settled what that has settled."""
    with Recorder(postgres_url) as recorder, opened(postgres_url) as gradebook:
        recorder.record(outcome())
        by_hand(gradebook.find_grade(PROOF, STEM, STEM, "ada"), manual_score=1.5)
        gradebook.db.flush()
        waiting = threading.Thread(target=recorder.record, args=(outcome(), outcome()))
        waiting.start()
        waiting.join(0.5)
        assert waiting.is_alive(), "the row is held"
        gradebook.db.commit()
        waiting.join()
    found = grade(postgres_url, PROOF)
    assert (found["manual_score"], found["needs_manual_grade"]) == (1.5, False)


def test_a_student_whom_another_program_adds_meanwhile_is_there_once(postgres_url):
    with Recorder(postgres_url) as recorder, opened(postgres_url) as gradebook:
        gradebook.db.add(Student(id="ada"))
        gradebook.db.flush()
        waiting = threading.Thread(target=recorder.record, args=(outcome("ada"),))
        waiting.start()
        waiting.join(0.5)
        gradebook.db.commit()
        waiting.join()
    assert grade(postgres_url, CODE)["auto_score"] == 3.0


def test_two_recorders_at_once_make_each_row_once(url):
    """Not what should happen, since one lock keeps the course; if it does, nothing breaks."""
    failures = []

    def record_all():
        try:
            with Recorder(url) as recorder:
                for k in range(10):
                    recorder.record(outcome(f"student_{k}"))
        except Exception as error:
            failures.append(error)

    writers = [threading.Thread(target=record_all) for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert failures == []
    assert len(contents(url)["grade"]) == 10 * 3


# gone


def test_a_file_that_comes_back_is_waited_for(sqlite_url, monkeypatch):
    path = path_of(sqlite_url)
    away = path.with_name("away.db")
    with Recorder(sqlite_url) as recorder:
        path.rename(away)

        def put_back():
            assert not path.exists(), "no empty file where the gradebook was"
            away.rename(path)

        with at_the_second_try(recorder, monkeypatch, put_back) as pauses:
            recorder.record(outcome())
        assert pauses
    assert grade(sqlite_url, CODE)["auto_score"] == 3.0


def test_a_gradebook_put_back_from_a_copy_is_the_one_written_to(sqlite_url, tmp_path):
    copy = shutil.copy(path_of(sqlite_url), tmp_path / "copy.db")
    with Recorder(sqlite_url) as recorder:
        recorder.record(outcome("ada"))
        os.replace(copy, path_of(sqlite_url))
        recorder.record(outcome("grace"))
    assert grade(sqlite_url, CODE, "grace")["auto_score"] == 3.0


@pytest.mark.slow
def test_a_server_that_is_gone_for_ten_seconds_loses_nothing(postgres):
    address = postgres.copy_of("gradebook_0")
    with Recorder(address) as recorder:
        recorder.record(outcome("ada"))
        postgres.stop()
        back = threading.Timer(10, postgres.start)
        back.start()
        try:
            for k in range(5):
                recorder.record(outcome(f"student_{k}"))
        finally:
            back.join()
    assert len(contents(address)["submitted_assignment"]) == 6


def test_a_server_that_stays_away_is_told(postgres, impatient):
    nobody_home = postgres.address("gradebook_0").replace(postgres.folder.name, "nowhere")
    with pytest.raises(CannotRecord) as told:
        Recorder(nobody_home).__enter__()
    assert isinstance(told.value.__cause__, sa.exc.OperationalError)


def test_a_password_is_not_told(postgres, impatient):
    nobody_home = "postgresql+psycopg://course:secret@/x?host=/nowhere"
    with pytest.raises(CannotRecord) as told:
        Recorder(nobody_home).__enter__()
    assert "secret" not in str(told.value)


# full or read-only: told at once, since waiting would not help


@pytest.fixture
def no_waiting(monkeypatch):
    def refuse(seconds):
        pytest.fail("it waited")

    monkeypatch.setattr(database.time, "sleep", refuse)


@contextmanager
def as_an_ordinary_user(*paths: Path):
    """Root may write everywhere, so root must stop being root to be refused."""
    if os.geteuid() != 0:
        yield
        return
    nobody = 65534
    for path in paths:
        os.chown(path, nobody, nobody)
    os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_read_only_file_is_told(released, no_waiting):
    with _short_lived_folder() as folder:
        path = Path(shutil.copy(released / "gradebook.db", folder))
        url = f"sqlite:///{path}"
        before = contents(url)
        path.chmod(0o444)
        refused = pytest.raises(CannotRecord)
        with as_an_ordinary_user(folder, path), Recorder(url) as recorder, refused as told:
            recorder.record(outcome())
        assert code_of(told.value) in database.READ_ONLY
        assert contents(url) == before


@contextmanager
def _short_lived_folder():
    """Outside pytest's own, which only its owner may enter."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def test_a_read_only_server_is_told(postgres_url, no_waiting):
    before = contents(postgres_url)
    with Recorder(postgres_url) as recorder:
        with recorder._database.engine.begin() as connection:
            connection.exec_driver_sql("SET default_transaction_read_only = on")
        with pytest.raises(CannotRecord) as told:
            recorder.record(outcome())
        assert code_of(told.value) in database.READ_ONLY
    assert contents(postgres_url) == before


FULL_DISK = """
import shutil, sys
from pathlib import Path
from autograder.grading.journal import CannotRecord
from autograder.grading import database
from autograder.grading.gradebook import Recorder
from tests.grading.gradebook_fixtures import contents, outcome
disk = Path(sys.argv[2])
path = Path(shutil.copy(sys.argv[1], disk))
url = f"sqlite:///{path}"
kept = []
with Recorder(url) as recorder:
    try:
        (disk / "ballast").write_bytes(bytes(64 << 20))
    except OSError:
        pass
    try:
        for k in range(1000):
            kept.append(contents(url))
            recorder.record(outcome(f"student_{k}"))
    except CannotRecord as told:
        print(database._code(told.__cause__))
assert len(kept) < 1000
(disk / "ballast").unlink()
assert contents(url) == kept[-1], "half of a submission was written"
"""


def on_a_small_disk(folder: Path, size: str, program: str, *arguments: Path) -> str:
    """What a program prints for which the disk at this folder is small."""
    mount = f'mount -t tmpfs -o size={size} none {folder} && exec "$@"'
    command = ["unshare", "-rm", "sh", "-c", mount, "sh", sys.executable, "-c", program]
    if subprocess.run(["unshare", "-rm", "true"]).returncode:
        line = "test of a full disk not run: this system gives no namespaces"
        pytest.fail(line) if os.environ.get("CI") == "true" else pytest.skip(line)
    root = Path(__file__).parents[2]
    done = subprocess.run([*command, *arguments], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_full_disk_is_told_and_nothing_is_half_written(released, tmp_path):
    told = on_a_small_disk(tmp_path, "1m", FULL_DISK, released / "gradebook.db", tmp_path)
    assert told == f"{sqlite3.SQLITE_FULL}\n"


FULL_OF_NOTEBOOKS = """
import subprocess, sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from autograder.grading.journal import CannotRecord
from autograder.grading.grade_class import grade_class
from tests.grading.gradebook_fixtures import STEM, contents, outcome
class Pool:
    def grade(self, jobs):
        for job in jobs:
            yield replace(outcome(job.student), key=job.key, notebook="x" * 30_000)
@contextmanager
def make(folder, data):
    yield Pool()
course, students = Path(sys.argv[1]), [f"student_{k:02}" for k in range(20)]
for student in students:
    folder = course / "submitted" / student / STEM
    folder.mkdir(parents=True)
    (folder / f"{STEM}.ipynb").write_text("{}")
try:
    grade_class(course, STEM, make)
except CannotRecord as told:
    print(told.__cause__.errno)
notebooks = course / "autograded"
kept = {path.name for path in notebooks.rglob("*") if path.is_file()}
assert kept == {f"{STEM}.ipynb"}, "half a notebook was left behind"
subprocess.run(["umount", notebooks], check=True)
report = grade_class(course, STEM, make)
assert 0 < report.graded < len(students) == report.graded + report.unchanged
recorded = contents(f"sqlite:///{course / 'gradebook.db'}")["submitted_assignment"]
assert len(recorded) == len(students) == len(list(notebooks.rglob("*.ipynb")))
"""


def test_a_disk_full_of_notebooks_is_told_and_the_run_is_taken_up_again(released, tmp_path):
    course = shutil.copytree(released, tmp_path / "course")
    (course / "autograded").mkdir()
    told = on_a_small_disk(course / "autograded", "256k", FULL_OF_NOTEBOOKS, course)
    assert told == f"{errno.ENOSPC}\n"


# nothing half done


class Stop(Exception):
    pass


def statements_of(recorder, previous, after):
    """What one recording tells the database to do."""
    seen = []
    unlisten = listen(recorder, lambda number, statement: seen.append(statement))
    recorder.record(after, previous)
    unlisten()
    return seen


def listen(recorder, told):
    numbers = iter(range(10_000))

    def before(connection, cursor, statement, parameters, context, executemany):
        told(next(numbers), statement)

    engine = recorder._database.engine
    sa.event.listen(engine, "before_cursor_execute", before)
    return lambda: sa.event.remove(engine, "before_cursor_execute", before)


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_stopped_before_any_statement_nothing_is_written(url, again):
    """All of a submission or nothing, wherever it is cut."""
    earlier = outcome(code=1.0, proof="by magic") if again else None
    with Recorder(url) as recorder:
        if earlier:
            recorder.record(earlier)
            recorder.record(outcome("grace"))
        before, number = contents(url), 0
        while True:

            def stop_at(at, statement, number=number):
                if at == number:
                    raise Stop

            unlisten = listen(recorder, stop_at)
            try:
                recorder.record(outcome(), earlier)
                break
            except Stop:
                assert contents(url) == before, f"cut before statement {number}"
            finally:
                unlisten()
            number += 1
        assert number > 8
    assert grade(url, CODE)["auto_score"] == 3.0


# many


def test_a_submission_costs_the_same_however_many_came_before(sqlite_url):
    """As many statements, none of which reads a table that grows from end to end."""
    with Recorder(sqlite_url) as recorder:
        first = statements_of(recorder, None, outcome("student_0"))
        for k in range(1, 30):
            recorder.record(outcome(f"student_{k}"))
        last = statements_of(recorder, None, outcome("student_30"))
        assert len(last) == len(first)
        growing = ("student", "submitted_assignment", "submitted_notebook", "grade", "comment")
        with closing(sqlite3.connect(path_of(sqlite_url))) as db:
            for statement in last:
                if statement.startswith("BEGIN"):
                    continue
                values = [None] * statement.count("?")
                plan = db.execute(f"EXPLAIN QUERY PLAN {statement}", values).fetchall()
                scanned = [f"SCAN {name}" for name in growing]
                steps = [step[-1] for step in plan]
                assert not set(steps) & set(scanned), (statement, steps)


@pytest.mark.slow
def test_two_thousand_submissions_take_no_more_memory_than_two_hundred(sqlite_url):
    with Recorder(sqlite_url) as recorder:
        for k in range(200):
            recorder.record(outcome(f"student_{k}"))
        tracemalloc.start()
        try:
            for k in range(200, 2000):
                recorder.record(outcome(f"student_{k}"))
            grown, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert grown < 1 << 20
    assert len(contents(sqlite_url)["submitted_assignment"]) == 2000


# what is no gradebook


def test_no_file_is_told_and_none_is_made(tmp_path, no_waiting):
    with pytest.raises(CannotRecord, match="course release"):
        Recorder(f"sqlite:///{tmp_path / 'gradebook.db'}")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_is_told(tmp_path, no_waiting):
    (tmp_path / "gradebook.db").touch()
    with pytest.raises(CannotRecord, match=r"\bstudent\b"):
        Recorder(f"sqlite:///{tmp_path / 'gradebook.db'}").__enter__()


def test_another_kind_of_file_is_told(tmp_path, no_waiting):
    (tmp_path / "gradebook.db").write_text("student,score\n" * 100)
    with pytest.raises(CannotRecord) as told:
        Recorder(f"sqlite:///{tmp_path / 'gradebook.db'}").__enter__()
    assert code_of(told.value) == sqlite3.SQLITE_NOTADB


def test_a_gradebook_of_an_older_nbgrader_is_told(url, no_waiting):
    with Recorder(url) as recorder, recorder._database.engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE student DROP COLUMN lms_user_id")
    with pytest.raises(CannotRecord, match=r"\blms_user_id\b"):
        Recorder(url).__enter__()


def test_what_is_no_address_is_told(no_waiting):
    with pytest.raises(CannotRecord) as told:
        Recorder("gradebook.db")
    assert isinstance(told.value.__cause__, sa.exc.ArgumentError)


def test_a_missing_driver_is_told(no_waiting):
    with pytest.raises(CannotRecord, match="pg8000"):
        Recorder("postgresql+pg8000://course@/gradebook")


def test_a_folder_may_have_any_name(released, tmp_path):
    folder = tmp_path / "été #1 & more"
    folder.mkdir()
    url = f"sqlite:///{shutil.copy(released / 'gradebook.db', folder)}"
    with Recorder(url) as recorder:
        recorder.record(outcome())
    with closing(sqlite3.connect(folder / "gradebook.db")) as db:
        assert db.execute("SELECT count(*) FROM grade").fetchone() == (3,)
