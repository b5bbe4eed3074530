"""The database of a SQL catalog: its tables, connections and transactions, and the outcome of a transaction."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

import sqlalchemy
from sqlalchemy import BigInteger, func, literal, select, text
from sqlalchemy.exc import ArgumentError, DisconnectionError, IntegrityError
from sqlalchemy.pool import NullPool, StaticPool

from icefloe.catalog.sql.errors import (
    CommitUnansweredError,
    DuplicateKeyError,
    StatementFailedError,
    driver_error,
    is_conflict,
    is_reported_by_database,
    is_rolled_back,
    is_transient,
    reason_of,
)
from icefloe.catalog.sql.layout import MYSQL_DIALECTS, TYPE_COLUMN, layout, tables, use_innodb
from icefloe.exceptions import IcebergError, StorageError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from sqlalchemy import Connection, Engine, MetaData
    from sqlalchemy.engine import URL

LOCK_TIMEOUT_SECONDS = 60
"""The wait for a lock of another transaction, unless the URL or the server states another. The server may hold the locks of a lost connection for hours."""
_MYSQL_DRIVERS = {"pymysql": "pymysql", "mysqldb": "MySQLdb"}
DRIVERS = {
    "postgresql": {name: name for name in ("psycopg", "psycopg2", "pg8000")},
    "mysql": _MYSQL_DRIVERS,
    "mariadb": _MYSQL_DRIVERS,
}
"""For each database server, SQLAlchemy's names of drivers and their modules, the preferred one first."""
EXTRAS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql"}

Result = TypeVar("Result")


