"""Errors of database drivers: their reason and cause, and the state of the transaction that they imply."""

from __future__ import annotations

import sqlite3
from typing import Any

from sqlalchemy.exc import DataError, NotSupportedError, ProgrammingError

# Classes of SQLSTATE: lost connections, exhausted resources, operator interventions.
TRANSIENT_CLASSES = ("08", "53", "57")
LOCK_NOT_AVAILABLE = "55P03"
COMPLETION_UNKNOWN = "40003"
MYSQL_ROLLBACKS = (1205, 1213)  # lock wait timeout, deadlock


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
    text = str(first["M"]) if isinstance(first, dict) and "M" in first else str(cause)
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


def is_conflict(error: BaseException) -> bool:
    """Return whether the database rolled a transaction back because of another transaction."""
    state = sqlstate(error)
    if state is not None:
        return (state.startswith("40") and state != COMPLETION_UNKNOWN) or state == LOCK_NOT_AVAILABLE
    cause = driver_error(error)
    if isinstance(cause, sqlite3.Error):
        return _is_locked(cause)
    return bool(cause.args) and cause.args[0] in MYSQL_ROLLBACKS


def is_transient(error: BaseException) -> bool:
    """Return whether a transaction that failed before COMMIT may succeed when it is repeated."""
    if is_conflict(error):
        return True
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
