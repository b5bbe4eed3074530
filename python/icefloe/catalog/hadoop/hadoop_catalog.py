"""A catalog that is a directory: `<warehouse>/<namespace levels>/<table>/metadata/v<N>.metadata.json`.

A commit publishes version N+1 under a name that must not exist yet. The name follows from version N alone (its location and its
compression), so that all writers that start from version N compete for the same name and one of them succeeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.catalog.apply_commit import check_commit, check_same_uuid, is_creation, new_metadata, updated_metadata
from icefloe.catalog.catalog import Catalog, PropertiesUpdateSummary
from icefloe.catalog.hadoop.local_warehouse import LocalWarehouse
from icefloe.catalog.hadoop.object_warehouse import SCHEMES, ObjectWarehouse
from icefloe.catalog.hadoop.versions import delete_old_versions
from icefloe.catalog.identifiers import dotted, split_table_identifier, to_identifier
from icefloe.catalog.purge import delete_files_elsewhere, files_elsewhere, warn_of_leftovers
from icefloe.exceptions import (
    CommitFailedException,
    FeatureUnsupportedError,
    FileAlreadyExistsError,
    InvalidIdentifierError,
    MissingFileError,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
    ValidationError,
)
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC, PartitionSpec
from icefloe.table import CreateTableTransaction, StagedTable, Table
from icefloe.table.commit.committing_table import CommitTableResponse
from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.metadata.files import (
    DATA_DIRECTORY,
    METADATA_DIRECTORY,
    hadoop_location,
    hadoop_version,
    read_metadata,
)
from icefloe.table.properties import properties_as_text
from icefloe.table.properties.definitions import GC_ENABLED, METADATA_PATH
from icefloe.table.sorting import UNSORTED_SORT_ORDER, SortOrder
from icefloe.table.update import SetLocationUpdate, update_table_metadata
from icefloe.typedef import EMPTY_DICT, Identifier, Properties

if TYPE_CHECKING:
    import pyarrow as pa

    from icefloe.catalog.hadoop.warehouse import Warehouse
    from icefloe.io import FileIO
    from icefloe.schema import Schema
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate

READS = 10
"""Attempts to read the newest version of a table, which other writers may delete as old before it is read."""


class HadoopCatalog(Catalog):
    """A catalog of table directories on a file system or an object store, which hadoop catalogs of other engines read and write.

    Object stores must create objects conditionally, as S3, Google Cloud Storage and Azure do. Hadoop catalogs of other engines do not
    use that on object stores: while one of them writes a table, no other client may write it.

    Args:
        name: The catalog's name.
        **properties: `warehouse` (the directory of all tables) and storage properties.

    Raises:
        ValidationError: `warehouse` is missing.
        FeatureUnsupportedError: The warehouse is neither on a local file system nor on an object store.

    Examples:
        >>> import tempfile
        >>> import pyarrow as pa
        >>> catalog = HadoopCatalog("files", warehouse=tempfile.mkdtemp())
        >>> catalog.create_namespace("db")
        >>> table = catalog.create_table("db.points", pa.schema([("x", pa.int64())]))
        >>> table.metadata_location.rsplit("/", 1)[-1]
        'v1.metadata.json'
    """

    environment: Environment = SYSTEM

    def __init__(self, name: str, **properties: str) -> None:
        super().__init__(name, **properties)
        warehouse = self.properties.get("warehouse")
        if warehouse is None:
            raise ValidationError(
                f"catalog {name!r}: property 'warehouse' is missing; expected the directory of its tables"
            )
        is_remote = warehouse.split("://", 1)[0].lower() in SCHEMES and "://" in warehouse
        kind: type[Warehouse] = ObjectWarehouse if is_remote else LocalWarehouse
        self._warehouse = kind(warehouse, self.file_io(), self.environment)

    # ---- tables

    def create_table(  # noqa: PLR0913, D102 - the signature shared with PyIceberg; described by the interface
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> Table:
        levels, metadata = self._definition(identifier, schema, location, partition_spec, sort_order, properties)
        return self._table(levels, metadata, self._create(levels, metadata))

    def create_table_transaction(  # noqa: PLR0913, D102
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None = None,
        partition_spec: PartitionSpec = UNPARTITIONED_PARTITION_SPEC,
        sort_order: SortOrder = UNSORTED_SORT_ORDER,
        properties: Properties = EMPTY_DICT,
    ) -> CreateTableTransaction:
        levels, metadata = self._definition(identifier, schema, location, partition_spec, sort_order, properties)
        staged = StagedTable(levels, metadata, "", self.file_io(metadata.location), self)
        return CreateTableTransaction(staged, lambda: self._warehouse.remove_empty(levels))

    def load_table(self, identifier: str | Identifier) -> Table:  # noqa: D102
        split_table_identifier(identifier)
        levels = to_identifier(identifier)
        metadata, location = self._newest_version(levels, self.file_io())
        return self._table(levels, metadata, location)

    def table_exists(self, identifier: str | Identifier) -> bool:  # noqa: D102
        levels = to_identifier(identifier)
        return len(levels) > 1 and self._warehouse.newest(levels) is not None

    def drop_table(self, identifier: str | Identifier) -> None:  # noqa: D102
        split_table_identifier(identifier)
        self._drop(to_identifier(identifier), [])

    def purge_table(self, identifier: str | Identifier) -> None:  # noqa: D102
        table = self.load_table(identifier)
        if not GC_ENABLED.of(table.properties):
            raise ValidationError(
                f"table {dotted(identifier)}: cannot purge it, since table property gc.enabled is false; use drop_table()"
            )
        self._drop(table.name(), files_elsewhere(table))

    def rename_table(self, from_identifier: str | Identifier, to_identifier: str | Identifier) -> Table:  # noqa: D102
        raise FeatureUnsupportedError(
            f"cannot rename {from_identifier!r} to {to_identifier!r}: the metadata of a table in a hadoop catalog contains the "
            "path of its directory; create the new table and append the rows of the old one"
        )

    def register_table(  # noqa: D102
        self, identifier: str | Identifier, metadata_location: str, overwrite: bool = False
    ) -> Table:
        raise FeatureUnsupportedError(
            f"cannot register {metadata_location} as {identifier!r} (overwrite={overwrite}): a hadoop catalog contains only the "
            "tables below its warehouse; read other tables with StaticTable.from_metadata()"
        )

    def list_tables(self, namespace: str | Identifier) -> list[Identifier]:  # noqa: D102
        levels = self._existing_namespace(namespace)
        found = ((*levels, name) for name in self._warehouse.children(levels))
        return sorted(table for table in found if self._warehouse.is_table(table))

    def check_location(self, table: Table) -> None:
        """Raise if the location in a table's metadata is not the table's directory.

        Raises:
            ValidationError: The table's directory was moved or copied, so that new files would go to the old location.
        """
        recorded = table.io.core.absolute(table.location())
        if not self._warehouse.is_location_of(recorded, table.name()):
            raise ValidationError(
                f"table {dotted(table.name())}: its directory was moved or copied: expected {recorded}, the location in its metadata, "
                f"got {self._warehouse.location_of(table.name())}; the table can be read, but to change it move the directory back, or "
                "append the rows to a new table"
            )

    def commit_table(  # noqa: D102
        self, table: Table, requirements: tuple[TableRequirement, ...], updates: tuple[TableUpdate, ...]
    ) -> CommitTableResponse:
        check_commit(table, requirements, updates)
        levels = table.name()
        _check_not_moved(table, updates)
        self.check_location(table)
        if is_creation(table, requirements):
            created = update_table_metadata(table.metadata, updates, now_ms=self.environment.now_ms())
            _check_hadoop_table(created)
            return CommitTableResponse(created, self._create(levels, created))
        try:
            with self._warehouse.committing(levels) as publish:
                # A table that was dropped and created again has the same file names, so the handle's metadata may be of the old table.
                current, location = self._newest_version(levels, table.io, table.metadata)
                updated = updated_metadata(
                    current, requirements, updates, location, table.metadata_location, self.environment
                )
                if updated is current:
                    return CommitTableResponse(current, location)
                published = self._next_location(levels, current, updated, location)
                publish(table.io, updated, (location, published))
        except MissingFileError as error:
            raise self._no_table(levels) from error
        delete_old_versions(table.io, current, updated)
        return CommitTableResponse(updated, published)

    # ---- namespaces

    def create_namespace(self, namespace: str | Identifier, properties: Properties = EMPTY_DICT) -> None:  # noqa: D102
        if properties_as_text(properties):
            raise FeatureUnsupportedError(
                f"cannot create namespace {namespace!r} with properties {sorted(properties)}: a namespace of a hadoop catalog is a "
                "directory and has no properties"
            )
        levels = to_identifier(namespace)
        if not levels:
            raise InvalidIdentifierError("Empty namespace identifier: a namespace needs a name")
        try:
            self._warehouse.create_namespace(levels)
        except FileAlreadyExistsError as error:
            raise NamespaceAlreadyExistsError(
                f"Namespace {dotted(levels)} already exists in catalog {self.name!r}"
            ) from error

    def drop_namespace(self, namespace: str | Identifier) -> None:  # noqa: D102
        levels = self._existing_namespace(namespace)
        content = sorted(self._warehouse.drop_namespace(levels))
        if content:
            raise NamespaceNotEmptyError(
                f"Namespace {dotted(levels)} is not empty: {self._warehouse.location_of(levels)} contains {', '.join(content[:5])}; drop its "
                "tables and namespaces first"
            )

    def list_namespaces(self, namespace: str | Identifier = ()) -> list[Identifier]:  # noqa: D102
        above = self._existing_namespace(namespace) if namespace not in ((), "") else ()
        found = ((*above, name) for name in self._warehouse.children(above))
        return sorted(levels for levels in found if self._warehouse.is_namespace(levels))

    def load_namespace_properties(self, namespace: str | Identifier) -> Properties:  # noqa: D102
        return {"location": self._warehouse.location_of(self._existing_namespace(namespace))}

    def update_namespace_properties(  # noqa: D102
        self, namespace: str | Identifier, removals: set[str] | None = None, updates: Properties = EMPTY_DICT
    ) -> PropertiesUpdateSummary:
        raise FeatureUnsupportedError(
            f"cannot set properties {sorted(updates)} or remove properties {sorted(removals if removals is not None else ())} of "
            f"namespace {namespace!r}: a namespace of a hadoop catalog is a directory and has no properties"
        )

    # ---- internals

    def _definition(  # noqa: PLR0913 - one for each part of a table
        self,
        identifier: str | Identifier,
        schema: Schema | pa.Schema,
        location: str | None,
        partition_spec: PartitionSpec,
        sort_order: SortOrder,
        properties: Properties,
    ) -> tuple[Identifier, TableMetadata]:
        """Return the name and the metadata of a new table, whose name must be free."""
        namespace, name = split_table_identifier(identifier)
        levels = (*namespace, name)
        self._existing_namespace(namespace)
        own = self._warehouse.location_of(levels)
        if location is not None and self.absolute(location).rstrip("/") != own:
            raise ValidationError(
                f"table {dotted(identifier)}: a hadoop catalog determines the location of a table; expected {own}, got {location}"
            )
        stored = self.table_properties(properties)
        metadata = new_metadata(schema, partition_spec, sort_order, own, stored, self.environment)
        _check_hadoop_table(metadata)
        if self._warehouse.newest(levels) is not None:
            raise self._taken(levels)
        self._check_no_namespace(levels)
        return levels, metadata

    def _create(self, levels: Identifier, metadata: TableMetadata) -> str:
        """Publish the first version of a table, and return its location."""
        if self._warehouse.newest(levels) is not None:
            raise self._taken(levels)
        self._check_no_namespace(levels)
        try:
            return self._warehouse.create_table(levels, metadata)
        except CommitFailedException as error:
            raise self._taken(levels) from error
        except MissingFileError:
            self._existing_namespace(levels[:-1])
            raise

    def _taken(self, levels: Identifier) -> TableAlreadyExistsError:
        return TableAlreadyExistsError(f"Table {dotted(levels)} already exists in catalog {self.name!r}")

    def _newest_version(
        self, levels: Identifier, io: FileIO, known: TableMetadata | None = None
    ) -> tuple[TableMetadata, str]:
        """Return the newest version of a table with its location; `known` is returned if the file has its text."""
        for _ in range(READS):
            location = self._warehouse.newest(levels)
            if location is None:
                break
            try:
                return read_metadata(io, location, known), location
            except MissingFileError:
                continue
        raise self._no_table(levels)

    def _next_location(self, levels: Identifier, current: TableMetadata, updated: TableMetadata, location: str) -> str:
        check_same_uuid(dotted(levels), current, updated)
        _check_hadoop_table(updated)
        version = hadoop_version(location)
        if version is None:
            raise ValidationError(
                f"table {dotted(levels)}: cannot commit after {location}; expected a metadata file named v<N>.metadata.json"
            )
        return hadoop_location(current, version + 1)

    def _no_table(self, levels: Identifier) -> NoSuchTableError:
        return NoSuchTableError(
            f"Table does not exist: {dotted(levels)} in catalog {self.name!r}; expected metadata below "
            f"{self._warehouse.location_of(levels)}"
        )

    def _check_no_namespace(self, levels: Identifier) -> None:
        """Raise if the directory is a namespace with content, which a drop of the table would delete."""
        own = (METADATA_DIRECTORY, DATA_DIRECTORY)
        children = self._warehouse.children(levels)
        content = sorted(name for name in children if name not in own or self._warehouse.is_table((*levels, name)))
        if content:
            raise ValidationError(
                f"table {dotted(levels)}: {self._warehouse.location_of(levels)} is the directory of a namespace, which contains "
                f"{', '.join(content[:5])}; choose another name for the table"
            )

    def _existing_namespace(self, namespace: str | Identifier) -> Identifier:
        levels = to_identifier(namespace)
        if not levels or not self._warehouse.is_namespace(levels):
            raise NoSuchNamespaceError(
                f"Namespace does not exist: {dotted(levels)} in catalog {self.name!r}; create it with create_namespace()"
            )
        return levels

    def _table(self, levels: Identifier, metadata: TableMetadata, location: str) -> Table:
        return Table(levels, metadata, location, self.file_io(location), self)

    def _drop(self, levels: Identifier, elsewhere: list[str]) -> None:
        """Drop a table, then delete the files `elsewhere` as well."""
        try:
            failures = self._warehouse.drop_table(levels)
        except MissingFileError as error:
            raise self._no_table(levels) from error
        failures = failures + delete_files_elsewhere(self.file_io(), elsewhere)
        warn_of_leftovers(dotted(levels), failures)


def _check_not_moved(table: Table, updates: tuple[TableUpdate, ...]) -> None:
    """Raise ValidationError if an update sets another location: a table of a hadoop catalog is its directory."""
    own = table.location()
    if any(isinstance(update, SetLocationUpdate) and update.location != own for update in updates):
        raise ValidationError(
            f"table {dotted(table.name())}: the location of a table in a hadoop catalog cannot be moved; append the rows to a new table"
        )


def _check_hadoop_table(metadata: TableMetadata) -> None:
    # The name of the next version contains the codec: after an invalid one, no commit could follow.
    hadoop_location(metadata, 1)
    if METADATA_PATH.name in metadata.properties:
        raise ValidationError(
            f"table property {METADATA_PATH.name} cannot be set in a hadoop catalog, whose tables have their metadata in their directory; "
            "remove it"
        )
