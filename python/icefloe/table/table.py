"""The handle of a table: its metadata, scans of it and changes to it.

Scans, changes, metadata tables, diagnosis and maintenance are loaded at their first use: most of the modules of a table are theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.changes import TableChanges
from icefloe.table.row_changes import ALWAYS_TRUE
from icefloe.table.table_version import TableVersion
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    import polars as pl

    from icefloe.expressions import BooleanExpression
    from icefloe.io import FileIO
    from icefloe.table.commit.committing_table import TableCatalog
    from icefloe.table.doctor import Diagnosis
    from icefloe.table.doctor.storage_checks import FileCheck
    from icefloe.table.inspect import InspectTable
    from icefloe.table.maintenance import MaintenanceTable
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan import DataScan, IncrementalAppendScan, IncrementalChangelogScan
    from icefloe.table.write_transaction import WriteTransaction
    from icefloe.typedef import Identifier, Properties


class Table(TableVersion, TableChanges):
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
        super().__init__(identifier, metadata, metadata_location)
        self.io = io
        self.catalog = catalog
        self.config = dict(config)

    def refresh(self) -> Table:
        """Load the newest version into this handle, and return it.

        Raises:
            NoSuchTableError: The table does not exist any more.
            ValidationError: The name belongs to another table.
        """
        fresh: Table = self.catalog.load_table(self._identifier)
        if self.metadata.table_uuid not in (None, fresh.metadata.table_uuid):
            raise ValidationError(
                f"table {self._dotted_name()}: expected uuid {self.metadata.table_uuid}, got {fresh.metadata.table_uuid}; "
                "the table was dropped and created again, load it"
            )
        self.io = fresh.io
        self.show(*fresh.version)
        return self

    # ---- parts of the table

    @property
    def inspect(self) -> InspectTable:
        """The metadata tables: snapshots, files, manifests, partitions and others.

        Examples:
            >>> table.inspect.snapshots().column("operation").to_pylist()
            ['append']
        """
        from icefloe.table.inspect import InspectTable

        return InspectTable(self)

    def doctor(self, files: FileCheck | None = None, statistics: bool = False) -> Diagnosis:
        """Return the problems of the table, each with its evidence and the command that fixes it.

        Metadata and manifests of the current snapshot are read, in time linear in the number of files; data files are not.

        Args:
            files: Also look up the files of the current snapshot in storage: `list` lists their directories, `heads` looks up each.
            statistics: Also compare the statistics in manifests with the footers of the Parquet data files.

        Raises:
            ValidationError: `files` has another value.

        Examples:
            >>> table.doctor(files="heads").is_healthy
            True
        """
        from icefloe.table.doctor import TableFacts, examine

        return examine(TableFacts.of(self), files, statistics)

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
        from icefloe.table.scan import DataScan

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
        from icefloe.table.scan import IncrementalAppendScan

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
        from icefloe.table.scan import IncrementalChangelogScan

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
        from icefloe.table.write_transaction import WriteTransaction

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
    def maintenance(self) -> MaintenanceTable:
        """The maintenance verbs, such as snapshot expiry and removal of orphan files."""
        from icefloe.table.maintenance import MaintenanceTable

        return MaintenanceTable(self)

    def _fold_changes(self, branch: str) -> None:
        from icefloe.table.row_level.unfolded_files import is_fold_due

        if is_fold_due(self.metadata, branch):
            from icefloe.table.maintenance.fold.fold_changes import fold_changes

            fold_changes(self, branch)

    def _open_transaction(self) -> WriteTransaction:
        from icefloe.table.write_transaction import WriteTransaction

        self.catalog.check_location(self)
        return WriteTransaction(self, autocommit=True)

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
