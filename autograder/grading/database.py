"""The door to the gradebook's database: SQLite or PostgreSQL, locked, gone, full or read-only."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from sqlite3 import (
    SQLITE_BUSY,
    SQLITE_CANTOPEN,
    SQLITE_FULL,
    SQLITE_IOERR,
    SQLITE_LOCKED,
    SQLITE_PROTOCOL,
    SQLITE_READONLY,
)
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, OperationalError

from autograder.grading.journal import CannotRecord

T = TypeVar("T")
log = logging.getLogger(__name__)

PATIENCE = 30.0
"""Seconds for which a database that is locked or gone is tried again."""
SINGLE_TRY = 5
"""Seconds that one try may wait for a lock or a connection."""
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 4.0

SQLITE_PASSES = {SQLITE_BUSY, SQLITE_LOCKED, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_PROTOCOL}
POSTGRES_PASSES = ("08", "40", "57", "53300", "55P03")
"""Connection lost, deadlock, server stopping or starting, too many connections, lock held."""
FULL = {SQLITE_FULL, "53100"}
READ_ONLY = {SQLITE_READONLY, "25006", "42501"}

GO_ON = (
    "Nothing of this submission was written, and what was judged is kept: type the same command "
    "again, and it goes on from here."
)


class Database:
    """An engine whose transactions wait for a database that is locked or gone for a while."""

    def __init__(self, db_url: str):
        self.engine = _engine(db_url)
        self.url = sa.make_url(db_url).render_as_string()

    def close(self) -> None:
        self.engine.dispose()

    def transact(self, work: Callable[[sa.Connection], T]) -> T:
        """Do the work in one transaction: all of it, or nothing and `CannotRecord`."""
        give_up, pause = time.monotonic() + PATIENCE, FIRST_PAUSE
        while True:
            try:
                with self.engine.begin() as connection:
                    return work(connection)
            except DBAPIError as error:
                if not _passes(error) or time.monotonic() + pause > give_up:
                    raise CannotRecord(self._explain(error)) from error
                if pause == FIRST_PAUSE:
                    log.warning("The gradebook cannot be used now (%s); waiting.", error.orig)
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _explain(self, error: DBAPIError) -> str:
        if _code(error) in FULL:
            advice = "There is no room left where the gradebook lies. Make room."
        elif _code(error) in READ_ONLY:
            advice = (
                "You may not write to it; a gradebook in a file needs the right to write to its "
                "folder, too. Get that right."
            )
        elif _passes(error):
            advice = (
                f"That did not change for {PATIENCE:.0f} seconds. See that the database can be "
                "reached, and that no formgrader or nbgrader command keeps it locked."
            )
        else:
            advice = "See that it is a gradebook of the nbgrader that is installed here."
        return f"The gradebook {self.url} cannot be used: {error.orig}\n{advice}\n{GO_ON}"


def _engine(db_url: str) -> sa.Engine:
    try:
        url = sa.make_url(db_url)
        if url.get_backend_name() == "sqlite":
            return _sqlite_engine(url)
        engine = sa.create_engine(url, connect_args=_connect_args(url))
    except ArgumentError as error:
        raise CannotRecord(f"{db_url!r} is no address of a database: {error}") from error
    except ModuleNotFoundError as error:
        raise CannotRecord(
            f"For the gradebook {db_url} a driver is missing: {error}. For PostgreSQL type  "
            "pip install 'psycopg[binary]'"
        ) from error
    if url.get_backend_name() == "postgresql":
        sa.event.listen(engine, "connect", _limit_waiting_for_locks)
    return engine


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    """Opened anew for each transaction, since the file may have been put back from a copy."""
    path = Path(url.database or "").absolute()
    if not path.is_file():
        raise CannotRecord(f"There is no gradebook at {path}. `course release` makes it.")
    # an ordinary opening would make an empty file where the gradebook has just gone
    existing = url.set(database=path.as_uri(), query={"uri": "true", "mode": "rw"})
    engine = sa.create_engine(
        existing,
        poolclass=sa.NullPool,
        connect_args={"timeout": SINGLE_TRY, "isolation_level": None},
    )
    sa.event.listen(engine, "begin", _take_the_right_to_write)
    return engine


def _take_the_right_to_write(connection: sa.Connection) -> None:
    """What is read is then still true when it is written, whatever the formgrader does."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _connect_args(url: sa.URL) -> dict[str, int]:
    """A server that vanishes without a word is noticed, by those drivers that can."""
    if not url.get_driver_name().startswith("psycopg"):
        return {}
    alive = {"keepalives_idle": SINGLE_TRY, "keepalives_interval": 2, "keepalives_count": 3}
    return alive | {"connect_timeout": SINGLE_TRY, "tcp_user_timeout": 1000 * SINGLE_TRY}


def _limit_waiting_for_locks(connection: Any, _: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{SINGLE_TRY}s'")
    connection.commit()


def _passes(error: DBAPIError) -> bool:
    """Whether it may be gone in a moment."""
    if error.connection_invalidated or isinstance(error, IntegrityError):
        return True  # an integrity error: another program has just made the same row
    if not isinstance(error, OperationalError):
        return False
    code = _code(error)
    return code is None or code in SQLITE_PASSES or str(code).startswith(POSTGRES_PASSES)


def _code(error: DBAPIError) -> int | str | None:
    """SQLite's primary code or PostgreSQL's state; None if there was nobody to give one."""
    extended = getattr(error.orig, "sqlite_errorcode", None)
    return getattr(error.orig, "sqlstate", None) if extended is None else extended & 0xFF