class Database:
    """A database. SQLAlchemy engines are created on first use and not shared with forked children.

    Args:
        uri: SQLAlchemy URL, such as `sqlite:////data/catalog.db`.
        echo: Whether statements are logged.

    Raises:
        ValidationError: `uri` is not a database URL, or its driver is not installed.
    """

    def __init__(self, uri: str, *, echo: bool = False) -> None:
        self._url = _parsed(uri)
        self._echo = echo
        self._engines: dict[int, Engine] = {}
        self._locks: dict[int, threading.RLock] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the address, with its password: each process opens connections of its own.

        Raises:
            ValidationError: The database is in the memory of this process.
        """
        if _is_in_memory(self._url):
            raise ValidationError(
                f"catalog database {self._url!r}: cannot pickle it, since it is in the memory of this process; use a file, as in "
                "sqlite:////data/catalog.db"
            )
        return {"url": self._url, "echo": self._echo}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._url, self._echo = state["url"], state["echo"]
        self._engines, self._locks = {}, {}

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine of this process."""
        engine = self._engines.get(os.getpid())
        if engine is None:
            # Concurrent threads must get the same engine: an in-memory database is its engine's connection.
            engine = self._engines.setdefault(os.getpid(), _engine(self._url, echo=self._echo))
        return engine

    def close(self) -> None:
        """Close the connections of this process."""
        engine = self._engines.pop(os.getpid(), None)
        if engine is not None:
            with suppress(Exception):
                engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection for queries.

        Raises:
            StorageError: The database cannot be reached, or a query failed.
        """
        try:
            with self._connection() as connection:
                yield connection
        except IcebergError:
            raise
        # Drivers do not wrap errors of sockets.
        except Exception as error:  # noqa: BLE001
            raise self._failure(error) from driver_error(error)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """Run `work` in one transaction, commit, and return its result.

        An IcebergError from `work` rolls the transaction back and is raised unchanged.

        Raises:
            DuplicateKeyError: A row already exists. Nothing has changed.
            StatementFailedError: The transaction failed before COMMIT, or was rolled back by it. Nothing has changed.
            CommitUnansweredError: The transaction may or may not have been committed.
        """
        try:
            with self._connection() as connection:
                result = work(connection)
                transaction = self._transaction(connection)
                try:
                    connection.commit()
                except Exception as error:
                    if is_rolled_back(error):
                        raise
                    raise CommitUnansweredError(reason_of(error), transaction, result) from driver_error(error)
                return result
        except (IcebergError, CommitUnansweredError):
            raise
        except IntegrityError as error:
            raise DuplicateKeyError(reason_of(error)) from driver_error(error)
        # URLs cannot turn autocommit on, so a transaction that fails before COMMIT is sent has no effect.
        except Exception as error:  # noqa: BLE001
            raise StatementFailedError(
                reason_of(error), is_conflict=is_conflict(error), is_transient=is_transient(error)
            ) from driver_error(error)

    def outcome(self, transaction: int | None) -> bool | None:
        """Return whether a transaction was committed (True) or rolled back (False), or None if the database has no record.

        PostgreSQL records the state of recent transactions. A transaction whose COMMIT has not arrived is in progress.

        Raises:
            StorageError: The query failed.
        """
        if transaction is None:
            return None
        with self.reading() as connection:
            query = select(func.txid_status(literal(transaction, BigInteger)))
            state = connection.execute(query).scalar()
        return {"committed": True, "aborted": False}.get(str(state))

    def create_tables(self, version: MetaData) -> None:
        """Create missing tables of a version of the layout. Several processes may do so concurrently."""
        try:
            if self.engine.dialect.name in MYSQL_DIALECTS:
                use_innodb(version)
            version.create_all(self.engine)
        except IcebergError:
            raise
        except Exception as error:  # noqa: BLE001
            if not self._has_tables():
                raise self._failure(error) from driver_error(error)

    def add_type_column(self) -> None:
        """Upgrade tables of layout version 0 to version 1. Several processes may do so concurrently.

        Raises:
            StorageError: The database reported an error.
        """
        if self.has_type_column():
            return
        try:
            with self.engine.begin() as connection:
                connection.execute(text(f"ALTER TABLE {tables.name} ADD COLUMN {TYPE_COLUMN} VARCHAR(5)"))
        except Exception as error:  # noqa: BLE001
            if not self.has_type_column():
                raise self._failure(error) from driver_error(error)

    def has_type_column(self) -> bool:
        """Return whether the database has layout version 1."""
        with self.reading() as connection:
            columns = sqlalchemy.inspect(connection).get_columns(tables.name)
        return any(column["name"] == TYPE_COLUMN for column in columns)

    def _has_tables(self) -> bool:
        with self.reading() as connection:
            present = set(sqlalchemy.inspect(connection).get_table_names())
        return set(layout.tables) <= present

    def _transaction(self, connection: Connection) -> int | None:
        """Return the database's number of the transaction, or None if it has no such numbers."""
        if connection.dialect.name != "postgresql":
            return None
        return int(connection.execute(select(func.txid_current())).scalar_one())

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        with self._exclusive():
            connection = self.engine.connect()
            try:
                yield connection
            except BaseException as error:
                # The next user of a pooled connection must not receive a late reply.
                if not self._is_embedded and not isinstance(error, IcebergError) and not is_reported_by_database(error):
                    with suppress(Exception):
                        connection.invalidate()
                raise
            finally:
                # The transaction has ended: an error here does not change its outcome.
                with suppress(Exception):
                    connection.close()

    def _exclusive(self) -> AbstractContextManager[Any]:
        """Return a lock for in-memory databases, whose only connection all threads share."""
        if not _is_in_memory(self._url):
            return nullcontext()
        return self._locks.setdefault(os.getpid(), threading.RLock())

    @property
    def _is_embedded(self) -> bool:
        return self._url.get_backend_name() == "sqlite"

    def _failure(self, error: Exception) -> StorageError:
        return StorageError(f"catalog database {self._url!r}: {reason_of(error)}")


