"""Errors of database drivers: their reason and cause, and the state of the transaction that they imply."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import DataError, NotSupportedError, ProgrammingError

# Classes of SQLSTATE: lost connections, exhausted resources, operator interventions.
TRANSIENT_CLASSES = ("08", "53", "57")
LOCK_NOT_AVAILABLE = "55P03"
COMPLETION_UNKNOWN = "40003"

# Error numbers of MySQL and MariaDB, whose SQLSTATE is mostly the general one.
MYSQL_CONFLICTS = (
    1020,
    1205,
    1213,
    3101,
    3572,
)  # changed row, lock wait timeout, deadlock, group certification, NOWAIT
MYSQL_TRANSIENT = (
    *(1021, 1037, 1038, 1041, 1114, 1135),  # disk, memory and threads
    *(1040, 1203, 1226, 1637),  # limits of connections and transactions
    *(
        1047,
        1053,
        1079,
        1317,
        1927,
        3024,
        3169,
    ),  # shutdown, a cluster that is not ready, interrupted and killed sessions
    *(1290, 1792, 1836),  # read-only servers, as during a failover
    *(1158, 1159, 1160, 1161),  # network
)
MYSQL_SERVER_ERRORS = (range(1000, 2000), range(3000, 6000))


class DuplicateKeyError(Exception):
    """A row with this key already exists, and nothing has changed. Internal to the SQL catalog."""


class StatementFailedError(Exception):
    """A statement failed, and nothing has changed. Internal to the SQL catalog.

    Attributes:
        is_conflict: Whether it conflicted with another transaction: serialization failures, deadlocks, lock timeouts.
        is_transient: Whether the transaction may succeed when it is repeated.
    """

    def __init__(self, reason: str, *, is_conflict: bool, is_transient: bool) -> None:
        super().__init__(reason)
        self.is_conflict = is_conflict
        self.is_transient = is_transient


class CommitUnansweredError(Exception):
    """The database did not reply to COMMIT, which may or may not take effect. Internal to the SQL catalog.

    Attributes:
        transaction: The database's number of the transaction, or None.
        result: The result of the transaction if it was committed.
    """

    def __init__(self, reason: str, transaction: int | None, result: Any) -> None:
        super().__init__(reason)
        self.transaction = transaction
        self.result = result


def driver_error(error: BaseException) -> BaseException:
    """Return the driver's own error, without SQLAlchemy's wrapper."""
    cause = getattr(error, "orig", None)
    return cause if isinstance(cause, BaseException) else error


def reason_of(error: BaseException) -> str:
    """Return the driver's message, without statement and parameters."""
    cause = driver_error(error)
    first = cause.args[0] if cause.args else None
    if isinstance(first, dict) and "M" in first:
        text = str(first["M"])
    elif _mysql_number(cause) is not None and len(cause.args) > 1:
        text = str(cause.args[1])
    else:
        text = str(cause)
    return text.strip() or type(cause).__name__


def sqlstate(error: BaseException) -> str | None:
    """Return the SQLSTATE of an error from the database, or None for any other error."""
    cause = driver_error(error)
    for name in ("sqlstate", "pgcode"):
        state = getattr(cause, name, None)
        if isinstance(state, str):
            return state
    first = cause.args[0] if cause.args else None
    state = first.get("C") if isinstance(first, dict) else None
    return state if isinstance(state, str) else None


def is_reported_by_database(error: BaseException) -> bool:
    """Return whether the database itself reported an error, so that the connection has no late reply."""
    number = _mysql_number(driver_error(error))
    if number is not None:
        return any(number in numbers for numbers in MYSQL_SERVER_ERRORS)
    return sqlstate(error) is not None


def is_conflict(error: BaseException) -> bool:
    """Return whether the database rolled a transaction back because of another transaction."""
    number = _mysql_number(driver_error(error))
    if number is not None:
        return number in MYSQL_CONFLICTS
    state = sqlstate(error)
    if state is not None:
        return (state.startswith("40") and state != COMPLETION_UNKNOWN) or state == LOCK_NOT_AVAILABLE
    cause = driver_error(error)
    return isinstance(cause, sqlite3.Error) and _is_locked(cause)


def is_transient(error: BaseException) -> bool:
    """Return whether a transaction that failed before COMMIT may succeed when it is repeated."""
    if is_conflict(error):
        return True
    if is_reported_by_database(error) and (number := _mysql_number(driver_error(error))) is not None:
        return number in MYSQL_TRANSIENT
    state = sqlstate(error)
    if state is not None:
        return state.startswith(TRANSIENT_CLASSES)
    if isinstance(driver_error(error), sqlite3.Error):
        return False
    return not isinstance(error, DataError | NotSupportedError | ProgrammingError | TypeError | ValueError)


def is_rolled_back(error: BaseException) -> bool:
    """Return whether an error of COMMIT implies that the transaction was rolled back.

    SQLite reports a locked database and a full disk before its commit point, the removal of the journal. Other input and output
    errors may occur after it.
    """
    cause = driver_error(error)
    return is_conflict(error) or (isinstance(cause, sqlite3.Error) and "disk is full" in str(cause))


def _is_locked(error: sqlite3.Error) -> bool:
    return "is locked" in str(error)


def _mysql_number(error: BaseException) -> int | None:
    """Return the number of an error of a MySQL driver, None for errors of other drivers and of sockets."""
    number = error.args[0] if error.args else None
    is_number = isinstance(number, int) and number >= 1000 and not isinstance(error, OSError)
    return number if is_number else None
