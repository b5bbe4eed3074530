"""The interface of a catalog: names of tables to metadata locations, and the one atomic swap."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.exceptions import (
    NamespaceAlreadyExistsError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.io import FileIO, current_directory, load_file_io
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa
    from typing_extensions import Self

    from icefloe.schema import Schema
    from icefloe.table import Table
    from icefloe.table.commit.committing_table import CommitTableResponse
    from icefloe.table.update import TableRequirement, TableUpdate


@dataclass(frozen=True)
class PropertiesUpdateSummary:
    """What a change of namespace properties did.

    Attributes:
        removed: Keys that were removed.
        updated: Keys that were set.
        missing: Keys that were to be removed and were not there.
    """

    removed: list[str]
    updated: list[str]
    missing: list[str]


class Catalog(ABC):
    """A collection of namespaces and tables.

    Every method raises StorageError, with its cause, when the catalog's database or storage fails. A change then has not
    taken effect: where that is not certain, the method raises CommitStateUnknownException and deletes no file.

    Args:
        name: The catalog's name. SQL catalogs store it with each table, so all engines must use the same one.
        **properties: Settings of the catalog and of the storage behind it.
    """

    def __init__(self, name: str, **properties: str) -> None:
        self.name = name
        self.properties: Properties = dict(properties)
        self._working_directory = current_directory()
        if (warehouse := properties.get("warehouse")) is not None:
            self.properties["warehouse"] = self.absolute(warehouse)

    # ---- tables

    @abstractmethod
    def create_table(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        """Create an empty table. Column ids are assigned anew, from 1.

        Args:
            identifier: Namespace and name, such as `"db.events"`.
            schema: Columns, as an Iceberg or an Arrow schema.
            location: Where the table lives; the catalog chooses below its warehouse when None.
            partition_spec: How rows are partitioned; its source ids are those of `schema`.
            sort_order: How rows are sorted within files; its source ids are those of `schema`.
            properties: Table properties. `format-version` (default `2`) is taken out and obeyed.

        Raises:
            TableAlreadyExistsError: There is a table of this name.
            NoSuchNamespaceError: The namespace does not exist.
        """

    @abstractmethod
    def load_table(self, identifier: str | Identifier) -> Table:
        """Return the table as it is now.

        Raises:
            NoSuchTableError: There is no such table.
        """

    @abstractmethod
    def drop_table(self, identifier: str | Identifier) -> None:
        """Forget the table. A hadoop catalog, whose directories are its memory, deletes its files as well.

        Raises:
            NoSuchTableError: There is no such table.
        """

    @abstractmethod
    def purge_table(self, identifier: str | Identifier) -> None:
        """Forget the table and delete its files.

        Raises:
            NoSuchTableError: There is no such table.
            ValidationError: The table's property `gc.enabled` is false.
        """

    @abstractmethod
    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:
        """Give the table another name, and return it under that name. Its files stay where they are.

        Raises:
            NoSuchTableError: There is no such table.
            NoSuchNamespaceError: The new name's namespace does not exist.
            TableAlreadyExistsError: The new name is taken.
        """

    @abstractmethod
    def register_table(self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False) -> Table:
        """Add a table that exists on storage.

        Args:
            identifier: The name it gets here.
            metadata_location: Its newest metadata file.
            overwrite: Whether a table of that name is replaced.

        Raises:
            TableAlreadyExistsError: The name is taken and `overwrite` is false.
        """

    @abstractmethod
    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:
        """Return the identifiers of the tables of a namespace, sorted.

        Raises:
            NoSuchNamespaceError: There is no such namespace.
        """

    @abstractmethod
    def commit_table(
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        """Check the requirements on the table as it is now, apply the updates and swap the pointer.

        Raises:
            CommitFailedException: Somebody else was first, or a requirement does not hold. Nothing has changed.
            CommitStateUnknownException: The swap may or may not have happened. Nothing was cleaned up.
            NoSuchTableError: The table is gone.
        """

    # ---- namespaces

    @abstractmethod
    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:
        """Create a namespace.

        Raises:
            NamespaceAlreadyExistsError: It exists.
        """

    @abstractmethod
    def drop_namespace(self, namespace: str | Identifier) -> None:
        """Drop an empty namespace.

        Raises:
            NoSuchNamespaceError: There is no such namespace.
            NamespaceNotEmptyError: It holds tables or namespaces.
        """

    @abstractmethod
    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:
        """Return the namespaces directly below `namespace`, sorted; the top ones by default."""

    @abstractmethod
    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:
        """Return the properties of a namespace.

        Raises:
            NoSuchNamespaceError: There is no such namespace.
        """

    @abstractmethod
    def update_namespace_properties(
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        """Remove and set properties of a namespace.

        Raises:
            NoSuchNamespaceError: There is no such namespace.
            ValidationError: A key is both to be removed and to be set.
        """

    # ---- what follows from the above

    def create_table_if_not_exists(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        """Create a table, or load the one that has this name already, whatever its columns."""
        try:
            return self.create_table(identifier, schema, location, partition_spec, sort_order, properties)
        except TableAlreadyExistsError:
            return self.load_table(identifier)

    def create_table_transaction(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        """Not available yet: create the table, then use `table.transaction()`."""
        raise NotImplementedError("create_table_transaction: create the table, then use table.transaction()")

    def table_exists(self, identifier: str | Identifier) -> bool:
        """Whether there is a table of this name."""
        try:
            self.load_table(identifier)
        except NoSuchTableError:
            return False
        return True

    def namespace_exists(self, namespace: str | Identifier) -> bool:
        """Whether there is a namespace of this name."""
        try:
            self.load_namespace_properties(namespace)
        except NoSuchNamespaceError:
            return False
        return True

    def create_namespace_if_not_exists(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:
        """Create a namespace unless it exists."""
        try:
            self.create_namespace(namespace, properties)
        except NamespaceAlreadyExistsError:
            return

    def close(self) -> None:  # noqa: B027 - most catalogs hold nothing open
        """Give back connections. The catalog is of no further use."""

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

        Example:
            >>> Catalog.identifier_to_tuple("db.events")
            ('db', 'events')
        """
        return to_identifier(identifier)

    @staticmethod
    def namespace_to_string(
        identifier: str | Identifier, err: type[ValueError | NoSuchNamespaceError] = ValueError
    ) -> str:
        """Return a namespace as dotted text; raise `err` if it is empty, or a level of it is.

        Example:
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

        Example:
            >>> Catalog.table_name_from("db.events")
            'events'
        """
        return to_identifier(identifier)[-1]

    @staticmethod
    def namespace_from(identifier: str | Identifier) -> Identifier:
        """Return all levels of a name but the last.

        Example:
            >>> Catalog.namespace_from("db.events")
            ('db',)
        """
        return to_identifier(identifier)[:-1]

    def file_io(self, location: str | None = None) -> FileIO:
        """Return the storage that tables of this catalog are on."""
        return load_file_io(self.properties, location, self._working_directory)

    def absolute(self, location: str) -> str:
        """Return a location as metadata may record it: a relative path starts from where the catalog was opened."""
        return self.file_io(location).core.absolute(location)

    def check_location(self, table: Table) -> None:  # noqa: B027 - most catalogs record where each table is
        """Refuse to change a table that is not where its metadata says, before files are written.

        Raises:
            ValidationError: New files would go to another place than where the table is.
        """


def new_table_location(catalog: Catalog, identifier: str | Identifier, location: str | None) -> str:
    """Return where a new table goes: `location`, or `<warehouse>/<namespace levels>/<table>`.

    Raises:
        ValidationError: Neither a location nor a warehouse is known, or a name would lead to another directory.
    """
    if location is not None:
        return catalog.absolute(location).rstrip("/")
    namespace, name = split_table_identifier(identifier)
    warehouse = catalog.properties.get("warehouse")
    if warehouse is None:
        raise ValidationError(
            f"no location for table {dotted(identifier)}: give the catalog {catalog.name!r} a property 'warehouse', "
            "or pass location="
        )
    for level in (*namespace, name):
        if "/" in level or level in (".", ".."):
            raise ValidationError(
                f"table {dotted(identifier)}: {level!r} does not name a directory of the warehouse; pass location="
            )
    return "/".join([warehouse.rstrip("/"), *namespace, name])


def check_property_changes(removals: set[str], updates: Properties) -> None:
    """Refuse a change that both removes and sets a key."""
    both = sorted(removals & set(updates))
    if both:
        raise ValidationError(f"properties both removed and set: {', '.join(both)}")
