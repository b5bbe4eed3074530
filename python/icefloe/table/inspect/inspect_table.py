"""The metadata tables of a table as Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.expressions import AlwaysTrue
from icefloe.table.inspect.inspected_table import InspectedTable
from icefloe.table.inspect.metadata_scan import MetadataScan
from icefloe.table.scan.scan import ALL_COLUMNS, as_names

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from icefloe.expressions import BooleanExpression
    from icefloe.table.inspect.inspected_table import TableHandle

ALWAYS_TRUE = AlwaysTrue()


class InspectTable:
    """The metadata tables of one table, with the columns, types and order of the Java reference implementation.

    Each method reads what it returns; `scan` is lazy, and selects rows and columns before they are decoded. The column
    `partition` is a struct of the partition fields of all specs, and is absent from a table that was never partitioned. Times
    are microseconds in UTC. A table without snapshots has metadata tables without rows.

    Args:
        tbl: The table.

    Examples:
        >>> table.inspect.files().column("record_count").to_pylist()
        [3]
    """

    tbl: TableHandle

    def __init__(self, tbl: TableHandle) -> None:
        self.tbl = tbl

    def scan(  # noqa: PLR0913 - the parts of a scan, as in Table.scan
        self,
        name: str,
        snapshot_id: int | None = None,
        *,
        where: str | BooleanExpression = ALWAYS_TRUE,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        selected_fields: Iterable[str] = ALL_COLUMNS,
        case_sensitive: bool = True,
    ) -> MetadataScan:
        """Return a scan of a metadata table: an Arrow stream that reads manifests as it is consumed.

        Args:
            name: Name of the metadata table, such as `files`.
            snapshot_id: The snapshot, None for the current one; only for tables of one snapshot.
            where: Filter on the columns of the metadata table.
            row_filter: Filter on the columns of the table itself: files that cannot hold a matching row are left out. Only for
                tables about files, and `partitions`.
            selected_fields: Column names, dotted for nested fields.
            case_sensitive: Whether column names must match in case.

        Raises:
            ValidationError: There is no such metadata table, or it has no snapshots to choose from.

        Examples:
            >>> table.inspect.scan("files", selected_fields=("record_count",)).to_arrow().to_pylist()
            [{'record_count': 3}]
        """
        version = InspectedTable.of(self.tbl)
        return MetadataScan(version, name, snapshot_id, where, row_filter, as_names(selected_fields), case_sensitive)

    # ---- snapshots and refs

    def snapshots(self) -> pa.Table:
        """Return one row per snapshot: committed_at, snapshot_id, parent_id, operation, manifest_list, summary.

        `parent_id` is null for a first snapshot; `manifest_list`, `operation` and `summary` where old writers omitted them.
        """
        return self._read("snapshots")

    def history(self) -> pa.Table:
        """Return one row per change of the current snapshot: made_current_at, snapshot_id, parent_id, is_current_ancestor.

        `parent_id` is null for a first snapshot and for an expired one.
        """
        return self._read("history")

    def refs(self) -> pa.Table:
        """Return one row per branch or tag, sorted by name: name, type (BRANCH or TAG), snapshot_id and its retention settings.

        Settings that are not set are null: max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms.
        """
        return self._read("refs")

    def metadata_log_entries(self) -> pa.Table:
        """Return one row per metadata file, the current one last: timestamp, file, and the snapshot that was current then.

        latest_snapshot_id, latest_schema_id and latest_sequence_number are null where no snapshot was current, or where it
        is expired.
        """
        return self._read("metadata_log_entries")

    # ---- manifests

    def manifests(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per manifest of a snapshot, with counts of its files and a summary for each partition field.

        Bounds of `partition_summaries` are texts, as in partition paths.

        Args:
            snapshot_id: The snapshot, None for the current one.

        Raises:
            ValidationError: The table has no such snapshot.
        """
        return self._read("manifests", snapshot_id)

    def all_manifests(self) -> pa.Table:
        """Return one row per snapshot and manifest; `reference_snapshot_id` is the snapshot."""
        return self._read("all_manifests")

    # ---- files

    def entries(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per manifest entry of a snapshot, removed files included.

        `status` is 0 (existing), 1 (added) or 2 (deleted), `data_file` a struct of the columns of `files`.

        Args:
            snapshot_id: The snapshot, None for the current one.
        """
        return self._read("entries", snapshot_id)

    def all_entries(self) -> pa.Table:
        """Return one row per entry of every manifest of every snapshot; a manifest that several snapshots share is read once."""
        return self._read("all_entries")

    def files(
        self,
        snapshot_id: int | None = None,
        *,
        where: str | BooleanExpression = ALWAYS_TRUE,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
    ) -> pa.Table:
        """Return one row per live data or delete file of a snapshot; `content` is 0 (data), 1 (position) or 2 (equality deletes).

        `readable_metrics` has for each column of the table its sizes, counts and bounds, the latter in the column's type.

        Args:
            snapshot_id: The snapshot, None for the current one.
            where: Filter on the columns of the metadata table.
            row_filter: Filter on the columns of the table: files that cannot hold a matching row are left out.

        Examples:
            >>> table.inspect.files(where="content = 0", row_filter="id > 1").column("record_count").to_pylist()
            [3]
        """
        return self.scan("files", snapshot_id, where=where, row_filter=row_filter).to_arrow()

    def data_files(
        self,
        snapshot_id: int | None = None,
        *,
        where: str | BooleanExpression = ALWAYS_TRUE,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
    ) -> pa.Table:
        """Return one row per live data file of a snapshot; see `files`."""
        return self.scan("data_files", snapshot_id, where=where, row_filter=row_filter).to_arrow()

    def delete_files(
        self,
        snapshot_id: int | None = None,
        *,
        where: str | BooleanExpression = ALWAYS_TRUE,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
    ) -> pa.Table:
        """Return one row per live delete file of a snapshot; see `files`."""
        return self.scan("delete_files", snapshot_id, where=where, row_filter=row_filter).to_arrow()

    def all_files(self) -> pa.Table:
        """Return one row per live file of every manifest of every snapshot; a file may occur several times."""
        return self._read("all_files")

    def all_data_files(self) -> pa.Table:
        """Return one row per live data file of every manifest of every snapshot; a file may occur several times."""
        return self._read("all_data_files")

    def all_delete_files(self) -> pa.Table:
        """Return one row per live delete file of every manifest of every snapshot; a file may occur several times."""
        return self._read("all_delete_files")

    def position_deletes(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per deleted position of a snapshot: file_path, pos, row, partition, spec_id, delete_file_path.

        Every position delete file is read. `row` is null unless its writer recorded the deleted row.

        Args:
            snapshot_id: The snapshot, None for the current one.
        """
        return self._read("position_deletes", snapshot_id)

    # ---- partitions

    def partitions(
        self,
        snapshot_id: int | None = None,
        row_filter: str | BooleanExpression = ALWAYS_TRUE,
        case_sensitive: bool = True,
    ) -> pa.Table:
        """Return one row per partition of a snapshot, sorted by partition: data files, rows and bytes, and delete files by kind.

        `last_updated_at` and `last_updated_snapshot_id` are those of the newest snapshot that added one of the live files,
        null if it is expired.

        Args:
            snapshot_id: The snapshot, None for the current one.
            row_filter: Filter on the columns of the table: files that cannot hold a matching row are not added up.
            case_sensitive: Whether column names of the filter must match in case.

        Examples:
            >>> table.inspect.partitions().select(["record_count", "file_count"]).to_pylist()
            [{'record_count': 3, 'file_count': 1}]
        """
        scan = self.scan("partitions", snapshot_id, row_filter=row_filter, case_sensitive=case_sensitive)
        return scan.to_arrow()

    def _read(self, name: str, snapshot_id: int | None = None) -> pa.Table:
        return self.scan(name, snapshot_id).to_arrow()
