"""What is told where journal or gradebook cannot be used; nothing is half written then."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
import sqlalchemy as sa

from autograder.grading import database, journal
from autograder.grading.gradebook import Recorder
from autograder.grading.journal import CannotRecord, CourseIsBusy, Journal, course_lock
from autograder.grading.outcome import Mark
from tests.grading.gradebook_fixtures import CODE, outcome, with_mark


@pytest.fixture
def url(released, tmp_path) -> str:
    return f"sqlite:///{shutil.copy(released / 'gradebook.db', tmp_path / 'gradebook.db')}"


@pytest.fixture
def told(reads, monkeypatch):
    """What is told when this is done, but for an advice that another message has at its end."""
    clock = SimpleNamespace(monotonic=count(step=10).__next__, sleep=lambda seconds: None)
    monkeypatch.setattr(database, "time", clock)
    monkeypatch.setattr(database, "SINGLE_TRY", 0.1)
    monkeypatch.setattr(journal, "BUSY_SECONDS", 0.1)

    def compare(do, *arguments, but_for: str = "") -> None:
        with pytest.raises((CannotRecord, CourseIsBusy)) as refused:
            do(*arguments)
        reads(str(refused.value).removesuffix(but_for))

    return compare


def is_opened(url: str) -> None:
    with Recorder(url):
        pass


# the gradebook


def test_the_gradebook_is_locked(url, told):
    with (
        Recorder(url) as recorder,
        closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        told(recorder.record, outcome())


@pytest.mark.parametrize(
    "setting", ["max_page_count = 1", "query_only = ON"], ids=["full", "read-only"]
)
def test_the_gradebook_cannot_be_written(url, told, setting):
    with Recorder(url) as recorder:

        @sa.event.listens_for(recorder._database.engine, "connect")
        def limit(connection, record):
            connection.execute(f"PRAGMA {setting}")

        told(
            recorder.record,
            with_mark(outcome(), CODE, comment="x" * 100_000),
            but_for=database.GO_ON,
        )


def test_there_is_no_gradebook(tmp_path, told):
    told(is_opened, f"sqlite:///{tmp_path / 'none.db'}")


def test_an_empty_file_is_no_gradebook(tmp_path, told):
    (tmp_path / "gradebook.db").touch()
    told(is_opened, f"sqlite:///{tmp_path / 'gradebook.db'}")


def test_a_table_of_text_is_no_gradebook(tmp_path, told):
    (tmp_path / "gradebook.db").write_text("student,score\n" * 100)
    told(is_opened, f"sqlite:///{tmp_path / 'gradebook.db'}", but_for=database.GO_ON)


def test_a_gradebook_of_an_older_nbgrader(url, told):
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as db:
        db.execute("ALTER TABLE student DROP COLUMN lms_user_id")
    told(is_opened, url)


@pytest.mark.parametrize(
    "address", ["gradebook.db", "postgresql+pg8000://course@/gradebook"], ids=["file", "driver"]
)
def test_what_is_no_address_of_a_database(told, address):
    told(is_opened, address)


# one submission


def test_a_student_who_is_not_in_the_list(url, told):
    with Recorder(url, create_students=False) as recorder:
        told(recorder.record, outcome("grace"))


REFUSED = {
    "a name that cannot be": outcome("nul \0"),
    "another assignment": replace(outcome(), assignment="02_columns"),
    "other points": replace(outcome(), marks=(Mark(CODE, 1.0, 5.0),)),
    "a cell that is gone": replace(outcome(), marks=(Mark("gone", 1.0, 1.0),)),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_an_outcome_that_does_not_fit(url, told, refused):
    with Recorder(url) as recorder:
        told(recorder.record, refused)


# the journal


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "grading" / "journal.db"


def test_the_journal_is_broken(path, told):
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 1000)
    told(Journal, path)


def test_the_journal_has_another_layout(path, told):
    Journal(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
    told(Journal, path, but_for=journal._AFRESH)


def test_the_journal_is_open_elsewhere(path, told):
    with Journal(path):
        told(Journal, path)


def test_there_is_no_folder_to_write_to(tmp_path, told):
    (tmp_path / "grading").touch()
    told(course_lock(tmp_path).__enter__, but_for=journal.MAKE_ROOM)


def test_somebody_else_is_grading_here(tmp_path, told, monkeypatch):
    holder = {"pid": 7, "host": "lab", "since": "2027-01-31T12:00"}
    monkeypatch.setattr(journal, "_myself", lambda: holder)
    with course_lock(tmp_path):
        told(course_lock(tmp_path).__enter__)
