"""A catalog in a SQL database: embedded SQLite, or a server that other engines share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, and_, delete, insert, or_, select, update

from icefloe.catalog.catalog import PropertiesUpdateSummary, check_property_changes
from icefloe.catalog.identifiers import SEPARATOR, dotted, to_identifier
from icefloe.catalog.pointer_catalog import OutcomeUnknownError, PointerCatalog
from icefloe.catalog.sql_tables import (
    TABLE_TYPE,
    CommitUnansweredError,
    Database,
    DuplicateKeyError,
    StatementFailedError,
    namespace_properties,
    tables,
)
from icefloe.exceptions import (
    CommitFailedException,
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
    from sqlalchemy import Engine

    from icefloe.typedef import Identifier, Properties

EXISTS = "exists"


class SqlCatalog(PointerCatalog):
    """Tables as rows of `iceberg_tables`, as other engines' JDBC and SQL catalogs keep them.

    Args:
        name: The catalog's name. It is part of every row's key: engines that share tables must use the same one.
        **properties: `uri` (SQLAlchemy URL), `warehouse` (where new tables go), `echo` (log statements),
            `init_catalog_tables` (default true: create the two tables when they are missing), and storage properties.

    Raises:
        ValidationError: `uri` is missing or is no database URL.

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
        self._database.drop_tables()

    def close(self) -> None:  # noqa: D102 - described by the interface
        self._database.close()

    # ---- pointers

    def _pointer(self, namespace: Identifier, name: str) -> str | None:
        with self._database.reading() as connection:
            row = connection.execute(select(tables.c.metadata_location).where(self._key(namespace, name))).first()
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
        try:
            self._database.write(insert(tables).values(row))
        except DuplicateKeyError as error:
            raise TableAlreadyExistsError(
                f"catalog {self.name!r} already has a table {dotted((*namespace, name))}"
            ) from error
        except StatementFailedError as error:
            raise StorageError(
                f"catalog {self.name!r} could not add table {dotted((*namespace, name))}: {error}"
            ) from error
        except CommitUnansweredError as error:
            raise OutcomeUnknownError(str(error)) from error

    def _swap(self, namespace: Identifier, name: str, old: str, new: str) -> None:
        guarded = update(tables).where(self._key(namespace, name), tables.c.metadata_location == old)
        try:
            changed = self._database.write(guarded.values(metadata_location=new, previous_metadata_location=old))
        except (DuplicateKeyError, StatementFailedError) as error:
            raise CommitFailedException(
                f"table {dotted((*namespace, name))}: the catalog refused the commit: {error}"
            ) from error
        except CommitUnansweredError as error:
            raise OutcomeUnknownError(str(error)) from error
        if changed != 1:
            raise CommitFailedException(
                f"table {dotted((*namespace, name))}: another commit was first; refresh and retry"
            )

    def _remove(self, namespace: Identifier, name: str) -> None:
        changed = self._change(delete(tables).where(self._key(namespace, name)))
        if changed != 1:
            raise NoSuchTableError(f"catalog {self.name!r} has no table {dotted((*namespace, name))}")

    def _rename(self, old: tuple[Identifier, str], new: tuple[Identifier, str]) -> None:
        moved = update(tables).where(self._key(*old)).values(table_namespace=dotted(new[0]), table_name=new[1])
        try:
            changed = self._change(moved)
        except DuplicateKeyError as error:
            raise TableAlreadyExistsError(
                f"catalog {self.name!r} already has a table {dotted((*new[0], new[1]))}"
            ) from error
        if changed != 1:
            raise NoSuchTableError(f"catalog {self.name!r} has no table {dotted((*old[0], old[1]))}")

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
            raise ValidationError("a namespace needs a name")
        if self.namespace_exists(levels):
            raise NamespaceAlreadyExistsError(f"catalog {self.name!r} already has a namespace {dotted(levels)}")
        try:
            self._change(insert(namespace_properties).values(self._rows(levels, {EXISTS: "true", **properties})))
        except DuplicateKeyError as error:
            raise NamespaceAlreadyExistsError(
                f"catalog {self.name!r} already has a namespace {dotted(levels)}"
            ) from error

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = self._existing(namespace)
        if self.list_tables(levels) or self.list_namespaces(levels):
            raise NamespaceNotEmptyError(
                f"namespace {dotted(levels)} still holds tables or namespaces; drop them first"
            )
        self._change(delete(namespace_properties).where(self._namespace_key(levels)))

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        above = self._existing(namespace) if namespace not in ((), "") else ()
        with self._database.reading() as connection:
            names = {
                str(row[0])
                for owner, column in (
                    (tables.c.catalog_name, tables.c.table_namespace),
                    (namespace_properties.c.catalog_name, namespace_properties.c.namespace),
                )
                for row in connection.execute(select(column).where(owner == self.name).distinct())
            }
        depth = len(above) + 1
        every = (tuple(name.split(SEPARATOR)) for name in names)
        return sorted({levels[:depth] for levels in every if len(levels) >= depth and levels[: depth - 1] == above})

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: D102
        levels = self._existing(namespace)
        columns = namespace_properties.c
        with self._database.reading() as connection:
            rows = connection.execute(
                select(columns.property_key, columns.property_value).where(self._namespace_key(levels))
            ).all()
        return {str(key): str(value) for key, value in rows if key != EXISTS}

    def update_namespace_properties(  # noqa: D102
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        gone = removals if removals is not None else set()
        check_property_changes(gone, updates)
        levels = self._existing(namespace)
        present = set(self.load_namespace_properties(levels))
        replaced = sorted({*gone, *updates, EXISTS})
        self._change(
            delete(namespace_properties).where(
                self._namespace_key(levels), namespace_properties.c.property_key.in_(replaced)
            ),
            insert(namespace_properties).values(self._rows(levels, {EXISTS: "true", **updates})),
        )
        return PropertiesUpdateSummary(sorted(gone & present), sorted(updates), sorted(gone - present))

    # ---- how

    def _change(self, *statements: Any) -> int:
        """Run statements whose loss is visible to whoever looks, and so need no check of the outcome."""
        try:
            return self._database.write(*statements)
        except (StatementFailedError, CommitUnansweredError) as error:
            raise StorageError(f"catalog {self.name!r}: {error}") from error

    def _existing(self, namespace: str | Identifier) -> Identifier:
        levels = to_identifier(namespace)
        if not levels or not self._namespace_known(levels):
            raise NoSuchNamespaceError(
                f"catalog {self.name!r} has no namespace {dotted(levels)}; create it with create_namespace()"
            )
        return levels

    def _namespace_known(self, levels: Identifier) -> bool:
        """Whether there is such a namespace, one below it, or a table in one of these."""
        name = dotted(levels)
        below = _escaped(name) + SEPARATOR + "%"
        with self._database.reading() as connection:
            for owner, column in (
                (namespace_properties.c.catalog_name, namespace_properties.c.namespace),
                (tables.c.catalog_name, tables.c.table_namespace),
            ):
                query = select(column).where(owner == self.name, or_(column == name, column.like(below, escape="!")))
                if connection.execute(query.limit(1)).first() is not None:
                    return True
        return False

    def _rows(self, levels: Identifier, properties: Properties) -> list[dict[str, str]]:
        return [
            {"catalog_name": self.name, "namespace": dotted(levels), "property_key": key, "property_value": value}
            for key, value in properties.items()
        ]

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

    def _namespace_key(self, levels: Identifier) -> ColumnElement[bool]:
        return and_(
            namespace_properties.c.catalog_name == self.name, namespace_properties.c.namespace == dotted(levels)
        )


def _escaped(name: str) -> str:
    return name.replace("!", "!!").replace("%", "!%").replace("_", "!_")
