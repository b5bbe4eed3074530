"""The handle of a table: its metadata, scans of it and changes to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from icefloe.exceptions import ValidationError
from icefloe.table.changes import ALWAYS_TRUE, TableChanges
from icefloe.table.inspect import InspectTable
from icefloe.table.locations import load_location_provider
from icefloe.table.scan import DataScan, IncrementalAppendScan, IncrementalChangelogScan
from icefloe.table.write_transaction import WriteTransaction
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    import polars as pl

    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.partitioning import PartitionSpec
    from icefloe.schema import Schema
    from icefloe.table.commit.committing_table import TableCatalog
    from icefloe.table.locations import LocationProvider
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.name_mapping import NameMapping
    from icefloe.table.refs import SnapshotRef
    from icefloe.table.snapshots import Snapshot, SnapshotLogEntry
    from icefloe.table.sorting import SortOrder
    from icefloe.typedef import Identifier, Properties


class Table(TableChanges):
    """An Iceberg table in the version that this handle loaded, refreshed or committed last.

    Its scans read that version. Each of its changes is committed at once; `transaction()` commits several together.

    Args:
        identifier: Namespace levels and name.
        metadata: The table's metadata.
        metadata_location: The file of the metadata.
        io: Storage.
        catalog: The catalog that commits changes.
        config: Settings of this handle; none are defined.
    """

    def __init__(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        identifier: Identifier,
        metadata: TableMetadata,
        metadata_location: str,
        io: FileIO,
        catalog: TableCatalog,
        config: dict[str, str] = EMPTY_DICT,
    ) -> None:
        self._identifier = identifier
        self._version = (metadata, metadata_location)
        self.io = io
        self.catalog = catalog
        self.config = dict(config)

    # ---- the version

    @property
    def version(self) -> tuple[TableMetadata, str]:
        """The metadata and the location of its file, read in one step: another thread may move the handle."""
        return self._version

    @property
    def metadata(self) -> TableMetadata:
        """The table's metadata."""
        return self._version[0]

    @metadata.setter
    def metadata(self, metadata: TableMetadata) -> None:
        self._version = (metadata, self._version[1])

    @property
    def metadata_location(self) -> str:
        """The location of the metadata file."""
        return self._version[1]

    def refresh(self) -> Table:
        """Load the newest version into this handle, and return it.

        Raises:
            NoSuchTableError: The table does not exist any more.
            ValidationError: The name belongs to another table.
        """
        fresh: Table = self.catalog.load_table(self._identifier)
        if str(fresh.metadata.table_uuid).lower() != str(self.metadata.table_uuid).lower():
            raise ValidationError(
                f"table {self._dotted_name()}: expected uuid {self.metadata.table_uuid}, got {fresh.metadata.table_uuid}; "
                "the table was dropped and created again, load it"
            )
        self.io = fresh.io
        self.show(*fresh.version)
        return self

    def show(self, metadata: TableMetadata, metadata_location: str) -> None:
        """Move the handle to a version of the table, in one step."""
        self._version = (metadata, metadata_location)

    # ---- metadata

    def name(self) -> Identifier:
        """Return namespace levels and name."""
        return self._identifier

    @property
    def format_version(self) -> int:
        """The format version: 1, 2 or 3."""
        return self.metadata.format_version

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties."""
        return dict(self.metadata.properties)

    @property
    def last_sequence_number(self) -> int:
        """The highest sequence number of a snapshot, 0 in format version 1."""
        return self.metadata.last_sequence_number

    def last_partition_id(self) -> int:
        """Return the highest id of a partition field, 999 without partition fields."""
        return self.metadata.last_partition_id

    def schema(self) -> Schema:
        """Return the current schema."""
        return self.metadata.schema()

    def schemas(self) -> dict[int, Schema]:
        """Return all schemas by id."""
        return {schema.schema_id: schema for schema in self.metadata.schemas}

    def spec(self) -> PartitionSpec:
        """Return the partition spec of new files."""
        return self.metadata.spec()

    def specs(self) -> dict[int, PartitionSpec]:
        """Return all partition specs by id."""
        return self.metadata.specs()

    def sort_order(self) -> SortOrder:
        """Return the sort order of new files."""
        return self.metadata.sort_order()

    def sort_orders(self) -> dict[int, SortOrder]:
        """Return all sort orders by id."""
        return {order.order_id: order for order in self.metadata.sort_orders}

    def location(self) -> str:
        """Return the table's location."""
        return self.metadata.location

    def location_provider(self) -> LocationProvider:
        """Return the provider of locations of new files."""
        return load_location_provider(self.metadata.location, self.metadata.properties)

    def current_snapshot(self) -> Snapshot | None:
        """Return the current snapshot, None for a table without snapshots."""
        return self.metadata.current_snapshot()

    def snapshots(self) -> list[Snapshot]:
        """Return all snapshots that have not been expired, in the order of their commits."""
        return list(self.metadata.snapshots)

    def snapshot_by_id(self, snapshot_id: int) -> Snapshot | None:
        """Return the snapshot of an id, None if the table has no such snapshot."""
        return self.metadata.snapshot_by_id(snapshot_id)

    def snapshot_by_name(self, name: str) -> Snapshot | None:
        """Return the snapshot of a branch or tag, None if the table has no such branch or tag."""
        return self.metadata.snapshot_by_name(name)

    def snapshot_as_of_timestamp(self, timestamp_ms: int, inclusive: bool = True) -> Snapshot | None:
        """Return the snapshot that was current at a time, None if none was.

        Args:
            timestamp_ms: Milliseconds since 1970-01-01 UTC.
            inclusive: Whether a snapshot that became current exactly then counts.
        """
        snapshot_id = self.metadata.snapshot_log.snapshot_id_at(timestamp_ms, inclusive=inclusive)
        return None if snapshot_id is None else self.metadata.snapshot_by_id(snapshot_id)

    def history(self) -> list[SnapshotLogEntry]:
        """Return the snapshots that were current and the times at which they became so, oldest first."""
        return list(self.metadata.snapshot_log)

    def refs(self) -> dict[str, SnapshotRef]:
        """Return branches and tags by name."""
        return dict(self.metadata.refs)

    def name_mapping(self) -> NameMapping | None:
        """Return the mapping of column names to field ids for files without field ids, None if the table has none."""
        return self.metadata.name_mapping()

    @property
    def inspect(self) -> InspectTable:
        """The metadata tables: snapshots, files, manifests, partitions and others.

        Examples:
            >>> table.inspect.snapshots().column("operation").to_pylist()
            ['append']
        """
        return InspectTable(self.metadata, self.io)

    # ---- reading rows

    def scan(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        selected_fields: tuple[str, ...] = ("*",),
        case_sensitive: bool = True,
        snapshot_id: int | None = None,
        options: Properties = EMPTY_DICT,
        limit: int | None = None,
    ) -> DataScan:
        """Return a scan of one snapshot. Nothing is read before one of its methods returns rows.

        Args:
            row_filter: The rows to return.
            selected_fields: Column names, all columns by default; dotted names for nested fields; the metadata columns `_file`,
                `_pos`, `_deleted`, `_spec_id` and `_partition`.
            case_sensitive: Whether column names must match in case.
            snapshot_id: The snapshot, None for the current one.
            options: `split-size` (bytes of a task), `batch-size` (rows of a batch) and others, see `DataScan`.
            limit: Most rows to return, None for all.

        Examples:
            >>> table.scan("id > 1", selected_fields=("id",)).to_arrow().to_pydict()
            {'id': [2, 3]}
        """
        name = self._dotted_name()
        return DataScan(
            self.metadata, self.io, row_filter, selected_fields, case_sensitive, snapshot_id, options, limit, name
        )

    def incremental_append_scan(  # noqa: PLR0913 - the signature shared with PyIceberg
        self,
        *,
        from_snapshot_id_exclusive: int | None = None,
        to_snapshot_id_inclusive: int | None = None,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        selected_fields: tuple[str, ...] = ("*",),
        case_sensitive: bool = True,
        options: Properties = EMPTY_DICT,
        limit: int | None = None,
    ) -> IncrementalAppendScan:
        """Return a scan of the rows that `append` snapshots of a range added. Snapshots of other operations are skipped.

        Methods of the scan set the range in other ways: by branch or tag, by time, with the first snapshot included.

        Args:
            from_snapshot_id_exclusive: The snapshot that the range begins after, None for the beginning of the history. It may have been
                expired if the snapshot after it has not.
            to_snapshot_id_inclusive: The last snapshot of the range, None for the current one.
            row_filter: The rows to return; see `scan` for this and the following arguments.
            selected_fields: Columns of the current schema.
            case_sensitive: Whether column names must match in case.
            options: `split-size`, `batch-size` and others.
            limit: Most rows to return, None for all.

        Examples:
            >>> seen = table.current_snapshot().snapshot_id
            >>> table.append(pa.table({"id": [4, 5]}))
            >>> table.incremental_append_scan(from_snapshot_id_exclusive=seen).to_arrow().column("id").to_pylist()
            [4, 5]
        """
        return IncrementalAppendScan(
            self.metadata,
            self.io,
            row_filter=row_filter,
            selected_fields=selected_fields,
            case_sensitive=case_sensitive,
            options=options,
            limit=limit,
            table_name=self._dotted_name(),
            from_snapshot_id=from_snapshot_id_exclusive,
            to_snapshot_id=to_snapshot_id_inclusive,
        )

    def incremental_changelog_scan(  # noqa: PLR0913 - the arguments of incremental_append_scan and of changes
        self,
        *,
        from_snapshot_id_exclusive: int | None = None,
        to_snapshot_id_inclusive: int | None = None,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        selected_fields: tuple[str, ...] = ("*",),
        case_sensitive: bool = True,
        options: Properties = EMPTY_DICT,
        limit: int | None = None,
        compute_updates: bool = False,
        identifier_columns: tuple[str, ...] | None = None,
        net_changes: bool = False,
    ) -> IncrementalChangelogScan:
        """Return a scan of the rows that the snapshots of a range inserted and deleted.

        Args:
            from_snapshot_id_exclusive: The snapshot that the range begins after, None for the beginning of the history.
            to_snapshot_id_inclusive: The last snapshot of the range, None for the current one.
            row_filter: The change rows to return; see `scan` for this and the following arguments.
            selected_fields: Columns of the current schema; the columns that describe the change follow them.
            case_sensitive: Whether column names must match in case.
            options: `batch-size`.
            limit: Most rows to return, None for all.
            compute_updates: Report a delete and an insert of the same key in one snapshot as an update, in two rows of type
                `UPDATE_BEFORE` and `UPDATE_AFTER`.
            identifier_columns: Key columns of updates, the schema's identifier fields if None. They imply `compute_updates`.
            net_changes: Omit changes of different snapshots that cancel each other.

        Examples:
            >>> seen = table.current_snapshot().snapshot_id
            >>> table.delete("id = 2")
            >>> changes = table.incremental_changelog_scan(from_snapshot_id_exclusive=seen)
            >>> changes.to_arrow().select(["id", "_change_type", "_change_ordinal"]).to_pylist()
            [{'id': 2, '_change_type': 'DELETE', '_change_ordinal': 0}]
        """
        return IncrementalChangelogScan(
            self.metadata,
            self.io,
            row_filter=row_filter,
            selected_fields=selected_fields,
            case_sensitive=case_sensitive,
            options=options,
            limit=limit,
            table_name=self._dotted_name(),
            from_snapshot_id=from_snapshot_id_exclusive,
            to_snapshot_id=to_snapshot_id_inclusive,
            compute_updates=compute_updates,
            identifier_columns=identifier_columns,
            net_changes=net_changes,
        )

    def to_polars(self) -> pl.LazyFrame:
        """Return all rows as a lazy Polars frame. The rows are read now."""
        return self.scan().to_polars().lazy()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.scan().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.scan().__arrow_c_schema__()

    # ---- changes

    def transaction(self) -> WriteTransaction:
        """Return a transaction, whose changes become visible together.

        Examples:
            >>> with table.transaction() as transaction:
            ...     transaction.delete("id = 1")
            ...     transaction.append(pa.table({"id": [10]}))
            >>> sorted(table.scan().to_arrow().column("id").to_pylist())
            [2, 3, 10]
        """
        self.catalog.check_location(self)
        return WriteTransaction(self)

    def update_properties(self) -> WriteTransaction:
        """Return a transaction for `set_properties` and `remove_properties`.

        Examples:
            >>> with table.update_properties() as update:
            ...     _ = update.set_properties({"write.delete.mode": "merge-on-read"})
        """
        return self.transaction()

    @property
    def maintenance(self) -> NoReturn:
        """Raise NotImplementedError: maintenance is not available."""
        raise NotImplementedError("maintenance (expiry, compaction, orphan removal): not available")

    # ---- parts

    def _open_transaction(self) -> WriteTransaction:
        self.catalog.check_location(self)
        return WriteTransaction(self, autocommit=True)

    def _dotted_name(self) -> str:
        return ".".join(self._identifier)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Table)
            and self._identifier == other._identifier
            and self.metadata_location == other.metadata_location
        )

    def __hash__(self) -> int:
        return hash((self._identifier, self.metadata_location))

    def __repr__(self) -> str:
        columns = "\n".join(f"  {field}" for field in self.schema().fields)
        snapshot = self.current_snapshot()
        return (
            f"{self._dotted_name()}(\n{columns}\n),\npartition by: {self.spec()},\nsort order: {self.sort_order()},\n"
            f"snapshot: {snapshot if snapshot is not None else 'none yet'}"
        )
