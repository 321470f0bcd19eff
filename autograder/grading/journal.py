"""The grader's own memory: what was judged, what of it was recorded, and who is grading now.

It lies in grading/journal.db of the course folder. A row holds the whole outcome of a submission as
JSON: its marks, in them the findings with the evidence of each test, and its notes.

The order is: `store`, then record in the gradebook, then `mark_recorded`. A run that was killed at
any moment is taken up again by recording all that is `unrecorded`: doing so twice changes nothing.
"""

import hashlib
import json
import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from autograder.errors import CourseError
from autograder.files import digest_of, write_atomically
from autograder.grading.outcome import Outcome
from autograder.paths import ROOT

LAYOUT = 1
TABLE = """
CREATE TABLE IF NOT EXISTS outcome (
    student TEXT NOT NULL,
    assignment TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('judged', 'recorded')),
    key TEXT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (student, assignment, state)
)"""
SETTINGS = """
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL"""
"""Nothing waits for the disk: what a power cut takes is judged again. A write-ahead log is safe on
a network disk only where one process has the file to itself, which is what EXCLUSIVE says."""
BUSY_SECONDS = 5


class CannotRecord(CourseError):
    """Nothing of this submission was written: why, and what to do about it."""


class CourseIsBusy(CourseError):
    """Somebody else is grading in this course folder: who, and what to do about it."""


class Journal:
    """At most two outcomes of each student and assignment: one judged, and one recorded before it.

    While it is open, no other process can open it. Everything here raises CannotRecord where the
    file cannot be used.
    """

    def __init__(self, path: Path):
        self.path = path
        with self._clear_words():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        with self._clear_words(), ExitStack() as on_failure:
            on_failure.callback(self._db.close)
            self._lay_out()
            on_failure.pop_all()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def find(self, student: str, assignment: str, key: str) -> Outcome | None:
        """What this submission got when it was judged before, whether or not it was recorded."""
        return self._first(
            "student = ? AND assignment = ? AND key = ? ORDER BY state", student, assignment, key
        )

    def store(self, outcome: Outcome) -> None:
        """Keep what a worker found. It takes the place of what was judged but never recorded."""
        row = (outcome.student, outcome.assignment, "judged", outcome.key, outcome.to_json())
        with self._clear_words():
            self._db.execute("INSERT OR REPLACE INTO outcome VALUES (?, ?, ?, ?, ?)", row)

    def mark_recorded(self, outcome: Outcome) -> None:
        """It is in the gradebook: from now on this is what the next one is compared with."""
        with self._clear_words():
            self._db.execute(
                "UPDATE OR REPLACE outcome SET state = 'recorded' "
                "WHERE student = ? AND assignment = ? AND key = ? AND state = 'judged'",
                (outcome.student, outcome.assignment, outcome.key),
            )

    def last_recorded(self, student: str, assignment: str) -> Outcome | None:
        return self._first(
            "student = ? AND assignment = ? AND state = 'recorded'", student, assignment
        )

    def unrecorded(self, assignment: str) -> Iterator[Outcome]:
        return self._all(assignment, "judged")

    def recorded(self, assignment: str) -> Iterator[Outcome]:
        return self._all(assignment, "recorded")

    def forget(self, student: str) -> None:
        """Nothing of this person stays in the file, not even where it is marked as free."""
        with self._clear_words():
            self._db.execute("DELETE FROM outcome WHERE student = ?", (student,))
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _all(self, assignment: str, state: str) -> Iterator[Outcome]:
        """One after the other, so that a class of two thousand does not fill the memory."""
        such = f"assignment = ? AND state = '{state}'"
        with self._clear_words():
            students = self._db.execute(
                f"SELECT student FROM outcome WHERE {such} ORDER BY student", (assignment,)
            ).fetchall()
        for (student,) in students:
            if outcome := self._first(f"student = ? AND {such}", student, assignment):
                yield outcome

    def _first(self, condition: str, *values: str) -> Outcome | None:
        with self._clear_words():
            row = self._db.execute(
                f"SELECT outcome FROM outcome WHERE {condition}", values
            ).fetchone()
        # one that another version of the grader wrote may not be readable: it is judged again
        with suppress(TypeError, KeyError, ValueError):
            return Outcome.from_json(row[0]) if row else None
        return None

    def _lay_out(self) -> None:
        layout = self._db.execute("PRAGMA user_version").fetchone()[0]
        if layout not in (0, LAYOUT):
            raise CannotRecord(
                f"The journal {self.path} was written by another version of the course "
                f"(layout {layout}; this one reads {LAYOUT}). {_AFRESH}"
            )
        for setting in SETTINGS.split(";"):
            self._db.execute(setting)
        self._db.execute(TABLE)
        self._db.execute(f"PRAGMA user_version = {LAYOUT}")

    @contextmanager
    def _clear_words(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            advice = _AFRESH if _is_broken(error) else MAKE_ROOM
            raise CannotRecord(
                f"The journal {self.path} cannot be used: {error}. {advice}"
            ) from error


_AFRESH = (
    "Move it away and grade again: everything is judged afresh, and what was marked by hand keeps "
    "its marks but asks for a second look."
)
MAKE_ROOM = (
    "See that there is room on the disk, that you may read and write there, and that no other "
    "program holds the file; then type the same command again, and it goes on where it stopped."
)


def _is_broken(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def journal_key(submission: bytes, checks: str, seed: int, environment: str) -> str:
    """Equal exactly if nothing changed on which the marks depend.

    `checks` is the digest of what a worker is given, `environment` the worker's fingerprint.
    """
    handed_in = hashlib.sha256(submission).hexdigest()
    return digest_of((), ROOT, handed_in, checks, str(seed), environment)


@contextmanager
def course_lock(course: Path) -> Iterator[None]:
    """Grade alone in this course folder, or learn at once who is grading there.

    The system frees the lock when its holder dies, however it dies. Raises CourseIsBusy, and
    CannotRecord where the folder cannot be written to.
    """
    folder = course / "grading"
    lock, holder = FileLock(folder / "lock"), folder / "holder.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise CourseIsBusy(
            f"{_describe(holder)} is grading in {course}, and two at once would mix up their "
            "marks.\nWait until it is done, or stop it with Ctrl-C where it runs (nothing is "
            "lost); then type the same command again."
        ) from None
    except OSError as error:
        raise CannotRecord(f"{folder} cannot be written to: {error}. {MAKE_ROOM}") from error
    try:
        with suppress(OSError):  # a courtesy to the next one; a full disk is told elsewhere
            write_atomically(holder, json.dumps(_myself()))
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _myself() -> dict[str, Any]:
    since = datetime.now().astimezone().isoformat(timespec="seconds")
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": since}


def _describe(holder: Path) -> str:
    try:
        who = json.loads(holder.read_text())
        since = datetime.fromisoformat(who["since"])
        return f"Process {who['pid']} on {who['host']}, since {since:%H:%M on %d %B},"
    except (OSError, ValueError, KeyError):  # it has taken the lock this very moment
        return "Another process"
