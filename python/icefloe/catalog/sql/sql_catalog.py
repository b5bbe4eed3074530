"""A catalog in a SQL database: SQLite, or a server that other engines share."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import and_, delete, insert, select, update

from icefloe.catalog.catalog import PropertiesUpdateSummary, property_changes
from icefloe.catalog.identifiers import SEPARATOR, dotted, to_identifier
from icefloe.catalog.outcome import OutcomeUnknownError
from icefloe.catalog.pointer_catalog import PointerCatalog
from icefloe.catalog.sql import namespaces as sql_namespaces
from icefloe.catalog.sql.database import Database
from icefloe.catalog.sql.errors import CommitUnansweredError, DuplicateKeyError, StatementFailedError
from icefloe.catalog.sql.layout import KEY_LENGTH, TABLE_TYPE, V0, V1, exactly, layout, layout_without_types, tables
from icefloe.catalog.sql.namespaces import EXISTS
from icefloe.catalog.sql.statements import is_key, is_table, select_location, table_key, update_location
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
from icefloe.table.properties import properties_as_text
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

    from icefloe.catalog.catalog import Catalog
    from icefloe.catalog.pointer_catalog import StoredVersion
    from icefloe.typedef import Identifier, Properties

SCHEMA_VERSION = "jdbc.schema-version"

Result = TypeVar("Result")


class SqlCatalog(PointerCatalog):
    """A catalog in the database tables that JDBC and SQL catalogs of other engines use.

    The outcome is unknown if the connection is lost while a change is committed. On PostgreSQL, the catalog then queries the state
    of the transaction on a new connection. On other databases it reads the change back. If neither determines the outcome,
    CommitStateUnknownException is raised and no file is deleted.

    Args:
        name: The catalog's name, a part of the key of every row: engines that share tables must use the same name.
        **properties: `uri` (SQLAlchemy URL), `warehouse` (the directory of new tables), `echo` (log statements),
            `init_catalog_tables` (default true: create missing database tables), `pool_pre_ping` (without effect: connections are
            always checked), `jdbc.schema-version` (V0 creates tables without views, V1 adds the column of the type to tables
            that lack it; by default, tables are created as V1 and left as they are), and storage properties.

    Raises:
        ValidationError: `uri` is missing or not a database URL, its driver is not installed, or another property is invalid.
        StorageError: The database cannot be reached.

    Examples:
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
            raise ValidationError(
                f"catalog {name!r}: property 'uri' is missing; expected a database URL such as sqlite:////data/catalog.db"
            )
        echo, creates_tables = self._flag("echo", "false"), self._flag("init_catalog_tables", "true")
        # Every connection is checked before its use, whatever PyIceberg's property says.
        self._flag("pool_pre_ping", "true")
        self._version = _layout_version(self)
        self._database = Database(uri, echo=echo)
        if creates_tables:
            self.create_tables()
        if self._version == V1:
            self._database.add_type_column()
        self._has_type_column = False

    @property
    def engine(self) -> Engine:
        """The SQLAlchemy engine of this process."""
        return self._database.engine

    def create_tables(self) -> None:
        """Create missing tables of the catalog in the database."""
        self._database.create_tables(layout_without_types if self._version == V0 else layout)

    def destroy_tables(self) -> None:
        """Drop the catalog's tables in the database, and with them every catalog in it."""
        self._run(
            f"catalog {self.name!r}: removal of its tables",
            lambda: self._transact(layout.drop_all),
            is_visible=lambda: False,
        )

    def close(self) -> None:  # noqa: D102 - described by the interface
        self._database.close()

    # ---- pointers

    def _pointer(self, namespace: Identifier, name: str) -> str | None:
        query = select_location(has_types=self._has_types())
        with self._database.reading() as connection:
            row = connection.execute(query, table_key(self.name, namespace, name)).first()
        return None if row is None else str(row[0])

    def _insert(self, namespace: Identifier, name: str, new: StoredVersion) -> None:
        _check_length(dotted(namespace), name)
        row: dict[str, str | None] = {
            "catalog_name": self.name,
            "table_namespace": dotted(namespace),
            "table_name": name,
            "metadata_location": new.location,
            "previous_metadata_location": None,
        }
        if self._has_types():
            row["iceberg_type"] = TABLE_TYPE

        def insert_row(connection: Connection) -> None:
            self._lock_namespace(connection, namespace)
            connection.execute(insert(tables).values(row))

        self._transact(insert_row, duplicate=lambda: self._taken(namespace, name))

    def _swap(self, namespace: Identifier, name: str, old: StoredVersion, new: StoredVersion) -> None:
        table = f"table {dotted((*namespace, name))}"
        guarded = update_location(has_types=self._has_types())
        parameters = {
            **table_key(self.name, namespace, name),
            "old_location": old.location,
            "new_location": new.location,
        }

        def swap(connection: Connection) -> None:
            if connection.execute(guarded, parameters).rowcount != 1:
                raise CommitFailedException(f"{table}: another commit was first; refresh and retry")

        self._transact(swap, transient=CommitFailedException)

    def _remove(self, namespace: Identifier, name: str, location: str | None = None) -> None:
        guard = is_key(has_types=self._has_types())
        if location is not None:
            guard = and_(guard, exactly(tables.c.metadata_location, location))

        def delete_row(connection: Connection) -> bool:
            row = table_key(self.name, namespace, name)
            return bool(connection.execute(delete(tables).where(guard), row).rowcount == 1)

        if self._transact(delete_row):
            return
        if location is not None and self._pointer(namespace, name) is not None:
            raise CommitFailedException(
                f"table {dotted((*namespace, name))}: another commit was first; repeat the operation"
            )
        raise self._missing(namespace, name)

    def _rename(self, old: tuple[Identifier, str], new: tuple[Identifier, str]) -> None:
        _check_length(dotted(new[0]), new[1])
        row = update(tables).where(is_key(has_types=self._has_types()))

        def rename_row(connection: Connection) -> None:
            self._lock_namespace(connection, new[0])
            renamed = row.values(table_namespace=dotted(new[0]), table_name=new[1])
            if connection.execute(renamed, table_key(self.name, *old)).rowcount != 1:
                raise self._missing(*old)

        self._transact(rename_row, duplicate=lambda: self._taken(*new))

    # ---- names

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102
        levels = self._existing_namespace(namespace)
        query = select(tables.c.table_name).where(
            exactly(tables.c.catalog_name, self.name),
            exactly(tables.c.table_namespace, dotted(levels)),
            is_table(has_types=self._has_types()),
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
                f"namespace level {split[0]!r}: a level in a SQL catalog cannot contain a dot; pass a tuple with one element for each level"
            )
        texts = properties_as_text(properties)
        _check_length(dotted(levels), *texts)
        taken = NamespaceAlreadyExistsError(f"Namespace {dotted(levels)} already exists in catalog {self.name!r}")
        rows = {EXISTS: "true", **texts}

        def insert_rows(connection: Connection) -> None:
            if sql_namespaces.exists(connection, self.name, levels):
                raise taken
            sql_namespaces.add(connection, self.name, levels, rows)

        self._run(
            f"namespace {dotted(levels)}: creation",
            lambda: self._transact(insert_rows, duplicate=lambda: taken),
            is_visible=lambda: self._stored_properties(levels) == rows,
        )

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = to_identifier(namespace)

        def delete_rows(connection: Connection) -> None:
            # The lock orders this transaction with table creations, whose tables are visible below.
            self._lock_namespace(connection, levels)
            sql_namespaces.remove(connection, self.name, levels)
            if sql_namespaces.exists(connection, self.name, levels):
                raise NamespaceNotEmptyError(
                    f"Namespace {dotted(levels)} is not empty: it contains tables, views or namespaces; drop them first"
                )

        self._run(
            f"namespace {dotted(levels)}: removal",
            lambda: self._transact(delete_rows),
            is_visible=lambda: not self._has_namespace(levels),
        )

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        above = self._existing_namespace(namespace) if namespace not in ((), "") else ()
        with self._database.reading() as connection:
            names = sql_namespaces.names(connection, self.name)
        depth = len(above) + 1
        every = (tuple(name.split(SEPARATOR)) for name in names)
        return sorted({levels[:depth] for levels in every if len(levels) >= depth and levels[: depth - 1] == above})

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: D102
        stored = self._stored_properties(self._existing_namespace(namespace))
        return {key: value for key, value in stored.items() if key != EXISTS}

    def update_namespace_properties(  # noqa: D102
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        removed, texts = property_changes(removals, updates)
        levels = to_identifier(namespace)

        def change(connection: Connection) -> PropertiesUpdateSummary:
            self._lock_namespace(connection, levels)
            before = sql_namespaces.change(connection, self.name, levels, removed, texts)
            present = removed & (set(before) - {EXISTS})
            return PropertiesUpdateSummary(sorted(present), sorted(texts), sorted(removed - present))

        def is_changed() -> bool:
            stored = self._stored_properties(levels)
            return not removed & set(stored) and all(stored.get(key) == texts[key] for key in texts)

        return self._run(
            f"namespace {dotted(levels)}: change of properties", lambda: self._transact(change), is_visible=is_changed
        )

    # ---- internals

    def _flag(self, key: str, default: str) -> bool:
        text = self.properties.get(key, default)
        if text.lower() not in ("true", "false"):
            raise ValidationError(f"catalog {self.name!r}: property {key!r}: expected true or false, got {text!r}")
        return text.lower() == "true"

    def _transact(
        self,
        work: Callable[[Connection], Result],
        *,
        duplicate: Callable[[], IcebergError] | None = None,
        transient: type[IcebergError] = StorageError,
    ) -> Result:
        """Run `work` in one transaction.

        Args:
            work: Runs statements; raises IcebergError to roll back.
            duplicate: Returns the error to raise if a row already exists.
            transient: Raised if the transaction failed and may succeed when it is repeated.

        Raises:
            CommitFailedException: The transaction conflicted with another one. Nothing has changed.
            StorageError: The database reported an error. Nothing has changed.
            OutcomeUnknownError: The transaction may or may not have been committed.
        """
        try:
            return self._database.write(work)
        except DuplicateKeyError as error:
            if duplicate is None:
                raise CommitFailedException(
                    f"catalog {self.name!r}: another change was first; repeat the operation: {error}"
                ) from error.__cause__
            raise duplicate() from error.__cause__
        except StatementFailedError as error:
            kind = CommitFailedException if error.is_conflict else transient if error.is_transient else StorageError
            raise kind(f"catalog {self.name!r}: nothing has changed: {error}") from error.__cause__
        except CommitUnansweredError as error:
            transaction = error.transaction
            raise OutcomeUnknownError(
                str(error), error.result, lambda: self._database.outcome(transaction)
            ) from error.__cause__

    def _lock_namespace(self, connection: Connection, levels: Identifier) -> None:
        """Lock a namespace until the transaction ends, so that it cannot be dropped; raise if it does not exist."""
        if not sql_namespaces.lock(connection, self.name, levels):
            raise self._no_namespace(levels)

    def _existing_namespace(self, namespace: str | Identifier) -> Identifier:
        levels = to_identifier(namespace)
        if not levels or not self._has_namespace(levels):
            raise self._no_namespace(levels)
        return levels

    def _has_namespace(self, levels: Identifier) -> bool:
        with self._database.reading() as connection:
            return sql_namespaces.exists(connection, self.name, levels)

    def _stored_properties(self, levels: Identifier) -> dict[str, str]:
        with self._database.reading() as connection:
            return sql_namespaces.stored_properties(connection, self.name, levels)

    def _has_types(self) -> bool:
        # Another client may add the column, and views, at any time; no client removes it.
        if not self._has_type_column:
            self._has_type_column = self._database.has_type_column()
        return self._has_type_column

    def _no_namespace(self, levels: Identifier) -> NoSuchNamespaceError:
        return NoSuchNamespaceError(
            f"Namespace does not exist: {dotted(levels)} in catalog {self.name!r}; create it with create_namespace()"
        )

    def _missing(self, namespace: Identifier, name: str) -> NoSuchTableError:
        return NoSuchTableError(
            f"Table does not exist: {dotted((*namespace, name))} in catalog {self.name!r}; list_tables() returns its tables"
        )

    def _taken(self, namespace: Identifier, name: str) -> TableAlreadyExistsError:
        message = f"Table {dotted((*namespace, name))} already exists in catalog {self.name!r}"
        # Compared as the database compares keys, which may ignore case.
        query = select(tables.c.table_namespace, tables.c.table_name).where(
            tables.c.catalog_name == self.name,
            tables.c.table_namespace == dotted(namespace),
            tables.c.table_name == name,
        )
        with suppress(StorageError), self._database.reading() as connection:
            for row in connection.execute(query):
                if tuple(row) != (dotted(namespace), name):
                    message += (
                        f": this database does not distinguish its name from {row[0]}.{row[1]}; choose another name"
                    )
        return TableAlreadyExistsError(message)


def _layout_version(catalog: Catalog) -> str | None:
    """Return the layout that the property `jdbc.schema-version` requires, None without the property."""
    version = catalog.properties.get(SCHEMA_VERSION)
    if version is not None and version.upper() not in (V0, V1):
        raise ValidationError(
            f"catalog {catalog.name!r}: property {SCHEMA_VERSION!r}: expected {V0} or {V1}, got {version!r}"
        )
    return None if version is None else version.upper()


def _check_length(*keys: str) -> None:
    """Raise if a name or a property key does not fit into its column, which SQLite would not notice."""
    for key in keys:
        if len(key) > KEY_LENGTH:
            raise ValidationError(
                f"{key!r} is too long for a SQL catalog; expected at most {KEY_LENGTH} characters, got {len(key)}"
            )
