"""A catalog that stores one metadata location for each table: the common part of SQL and in-memory catalogs.

The metadata file is written first, under a unique name. The swap of the location is the commit. Modules of tables load at their first use.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from icefloe import _core
from icefloe.arguments import checked_flag
from icefloe.catalog.catalog import Catalog, new_table_location
from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.catalog.outcome import run_change, visible_despite_conflict
from icefloe.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    IcebergError,
    NoSuchNamespaceError,
    NoSuchTableError,
    StorageError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from icefloe.table.commit.committing_table import CommitTableResponse
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.properties.definitions import DELETE_AFTER_COMMIT, GC_ENABLED
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from icefloe.schema import Schema
    from icefloe.table import CreateTableTransaction, Table
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate

Result = TypeVar("Result")


@dataclass(frozen=True)
class StoredVersion:
    """A metadata file that a catalog points to or will point to.

    Attributes:
        location: The file.
        metadata: Its content, which some stores mirror; None if it was not read.
    """

    location: str
    metadata: TableMetadata | None


class PointerCatalog(Catalog):
    """A catalog whose subclasses only store, swap and remove the metadata locations of tables."""

    environment: Environment = SYSTEM

    # ---- the store of a subclass; a change raises OutcomeUnknownError if the store does not report its outcome

    @abstractmethod
    def _pointer(self, namespace: Identifier, name: str) -> str | None:
        """Return a table's metadata location, or None if the table does not exist."""

    @abstractmethod
    def _insert(self, namespace: Identifier, name: str, new: StoredVersion) -> None:
        """Add a table, or raise TableAlreadyExistsError or NoSuchNamespaceError."""

    @abstractmethod
    def _swap(self, namespace: Identifier, name: str, old: StoredVersion, new: StoredVersion) -> None:
        """Replace `old` by `new`, or raise CommitFailedException."""

    @abstractmethod
    def _remove(self, namespace: Identifier, name: str, location: str | None = None) -> None:
        """Remove a table, or raise NoSuchTableError; CommitFailedException if it is not at `location`."""

    @abstractmethod
    def _rename(self, old: tuple[Identifier, str], new: tuple[Identifier, str]) -> None:
        """Rename a table, or raise NoSuchTableError, TableAlreadyExistsError or NoSuchNamespaceError."""

    # ---- the interface

    def create_table(  # noqa: PLR0913, D102 - the signature shared with PyIceberg; described by the interface
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        table, metadata = self._definition(identifier, schema, location, partition_spec, sort_order, properties)
        return self._table(*table, metadata, self._publish_new(table, metadata))

    def create_table_transaction(  # noqa: PLR0913, D102 - the signature shared with PyIceberg; described by the interface
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> CreateTableTransaction:
        from icefloe.table import CreateTableTransaction, StagedTable

        table, metadata = self._definition(identifier, schema, location, partition_spec, sort_order, properties)
        levels, io = (*table[0], table[1]), self.file_io(metadata.location)
        return CreateTableTransaction(StagedTable(levels, metadata, "", io, self))

    def load_table(self, identifier: str | Identifier) -> Table:  # noqa: D102
        namespace, name = split_table_identifier(identifier)
        location = self._existing_pointer(namespace, name)
        return self._table(namespace, name, self._read(location), location)

    def table_exists(self, identifier: str | Identifier) -> bool:  # noqa: D102
        levels = to_identifier(identifier)
        return len(levels) > 1 and self._pointer(levels[:-1], levels[-1]) is not None

    def drop_table(self, identifier: str | Identifier) -> None:  # noqa: D102
        namespace, name = split_table_identifier(identifier)
        self._run(
            f"table {dotted(identifier)}: removal",
            lambda: self._remove(namespace, name),
            is_visible=lambda: self._pointer(namespace, name) is None,
        )

    def purge_table(self, identifier: str | Identifier) -> None:  # noqa: D102
        from icefloe.catalog.purge import delete_table_files

        namespace, name = split_table_identifier(identifier)
        table = self.load_table(identifier)
        if not GC_ENABLED.of(table.properties):
            raise ValidationError(
                f"table {dotted(identifier)}: cannot purge it, since table property gc.enabled is false; use drop_table()"
            )
        # Only the table that was loaded is removed. An absent name does not prove that: another client may have renamed the
        # table, whose files are in use then.
        self._run(
            f"table {dotted(identifier)}: removal",
            lambda: self._remove(namespace, name, table.metadata_location),
            is_visible=lambda: False,
            properties=table.properties,
        )
        delete_table_files(table)

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:  # noqa: D102
        old = split_table_identifier(from_identifier)
        if split_table_identifier(to_identifier) == old:
            return self.load_table(from_identifier)
        new = self._new_name(to_identifier)
        # Metadata is read first: an error after the rename would look like a failure of the rename.
        location = self._existing_pointer(*old)
        metadata = self._read(location)
        self._run(
            f"table {dotted(from_identifier)}: rename to {dotted(to_identifier)}",
            lambda: self._rename(old, new),
            is_visible=lambda: self._is_at(new, location, metadata) and not self._is_at(old, location, metadata),
            properties=metadata.properties,
        )
        return self._table(*new, metadata, location)

    def register_table(  # noqa: D102
        self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False
    ) -> Table:
        checked_flag("overwrite", overwrite)
        namespace, name = split_table_identifier(identifier)
        self._check_namespace(namespace)
        metadata_location = self.absolute(metadata_location)
        metadata = self._read(metadata_location)
        registered = StoredVersion(metadata_location, metadata)
        current = self._pointer(namespace, name)
        if current is not None and overwrite:
            self._register_over((namespace, name), StoredVersion(current, None), registered)
        else:
            self._insert_checked((namespace, name), registered)
        return self._table(namespace, name, metadata, metadata_location)

    def commit_table(  # noqa: D102
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        from icefloe.catalog.apply_commit import check_commit, check_same_uuid, is_creation, updated_metadata
        from icefloe.table.update import update_table_metadata

        check_commit(table, requirements, updates)
        namespace, name = split_table_identifier(table.name())
        if is_creation(table, requirements):
            created = update_table_metadata(table.metadata, updates, now_ms=self.environment.now_ms())
            return CommitTableResponse(created, self._publish_new((namespace, name), created))
        location = self._existing_pointer(namespace, name)
        loaded, loaded_location = table.version
        current = loaded if location == loaded_location else self._read(location)
        updated = updated_metadata(current, requirements, updates, location, loaded_location, self.environment)
        if updated is current:
            return CommitTableResponse(current, location)
        check_same_uuid(dotted(table.name()), current, updated)
        new_location = self._write(updated, location)
        try:
            self._swap_checked(
                (namespace, name), StoredVersion(location, current), StoredVersion(new_location, updated)
            )
        except CommitStateUnknownException:
            raise
        except IcebergError as error:
            if not self._took_effect((namespace, name), new_location, error):
                self._discard(new_location)
                raise
        self._delete_dropped_log_files(current, updated)
        return CommitTableResponse(updated, new_location)

    # ---- internals

    def _definition(  # noqa: PLR0913 - one for each part of a table
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None,
        partition_spec: PartitionSpec,
        sort_order: SortOrder,
        properties: Properties,
    ) -> tuple[tuple[Identifier, str], TableMetadata]:
        """Return the name and the metadata of a new table, whose name must be free."""
        from icefloe.catalog.apply_commit import new_metadata

        table = self._new_name(identifier)
        own = self._new_table_location(identifier, location)
        stored = self.table_properties(properties)
        return table, new_metadata(schema, partition_spec, sort_order, own, stored, self.environment)

    def _publish_new(self, table: tuple[Identifier, str], metadata: TableMetadata) -> str:
        """Write the metadata of a new table, add the table to the catalog and return the metadata's location."""
        metadata_location = self._write(metadata, None)
        try:
            self._insert_checked(table, StoredVersion(metadata_location, metadata))
        except CommitStateUnknownException:
            raise
        except IcebergError as error:
            if not self._took_effect(table, metadata_location, error):
                self._discard(metadata_location)
                raise
        return metadata_location

    def _new_table_location(self, identifier: str | Identifier, location: str | None) -> str:
        return new_table_location(self, identifier, location)

    def _table(self, namespace: Identifier, name: str, metadata: TableMetadata, location: str) -> Table:
        from icefloe.table.table import Table

        return Table((*namespace, name), metadata, self.absolute(location), self.file_io(location), self)

    def _read(self, location: str) -> TableMetadata:
        from icefloe.table.metadata.files import read_metadata

        return read_metadata(self.file_io(location), location)

    def _write(self, metadata: TableMetadata, previous: str | None) -> str:
        from icefloe.table.metadata.files import metadata_content, next_catalog_location

        location = next_catalog_location(metadata, previous, self.environment)
        unsynced = _core.UnsyncedFiles()
        io = self.file_io(location).deferring(unsynced)
        io.core.write(location, metadata_content(metadata, location), overwrite=False)
        try:
            # The file and its directory are synced concurrently: nothing refers to the file yet.
            unsynced.sync()
        except IcebergError:
            self._discard(location)
            raise
        return location

    def _existing_pointer(self, namespace: Identifier, name: str) -> str:
        location = self._pointer(namespace, name)
        if location is None:
            raise NoSuchTableError(
                f"Table does not exist: {dotted((*namespace, name))} in catalog {self.name!r}; list_tables() returns its tables"
            )
        return location

    def _check_namespace(self, namespace: Identifier) -> None:
        if not self.namespace_exists(namespace):
            raise NoSuchNamespaceError(
                f"Namespace does not exist: {dotted(namespace)} in catalog {self.name!r}; create it with create_namespace()"
            )

    def _new_name(self, identifier: str | Identifier) -> tuple[Identifier, str]:
        namespace, name = split_table_identifier(identifier)
        self._check_namespace(namespace)
        if self._pointer(namespace, name) is not None:
            raise TableAlreadyExistsError(f"Table {dotted(identifier)} already exists in catalog {self.name!r}")
        return namespace, name

    def _run(
        self,
        subject: str,
        change: Callable[[], Result],
        *,
        is_visible: Callable[[], bool],
        rejected: type[IcebergError] = StorageError,
        properties: Properties = EMPTY_DICT,
    ) -> Result:
        """Run a change and return its result; find its outcome if the store does not report it."""
        environment = self.environment
        return run_change(
            subject, change, is_visible=is_visible, rejected=rejected, properties=properties, environment=environment
        )

    def _insert_checked(self, table: tuple[Identifier, str], new: StoredVersion) -> None:
        self._run(
            f"table {dotted((*table[0], table[1]))}: creation at {new.location}",
            lambda: self._insert(*table, new),
            is_visible=lambda: self._is_committed(table, new.location),
            properties=_properties(new),
        )

    def _swap_checked(self, table: tuple[Identifier, str], old: StoredVersion, new: StoredVersion) -> None:
        self._run(
            f"table {dotted((*table[0], table[1]))}: commit of {new.location}",
            lambda: self._swap(*table, old, new),
            is_visible=lambda: self._is_committed(table, new.location),
            rejected=CommitFailedException,
            properties=_properties(new),
        )

    def _register_over(self, table: tuple[Identifier, str], old: StoredVersion, new: StoredVersion) -> None:
        """Make an existing metadata file current. The metadata log may have listed it before, so the pointer alone shows the effect."""

        def is_current() -> bool:
            return self._pointer(*table) == new.location

        subject = f"table {dotted((*table[0], table[1]))}: registration of {new.location}"
        try:
            self._run(
                subject,
                lambda: self._swap(*table, old, new),
                is_visible=is_current,
                rejected=CommitFailedException,
                properties=_properties(new),
            )
        except CommitFailedException as error:
            if not visible_despite_conflict(is_current, subject, error):
                raise

    def _is_committed(self, table: tuple[Identifier, str], location: str) -> bool:
        """Return whether a location is or was current: later commits list it in their metadata log."""
        current = self._pointer(*table)
        if current is None or current == location:
            return current is not None
        return any(entry.metadata_file == location for entry in self._read(current).metadata_log)

    def _is_at(self, table: tuple[Identifier, str], location: str, metadata: TableMetadata) -> bool:
        """Return whether a name is that of a known table: by its metadata location, or by its UUID after commits of others."""
        current, uuid = self._pointer(*table), metadata.table_uuid
        return current == location or (None not in (current, uuid) and self._read(str(current)).table_uuid == uuid)

    def _took_effect(self, table: tuple[Identifier, str], location: str, error: IcebergError) -> bool:
        """Return whether a change took effect although the store reported a conflict.

        A request that the store's client repeats after a lost reply conflicts with its own effect.

        Raises:
            CommitStateUnknownException: The table cannot be read back.
        """
        if not isinstance(error, CommitFailedException | TableAlreadyExistsError):
            return False
        subject = f"table {dotted((*table[0], table[1]))}: commit of {location}"
        return visible_despite_conflict(lambda: self._is_committed(table, location), subject, error)

    def _discard(self, location: str) -> None:
        """Delete a metadata file that never became current. Deletion is best effort."""
        with suppress(IcebergError):
            self.file_io(location).core.delete_many([location])

    def _delete_dropped_log_files(self, before: TableMetadata, after: TableMetadata) -> None:
        logged = {entry.metadata_file for entry in after.metadata_log}
        dropped = [entry.metadata_file for entry in before.metadata_log if entry.metadata_file not in logged]
        # Deletion is best effort: the commit has already succeeded.
        with suppress(IcebergError):
            if DELETE_AFTER_COMMIT.of(after.properties):
                self.file_io(after.location).core.delete_many(dropped)


def _properties(version: StoredVersion) -> Properties:
    return version.metadata.properties if version.metadata is not None else EMPTY_DICT
