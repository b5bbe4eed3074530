"""A catalog in a SQL database: embedded SQLite, or a server that other engines share."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select, update

from icefloe.catalog import sql_namespaces
from icefloe.catalog.catalog import PropertiesUpdateSummary, check_property_changes
from icefloe.catalog.identifiers import SEPARATOR, dotted, to_identifier
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.catalog.pointer_catalog import PointerCatalog
from icefloe.catalog.sql_database import TABLE_TYPE, Database, layout, tables
from icefloe.catalog.sql_errors import CommitUnansweredError, DuplicateKeyError, StatementFailedError
from icefloe.catalog.sql_namespaces import EXISTS
from icefloe.exceptions import (
    CommitFailedException,
    IcebergError,
    InvalidIdentifierError,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from icefloe.typedef import Identifier, Properties

Result = TypeVar("Result")


class SqlCatalog(PointerCatalog):
    """Tables as rows of `iceberg_tables`, as other engines' JDBC and SQL catalogs keep them.

    A connection that is lost while a change is committed leaves the outcome in doubt. On PostgreSQL, the state of the
    transaction is asked for on a new connection, and decides. Other databases are asked whether the change is in place.
    Where neither gives an answer, CommitStateUnknownException is raised and no file is deleted.

    Args:
        name: The catalog's name. It is part of every row's key: engines that share tables must use the same one.
        **properties: `uri` (SQLAlchemy URL), `warehouse` (where new tables go), `echo` (log statements),
            `init_catalog_tables` (default true: create the two tables when they are missing), and storage properties.

    Raises:
        ValidationError: `uri` is missing or is no database URL, or its driver is not installed.
        StorageError: The database cannot be reached.

    Example:
        >>> import tempfile
        >>> directory = tempfile.mkdtemp()
        >>> catalog = SqlCatalog("local", uri=f"sqlite:///{directory}/catalog.db", warehouse=directory)
        >>> catalog.create_namespace("db")
        >>> catalog.list_namespaces()
        [('db',)]
    """

    def __init__(self, name: str, **properties: str) -> None:
        super().__init__(name, **properties)
        uri = properties.get("uri")
        if uri is None:
            raise ValidationError(f"catalog {name!r} needs a property 'uri', such as sqlite:////data/catalog.db")
        self._database = Database(uri, echo=properties.get("echo", "false").lower() == "true")
        if properties.get("init_catalog_tables", "true").lower() == "true":
            self._database.create_tables()
        self._typed: bool | None = None

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine of this process."""
        return self._database.engine

    def create_tables(self) -> None:
        """Create the catalog's two tables where they are missing."""
        self._database.create_tables()

    def destroy_tables(self) -> None:
        """Drop the catalog's two tables: every catalog in this database is forgotten."""
        self._settled(
            f"catalog {self.name!r}: removal of its tables",
            lambda: self._transact(layout.drop_all),
            seen=lambda: False,
        )

    def close(self) -> None:  # noqa: D102 - described by the interface
        self._database.close()

    # ---- pointers

    def _pointer(self, namespace: Identifier, name: str) -> str | None:
        query = select(tables.c.metadata_location).where(self._key(namespace, name))
        with self._database.reading() as connection:
            row = connection.execute(query).first()
        return None if row is None else str(row[0])

    def _insert(self, namespace: Identifier, name: str, location: str) -> None:
        row: dict[str, str | None] = {
            "catalog_name": self.name,
            "table_namespace": dotted(namespace),
            "table_name": name,
            "metadata_location": location,
            "previous_metadata_location": None,
        }
        if self._has_types():
            row["iceberg_type"] = TABLE_TYPE

        def insert_row(connection: Connection) -> None:
            self._hold(connection, namespace)
            connection.execute(insert(tables).values(row))

        self._transact(insert_row, duplicate=self._taken(namespace, name))

    def _swap(self, namespace: Identifier, name: str, old: str, new: str) -> None:
        table = f"table {dotted((*namespace, name))}"
        guarded = update(tables).where(self._key(namespace, name), tables.c.metadata_location == old)

        def swap(connection: Connection) -> None:
            values = {"metadata_location": new, "previous_metadata_location": old}
            if connection.execute(guarded.values(values)).rowcount != 1:
                raise CommitFailedException(f"{table}: another commit was first; refresh and retry")

        self._transact(swap, transient=CommitFailedException)

    def _remove(self, namespace: Identifier, name: str, location: str | None = None) -> None:
        guard = self._key(namespace, name)
        if location is not None:
            guard = and_(guard, tables.c.metadata_location == location)

        def delete_row(connection: Connection) -> bool:
            return bool(connection.execute(delete(tables).where(guard)).rowcount == 1)

        if self._transact(delete_row):
            return
        if location is not None and self._pointer(namespace, name) is not None:
            raise CommitFailedException(f"table {dotted((*namespace, name))}: another commit was first; try again")
        raise self._missing(namespace, name)

    def _rename(self, old: tuple[Identifier, str], new: tuple[Identifier, str]) -> None:
        row = update(tables).where(self._key(*old))

        def rename_row(connection: Connection) -> None:
            self._hold(connection, new[0])
            if connection.execute(row.values(table_namespace=dotted(new[0]), table_name=new[1])).rowcount != 1:
                raise self._missing(*old)

        self._transact(rename_row, duplicate=self._taken(*new))

    # ---- names

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102
        levels = self._existing(namespace)
        query = select(tables.c.table_name).where(
            tables.c.catalog_name == self.name, tables.c.table_namespace == dotted(levels), self._is_table()
        )
        with self._database.reading() as connection:
            return sorted((*levels, str(row[0])) for row in connection.execute(query))

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        levels = to_identifier(namespace)
        if not levels:
            raise InvalidIdentifierError("Empty namespace identifier: a namespace needs a name")
        split = [level for level in levels if SEPARATOR in level]
        if split:
            raise ValidationError(
                f"namespace level {split[0]!r}: SQL catalogs separate levels by dots; give each level by itself"
            )
        taken = NamespaceAlreadyExistsError(f"Namespace {dotted(levels)} already exists in catalog {self.name!r}")
        rows = {EXISTS: "true", **properties}

        def insert_rows(connection: Connection) -> None:
            if sql_namespaces.is_known(connection, self.name, levels):
                raise taken
            sql_namespaces.add(connection, self.name, levels, rows)

        self._settled(
            f"namespace {dotted(levels)}: creation",
            lambda: self._transact(insert_rows, duplicate=taken),
            seen=lambda: self._stored_properties(levels) == rows,
        )

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = to_identifier(namespace)

        def delete_rows(connection: Connection) -> None:
            # Creators of tables wait for this, or this for them; what they created is then seen.
            self._hold(connection, levels)
            sql_namespaces.remove(connection, self.name, levels)
            if sql_namespaces.is_known(connection, self.name, levels):
                raise NamespaceNotEmptyError(
                    f"Namespace {dotted(levels)} is not empty: it holds tables, views or namespaces; drop them first"
                )

        self._settled(
            f"namespace {dotted(levels)}: removal",
            lambda: self._transact(delete_rows),
            seen=lambda: not self._namespace_known(levels),
        )

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        above = self._existing(namespace) if namespace not in ((), "") else ()
        with self._database.reading() as connection:
            names = sql_namespaces.names(connection, self.name)
        depth = len(above) + 1
        every = (tuple(name.split(SEPARATOR)) for name in names)
        return sorted({levels[:depth] for levels in every if len(levels) >= depth and levels[: depth - 1] == above})

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: D102
        stored = self._stored_properties(self._existing(namespace))
        return {key: value for key, value in stored.items() if key != EXISTS}

    def update_namespace_properties(  # noqa: D102
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        gone = removals if removals is not None else set()
        check_property_changes(gone, updates)
        levels = to_identifier(namespace)

        def change(connection: Connection) -> PropertiesUpdateSummary:
            self._hold(connection, levels)
            before = sql_namespaces.change(connection, self.name, levels, gone, updates)
            present = gone & (set(before) - {EXISTS})
            return PropertiesUpdateSummary(sorted(present), sorted(updates), sorted(gone - present))

        def is_changed() -> bool:
            stored = self._stored_properties(levels)
            return not gone & set(stored) and all(stored.get(key) == updates[key] for key in updates)

        return self._settled(
            f"namespace {dotted(levels)}: change of properties", lambda: self._transact(change), seen=is_changed
        )

    # ---- how

    def _transact(
        self,
        work: Callable[[Connection], Result],
        *,
        duplicate: IcebergError | None = None,
        transient: type[IcebergError] = StorageError,
    ) -> Result:
        """Run `work` in one transaction.

        Args:
            work: Runs statements; raises what icefloe reports where they do not find what they need.
            duplicate: Raised when a row exists already.
            transient: Raised when the transaction failed and may succeed when it is tried again.

        Raises:
            CommitFailedException: The transaction met another one. Nothing has changed.
            StorageError: The database failed or refused it. Nothing has changed.
            OutcomeUnknownError: The transaction may or may not have been committed.
        """
        try:
            return self._database.write(work)
        except DuplicateKeyError as error:
            if duplicate is None:
                raise CommitFailedException(
                    f"catalog {self.name!r}: another change was first; try again: {error}"
                ) from error.__cause__
            raise duplicate from error.__cause__
        except StatementFailedError as error:
            kind = CommitFailedException if error.is_conflict else transient if error.is_transient else StorageError
            raise kind(f"catalog {self.name!r}: nothing has changed: {error}") from error.__cause__
        except CommitUnansweredError as error:
            transaction = error.transaction
            raise OutcomeUnknownError(
                str(error), error.result, lambda: self._database.outcome(transaction)
            ) from error.__cause__

    def _hold(self, connection: Connection, levels: Identifier) -> None:
        """Keep a namespace from being dropped until the transaction ends."""
        if not sql_namespaces.hold(connection, self.name, levels):
            raise self._no_namespace(levels)

    def _existing(self, namespace: str | Identifier) -> Identifier:
        levels = to_identifier(namespace)
        if not levels or not self._namespace_known(levels):
            raise self._no_namespace(levels)
        return levels

    def _namespace_known(self, levels: Identifier) -> bool:
        with self._database.reading() as connection:
            return sql_namespaces.is_known(connection, self.name, levels)

    def _stored_properties(self, levels: Identifier) -> dict[str, str]:
        with self._database.reading() as connection:
            return sql_namespaces.stored_properties(connection, self.name, levels)

    def _key(self, namespace: Identifier, name: str) -> ColumnElement[bool]:
        return and_(
            tables.c.catalog_name == self.name,
            tables.c.table_namespace == dotted(namespace),
            tables.c.table_name == name,
            self._is_table(),
        )

    def _is_table(self) -> ColumnElement[bool]:
        if not self._has_types():
            return tables.c.table_name.is_not(None)
        return or_(tables.c.iceberg_type == TABLE_TYPE, tables.c.iceberg_type.is_(None))

    def _has_types(self) -> bool:
        if self._typed is None:
            self._typed = self._database.has_type_column()
        return self._typed

    def _no_namespace(self, levels: Identifier) -> NoSuchNamespaceError:
        return NoSuchNamespaceError(
            f"Namespace does not exist: {dotted(levels)} in catalog {self.name!r}; create it with create_namespace()"
        )

    def _missing(self, namespace: Identifier, name: str) -> NoSuchTableError:
        return NoSuchTableError(
            f"Table does not exist: {dotted((*namespace, name))} in catalog {self.name!r}; list_tables() shows those it has"
        )

    def _taken(self, namespace: Identifier, name: str) -> TableAlreadyExistsError:
        return TableAlreadyExistsError(f"Table {dotted((*namespace, name))} already exists in catalog {self.name!r}")