def _parsed(uri: str) -> URL:
    try:
        url = sqlalchemy.make_url(uri)
    except (ArgumentError, ValueError):
        # The cause may quote a part of the password.
        raise ValidationError(
            "catalog property 'uri' is not a database URL; expected a URL like sqlite:////data/catalog.db or "
            "postgresql://user:password@host:5432/db, with special characters of the password percent-encoded"
        ) from None
    if "autocommit" in url.query:
        raise ValidationError(
            f"catalog database {url!r}: a catalog needs transactions; remove 'autocommit' from the URL"
        )
    server = "postgresql" if url.drivername == "postgres" else url.drivername
    if server not in DRIVERS:
        return url
    # The default driver of a URL depends on the version of SQLAlchemy.
    for driver, module in DRIVERS[server].items():
        if find_spec(module) is not None:
            return url.set(drivername=f"{server}+{driver}")
    raise ValidationError(
        f"no driver for the catalog database {url!r}; pip install 'icefloe[{EXTRAS[server]}]', or name an installed driver in the "
        f"URL, such as {server}+{list(DRIVERS[server])[1]}://"
    )


def _is_in_memory(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def _engine(url: URL, *, echo: bool) -> Engine:
    options: dict[str, Any] = {"echo": echo}
    is_server = url.drivername.split("+")[0] != "sqlite"
    if not is_server:
        in_memory = _is_in_memory(url)
        options["connect_args"] = {} if "timeout" in url.query else {"timeout": LOCK_TIMEOUT_SECONDS}
        # Connections to a file are cheap, and an open connection in a pool would block commits of others.
        options["poolclass"] = StaticPool if in_memory else NullPool
        if in_memory:
            options["connect_args"]["check_same_thread"] = False
    try:
        engine = sqlalchemy.create_engine(url, **options)
    except Exception as error:
        raise ValidationError(f"no driver for the catalog database {url!r}: {error}") from error
    if is_server:
        sqlalchemy.event.listen(engine, "checkout", _check_alive(engine))
        if engine.dialect.name in MYSQL_DIALECTS:
            sqlalchemy.event.listen(engine, "connect", _refuse_long_texts)
        elif engine.dialect.name == "postgresql":
            sqlalchemy.event.listen(engine, "connect", _limit_lock_waits)
    else:
        sqlalchemy.event.listen(engine, "connect", _sync_commits)
    return engine


def _sync_commits(connection: Any, record: Any) -> None:  # noqa: ARG001 - the arguments of the event
    """Make a SQLite commit survive a power cut: by default the removal of the journal, which commits, is not synced."""
    connection.execute("PRAGMA synchronous = EXTRA")


def _refuse_long_texts(connection: Any, record: Any) -> None:  # noqa: ARG001 - the arguments of the event
    """Make MySQL refuse texts that do not fit into their columns, which it truncates in servers without a strict mode."""
    cursor = connection.cursor()
    cursor.execute("SET SESSION sql_mode = CONCAT(@@SESSION.sql_mode, ',STRICT_ALL_TABLES')")
    cursor.close()


def _limit_lock_waits(connection: Any, record: Any) -> None:  # noqa: ARG001 - the arguments of the event
    """Limit the waits for locks in PostgreSQL, which are unlimited by default."""
    cursor = connection.cursor()
    cursor.execute(
        f"SELECT set_config('lock_timeout', '{LOCK_TIMEOUT_SECONDS}s', false) WHERE current_setting('lock_timeout') = '0'"
    )
    cursor.close()
    # A rollback would undo the setting.
    connection.commit()


def _check_alive(engine: Engine) -> Callable[[Any, Any, Any], None]:
    """Return a listener that makes the pool replace a broken connection.

    SQLAlchemy's own check ignores errors from outside the driver's module, such as ConnectionResetError.
    """

    def check(connection: Any, record: Any, proxy: Any) -> None:  # noqa: ARG001 - the arguments of the event
        try:
            engine.dialect.do_ping(connection)
        except Exception as error:
            raise DisconnectionError(reason_of(error)) from error

    return check
