"""The two tables of a SQL catalog, and the connection to the database that holds them.

The layout is the one that other engines' JDBC and SQL catalogs share: version 1 has a column `iceberg_type`, version 0
has not; both are read and written.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import sqlalchemy
from sqlalchemy import Column, MetaData, String, Table
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool, StaticPool

from icefloe.exceptions import StorageError, ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import URL

BUSY_TIMEOUT_SECONDS = 60
TABLE_TYPE = "TABLE"

_layout = MetaData()
tables = Table(
    "iceberg_tables",
    _layout,
    Column("catalog_name", String(255), primary_key=True),
    Column("table_namespace", String(255), primary_key=True),
    Column("table_name", String(255), primary_key=True),
    Column("metadata_location", String(1000)),
    Column("previous_metadata_location", String(1000)),
    Column("iceberg_type", String(5)),
)
namespace_properties = Table(
    "iceberg_namespace_properties",
    _layout,
    Column("catalog_name", String(255), primary_key=True),
    Column("namespace", String(255), primary_key=True),
    Column("property_key", String(255), primary_key=True),
    Column("property_value", String(1000)),
)


class DuplicateKeyError(Exception):
    """A row with this key exists; internal to the SQL catalog."""


class StatementFailedError(Exception):
    """The database refused a statement, so nothing has changed; internal to the SQL catalog."""


class CommitUnansweredError(Exception):
    """The database did not answer a COMMIT, so it may or may not hold; internal to the SQL catalog."""


class Database:
    """One database. Engines are made when first used and never shared with a forked child.

    Args:
        uri: SQLAlchemy URL, such as `sqlite:////data/catalog.db`.
        echo: Whether statements are logged.
    """

    def __init__(self, uri: str, *, echo: bool = False) -> None:
        self._url = _parsed(uri)
        self._echo = echo
        self._engines: dict[int, Engine] = {}

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine of this process."""
        engine = self._engines.get(os.getpid())
        if engine is None:
            engine = _engine(self._url, echo=self._echo)
            self._engines[os.getpid()] = engine
        return engine

    def close(self) -> None:
        """Close the connections of this process."""
        engine = self._engines.pop(os.getpid(), None)
        if engine is not None:
            engine.dispose()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection for queries.

        Raises:
            StorageError: The database cannot be reached or asked.
        """
        try:
            with self.engine.connect() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise StorageError(f"catalog database {self._url!r}: {_reason(error)}") from error

    def write(self, *statements: Any) -> int:
        """Run statements in one transaction; return how many rows the last one changed.

        Raises:
            DuplicateKeyError: A row exists already. Nothing has changed.
            StatementFailedError: The database refused a statement. Nothing has changed.
            CommitUnansweredError: The transaction may or may not have been committed.
        """
        changed = 0
        try:
            with self.engine.connect() as connection:
                for statement in statements:
                    changed = connection.execute(statement).rowcount
                self.commit(connection)
        except IntegrityError as error:
            raise DuplicateKeyError(_reason(error)) from error
        except SQLAlchemyError as error:
            raise StatementFailedError(_reason(error)) from error
        return changed

    def commit(self, connection: Connection) -> None:
        """Commit, telling a refusal from a lost answer.

        SQLite answers "locked" from this process: the transaction is open still and rolls back when the connection closes.
        """
        try:
            connection.commit()
        except OperationalError as error:
            if self._url.get_backend_name() == "sqlite":
                raise
            raise CommitUnansweredError(_reason(error)) from error

    def create_tables(self) -> None:
        """Create what is missing. Several processes may do so at once."""
        try:
            _layout.create_all(self.engine)
        except SQLAlchemyError as error:
            if not self._has_tables():
                raise StorageError(f"catalog database {self._url!r}: {_reason(error)}") from error

    def drop_tables(self) -> None:
        """Drop both tables, and with them the memory of every catalog in this database."""
        try:
            _layout.drop_all(self.engine)
        except SQLAlchemyError as error:
            raise StorageError(f"catalog database {self._url!r}: {_reason(error)}") from error

    def has_type_column(self) -> bool:
        """Whether the layout is version 1."""
        with self.reading() as connection:
            columns = sqlalchemy.inspect(connection).get_columns(tables.name)
        return any(column["name"] == "iceberg_type" for column in columns)

    def _has_tables(self) -> bool:
        with self.reading() as connection:
            present = set(sqlalchemy.inspect(connection).get_table_names())
        return {tables.name, namespace_properties.name} <= present


def _parsed(uri: str) -> URL:
    try:
        return sqlalchemy.make_url(uri)
    except ArgumentError as error:
        raise ValidationError(
            "the catalog's 'uri' is no database URL; write it like sqlite:////data/catalog.db"
        ) from error


def _engine(url: URL, *, echo: bool) -> Engine:
    options: dict[str, Any] = {"echo": echo}
    if url.get_backend_name() == "sqlite":
        in_memory = url.database in (None, "", ":memory:")
        options["connect_args"] = {"timeout": BUSY_TIMEOUT_SECONDS}
        # Connections to a file are cheap, and one held open by a pool would keep others from committing.
        options["poolclass"] = StaticPool if in_memory else NullPool
        if in_memory:
            options["connect_args"]["check_same_thread"] = False
    else:
        options["pool_pre_ping"] = True
    try:
        return sqlalchemy.create_engine(url, **options)
    except (NoSuchModuleError, ArgumentError, ImportError) as error:
        raise ValidationError(f"no driver for the catalog database {url!r}: {error}") from error


def _reason(error: SQLAlchemyError) -> str:
    """Return what the driver said, without statement and parameters."""
    cause = getattr(error, "orig", None)
    return str(cause) if cause is not None else str(error)
