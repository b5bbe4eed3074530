"""The interface of a catalog, which maps table names to metadata locations and swaps a location atomically."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.arguments import checked_text
from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.catalog.table_creation import TableCreation
from icefloe.exceptions import (
    InvalidIdentifierError,
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    NoSuchTableError,
    ValidationError,
)
from icefloe.io import FileIO, current_directory, load_file_io
from icefloe.table.properties import properties_as_text
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from icefloe.table import Table
    from icefloe.table.commit.committing_table import CommitTableResponse
    from icefloe.table.update import TableRequirement, TableUpdate


@dataclass(frozen=True)
class PropertiesUpdateSummary:
    """The result of an update of namespace properties.

    Attributes:
        removed: Keys that were removed.
        updated: Keys that were set.
        missing: Keys to remove that were not set.
    """

    removed: list[str]
    updated: list[str]
    missing: list[str]


class Catalog(TableCreation):
    """A collection of namespaces and tables.

    Every method raises StorageError, with its cause, if the catalog's database or storage fails. The change has not taken effect
    then. If that is not certain, the method raises CommitStateUnknownException and deletes no file.

    Args:
        name: The catalog's name. SQL catalogs store it with each table, so all engines must use the same one.
        **properties: Settings of the catalog and of the storage behind it.
    """

    def __init__(self, name: str, **properties: str) -> None:
        self.name = checked_text("name of a catalog", name)
        self.properties: Properties = dict(properties)
        self._working_directory = current_directory()
        if (warehouse := properties.get("warehouse")) is not None:
            self.properties["warehouse"] = self.absolute(warehouse)

    # ---- tables

    @abstractmethod
    def drop_table(self, identifier: str | Identifier) -> None:
        """Remove a table from the catalog. Only a hadoop catalog, whose tables are directories, deletes its files as well.

        Raises:
            NoSuchTableError: The table does not exist.
        """

    @abstractmethod
    def purge_table(self, identifier: str | Identifier) -> None:
        """Remove a table from the catalog and delete its files.

        Raises:
            NoSuchTableError: The table does not exist.
            ValidationError: The table's property `gc.enabled` is false.
        """

    @abstractmethod
    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:
        """Rename a table and return it. Its files are not moved; a rename to its own name changes nothing.

        Raises:
            NoSuchTableError: The table does not exist.
            NoSuchNamespaceError: The new name's namespace does not exist.
            TableAlreadyExistsError: A table of the new name exists.
        """

    @abstractmethod
    def register_table(self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False) -> Table:
        """Add an existing table to the catalog.

        Args:
            identifier: The table's name in this catalog.
            metadata_location: The table's newest metadata file.
            overwrite: Whether to replace a table of the same name.

        Raises:
            TableAlreadyExistsError: A table of this name exists and `overwrite` is false.
        """

    @abstractmethod
    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        """Return the identifiers of the tables of a namespace, sorted.

        Raises:
            NoSuchNamespaceError: The namespace does not exist.
        """

    @abstractmethod
    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Check the requirements on the newest version of the table, apply the updates and swap the metadata location.

        Raises:
            CommitFailedException: A concurrent commit was first, or a requirement does not hold. Nothing has changed.
            CommitStateUnknownException: The swap may or may not have happened. Nothing was cleaned up.
            NoSuchTableError: The table does not exist any more.
        """

    # ---- namespaces

    @abstractmethod
    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:
        """Create a namespace.

        Raises:
            NamespaceAlreadyExistsError: The namespace exists.
        """

    @abstractmethod
    def drop_namespace(self, namespace: str | Identifier) -> None:
        """Drop an empty namespace.

        Raises:
            NoSuchNamespaceError: The namespace does not exist.
            NamespaceNotEmptyError: The namespace contains tables or namespaces.
        """

    @abstractmethod
    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        """Return the namespaces directly below `namespace`, sorted; by default the top-level namespaces."""

    @abstractmethod
    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        """Return the properties of a namespace.

        Raises:
            NoSuchNamespaceError: The namespace does not exist.
        """

    @abstractmethod
    def update_namespace_properties(
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        """Remove and set properties of a namespace.

        Raises:
            NoSuchNamespaceError: The namespace does not exist.
            ValidationError: A key is in both `removals` and `updates`.
        """

    # ---- implemented by the methods above

    def table_exists(self, identifier: str | Identifier) -> bool:
        """Return whether a table exists."""
        try:
            self.load_table(identifier)
        except NoSuchTableError:
            return False
        return True

    def namespace_exists(self, namespace: str | Identifier) -> bool:
        """Return whether a namespace exists."""
        if not isinstance(namespace, str):
            to_identifier(namespace)
        try:
            self.load_namespace_properties(namespace)
        except NoSuchNamespaceError:
            return False
        return True

    def create_namespace_if_not_exists(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:
        """Create a namespace if it does not exist."""
        try:
            self.create_namespace(namespace, properties)
        except NamespaceAlreadyExistsError:
            return

    def close(self) -> None:
        """Close all connections. The catalog cannot be used afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @staticmethod
    def identifier_to_tuple(identifier: str | Identifier) -> Identifier:
        """Return the levels of a name.

        Examples:
            >>> Catalog.identifier_to_tuple("db.events")
            ('db', 'events')
        """
        return to_identifier(identifier)

    @staticmethod
    def namespace_to_string(
        identifier: str | Identifier, err: type[ValueError | NoSuchNamespaceError] = ValueError
    ) -> str:
        """Return a namespace as dotted text; raise `err` if it or one of its levels is empty.

        Examples:
            >>> Catalog.namespace_to_string(("a", "b"))
            'a.b'
        """
        levels = Catalog.identifier_to_tuple(identifier)
        if not levels:
            raise err("Empty namespace identifier")
        return ".".join(levels)

    @staticmethod
    def identifier_to_database(
        identifier: str | Identifier, err: type[ValueError | NoSuchNamespaceError] = ValueError
    ) -> str:
        """Return the only level of a namespace; raise `err` if it has none or several."""
        levels = Catalog.identifier_to_tuple(identifier)
        if len(levels) != 1:
            raise err(f"Invalid database, hierarchical namespaces are not supported: {identifier}")
        return levels[0]

    @staticmethod
    def identifier_to_database_and_table(
        identifier: str | Identifier,
        err: type[ValueError | NoSuchTableError | NoSuchNamespaceError] = ValueError,
    ) -> tuple[str, str]:
        """Return the two levels of a table's name; raise `err` if it has more or fewer."""
        levels = Catalog.identifier_to_tuple(identifier)
        if len(levels) != 2:
            raise err(f"Invalid path, hierarchical namespaces are not supported: {identifier}")
        return levels[0], levels[1]

    @staticmethod
    def table_name_from(identifier: str | Identifier) -> str:
        """Return the last level of a name.

        Examples:
            >>> Catalog.table_name_from("db.events")
            'events'
        """
        levels = to_identifier(identifier)
        if not levels:
            raise InvalidIdentifierError(f"table name: expected a name such as 'db.events', got {identifier!r}")
        return levels[-1]

    @staticmethod
    def namespace_from(identifier: str | Identifier) -> Identifier:
        """Return all levels of a name but the last.

        Examples:
            >>> Catalog.namespace_from("db.events")
            ('db',)
        """
        return to_identifier(identifier)[:-1]

    def file_io(self, location: str | None = None) -> FileIO:
        """Return the storage of tables in this catalog."""
        if location is not None:
            checked_text("location", location)
        return load_file_io(self.properties, location, self._working_directory)

    def absolute(self, location: str) -> str:
        """Return an absolute location; a relative path starts from the working directory in which the catalog was opened.

        Raises:
            ValidationError: The location is not text, or is empty.
        """
        if not isinstance(location, str) or location == "":
            raise ValidationError(f"location: expected text such as 's3://bucket/table', got {location!r}")
        return self.file_io(location).core.absolute(location)

    def check_location(self, table: Table) -> None:
        """Raise if a table was moved away from the location in its metadata; writers call this before they write files.

        Raises:
            ValidationError: The table is not at the location in its metadata.
        """


def new_table_location(catalog: Catalog, identifier: str | Identifier, location: str | None) -> str:
    """Return the location of a new table: `location`, or `<warehouse>/<namespace levels>/<table>`.

    Raises:
        ValidationError: There is neither a location nor a warehouse, or a name is not a valid directory name.
    """
    if location is not None:
        own = catalog.absolute(location).rstrip("/")
        if own == "":
            raise ValidationError(f"location: expected a directory such as 's3://bucket/table', got {location!r}")
        return own
    namespace, name = split_table_identifier(identifier)
    warehouse = catalog.properties.get("warehouse")
    if warehouse is None:
        raise ValidationError(
            f"table {dotted(identifier)}: no location; pass location=, or set the property 'warehouse' of catalog {catalog.name!r}"
        )
    for level in (*namespace, name):
        if "/" in level or level in (".", ".."):
            raise ValidationError(
                f"table {dotted(identifier)}: {level!r} is not a valid directory name below the warehouse; pass location="
            )
    return "/".join([warehouse.rstrip("/"), *namespace, name])


def property_changes(removals: object, updates: Properties) -> tuple[set[str], Properties]:
    """Return changes of namespace properties, with numbers and booleans as text.

    Args:
        removals: Keys to remove, None for none.
        updates: Values to set.

    Raises:
        ValidationError: A key is both removed and set, or an argument has another type.
    """
    removed = set(removals) if isinstance(removals, AbstractSet | list | tuple) else None
    if removals is not None and (removed is None or not all(isinstance(key, str) for key in removed)):
        raise ValidationError(
            f"namespace properties: expected a set of names to remove, got {removals!r}; pass removals={{'name'}}"
        )
    texts = properties_as_text(updates)
    both = sorted((removed or set()) & set(texts))
    if both:
        raise ValidationError(
            f"cannot both remove and set namespace properties {', '.join(both)}; pass each in removals or in updates"
        )
    return removed if removed is not None else set(), texts
