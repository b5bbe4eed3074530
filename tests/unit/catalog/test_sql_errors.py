"""The state of a transaction that errors of drivers imply."""

import sqlite3

import pg8000
import psycopg
import pymysql
import pytest
from icefloe.catalog.sql.errors import (
    is_conflict,
    is_reported_by_database,
    is_rolled_back,
    is_transient,
    reason_of,
    sqlstate,
)
from sqlalchemy.exc import DBAPIError, OperationalError


def wrapped(error):
    return OperationalError("update secret", {"secret": 1}, error)


def of_pg8000(state):
    return pg8000.DatabaseError({"S": "ERROR", "C": state, "M": "the server's words"})


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.SerializationFailure("x"),
        of_pg8000("40P01"),
        of_pg8000("55P03"),
        pymysql.OperationalError(1213, "Deadlock found"),
        pymysql.OperationalError(1205, "Lock wait timeout exceeded"),
        pymysql.OperationalError(1020, "Record has changed since last read"),
    ],
)
def test_rollback_because_of_another_transaction_is_a_conflict(error):
    assert is_conflict(wrapped(error))
    assert is_transient(wrapped(error))
    assert is_rolled_back(wrapped(error))


@pytest.mark.parametrize(
    "error",
    [
        psycopg.OperationalError("server closed the connection"),
        pg8000.InterfaceError("network error"),
        psycopg.errors.AdminShutdown("terminating connection"),
        of_pg8000("40003"),
        sqlite3.OperationalError("disk I/O error"),
        ConnectionResetError("reset"),
        BrokenPipeError(),
        TimeoutError("timed out"),
        RuntimeError("unexpected"),
        pymysql.OperationalError(2013, "Lost connection to MySQL server during query"),
        pymysql.OperationalError(1053, "Server shutdown in progress"),
        pymysql.InterfaceError(0, ""),
    ],
)
def test_other_error_leaves_the_outcome_of_a_commit_unknown(error):
    assert not is_rolled_back(error)
    assert not is_rolled_back(wrapped(error))


@pytest.mark.parametrize("text", ["database is locked", "database table is locked", "database or disk is full"])
def test_sqlite_refuses_before_its_commit_point(text):
    assert is_rolled_back(wrapped(sqlite3.OperationalError(text)))


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.InsufficientPrivilege("no"),
        of_pg8000("42P01"),
        sqlite3.OperationalError("attempt to write a readonly database"),
        ValueError("A string literal cannot contain NUL"),
        pymysql.OperationalError(1142, "UPDATE command denied"),
        pymysql.DataError(1406, "Data too long"),
    ],
)
def test_permanent_error_is_not_transient(error):
    assert not is_transient(error)


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError("reset"),
        pg8000.InterfaceError("network error"),
        pymysql.OperationalError(2006, "MySQL server has gone away"),
        pymysql.OperationalError(1290, "running with the --read-only option"),
    ],
)
def test_lost_connection_before_commit_is_transient(error):
    assert is_transient(error)


def test_reason_is_the_message_of_the_driver():
    assert reason_of(wrapped(of_pg8000("23505"))) == "the server's words"
    assert reason_of(wrapped(sqlite3.OperationalError("no such table: x"))) == "no such table: x"
    assert reason_of(wrapped(pymysql.OperationalError(1213, "Deadlock found"))) == "Deadlock found"
    assert reason_of(BrokenPipeError()) == "BrokenPipeError"
    assert "secret" not in reason_of(DBAPIError("update secret", None, Exception("words")))


def test_connection_is_kept_after_an_error_that_the_database_reported():
    assert is_reported_by_database(wrapped(psycopg.errors.UniqueViolation("x")))
    assert is_reported_by_database(wrapped(pymysql.IntegrityError(1062, "Duplicate entry")))
    assert not is_reported_by_database(wrapped(pymysql.OperationalError(2013, "Lost connection")))
    assert not is_reported_by_database(ConnectionResetError(104, "reset"))


def test_only_errors_of_the_database_have_a_sqlstate():
    assert sqlstate(wrapped(psycopg.errors.UniqueViolation("x"))) == "23505"
    assert sqlstate(wrapped(psycopg.OperationalError("lost"))) is None
    assert sqlstate(ConnectionResetError("reset")) is None
