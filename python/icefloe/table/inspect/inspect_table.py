"""Metadata tables as Arrow tables, with the column names of Iceberg's metadata tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.manifest.reading import MANIFEST_SCHEMA
from icefloe.table.read_context import schema_json, specs_json
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from icefloe.io import FileIO
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

MILLISECONDS = pa.timestamp("ms", "UTC")
ENTRY_COLUMNS = ("status", "snapshot_id", "sequence_number", "file_sequence_number")


class InspectTable:
    """The metadata tables of one table. Each method reads what it returns.

    Partition tuples are JSON arrays of single values, in the order of the spec's fields. A table without snapshots has
    metadata tables without rows.

    Examples:
        >>> table.inspect.files().column("record_count").to_pylist()
        [3]
    """

    def __init__(self, metadata: TableMetadata, io: FileIO) -> None:
        self._metadata = metadata
        self._io = io

    def snapshots(self) -> pa.Table:
        """Return one row per snapshot: committed_at, snapshot_id, parent_id, operation, manifest_list, summary.

        `parent_id` is null for a first snapshot, `manifest_list` and `summary` where old writers omitted them.
        """
        known = self._metadata.snapshots
        return pa.table(
            {
                "committed_at": pa.array([one.timestamp_ms for one in known], MILLISECONDS),
                "snapshot_id": pa.array([one.snapshot_id for one in known], pa.int64()),
                "parent_id": pa.array([one.parent_snapshot_id for one in known], pa.int64()),
                "operation": pa.array([one.operation.value for one in known], pa.string()),
                "manifest_list": pa.array([one.manifest_list for one in known], pa.string()),
                "summary": pa.array(
                    [
                        list(one.summary.additional_properties.items()) if one.summary is not None else None
                        for one in known
                    ],
                    pa.map_(pa.string(), pa.string()),
                ),
            }
        )

    def history(self) -> pa.Table:
        """Return one row per change of the current snapshot: made_current_at, snapshot_id, parent_id, is_current_ancestor.

        `parent_id` is null for a first snapshot and for an expired one.
        """
        log = self._metadata.snapshot_log
        current = {one.snapshot_id for one in ancestors_of(self._metadata.current_snapshot(), self._metadata)}
        found = [self._metadata.snapshot_by_id(entry.snapshot_id) for entry in log]
        return pa.table(
            {
                "made_current_at": pa.array([entry.timestamp_ms for entry in log], MILLISECONDS),
                "snapshot_id": pa.array([entry.snapshot_id for entry in log], pa.int64()),
                "parent_id": pa.array(
                    [one.parent_snapshot_id if one is not None else None for one in found], pa.int64()
                ),
                "is_current_ancestor": pa.array([entry.snapshot_id in current for entry in log], pa.bool_()),
            }
        )

    def refs(self) -> pa.Table:
        """Return one row per branch or tag, sorted by name: name, type, snapshot_id, and its retention settings.

        Settings that are not set are null: max_reference_age_in_ms, min_snapshots_to_keep, max_snapshot_age_in_ms.
        """
        refs = sorted(self._metadata.refs.items())
        return pa.table(
            {
                "name": pa.array([name for name, _ in refs], pa.string()),
                "type": pa.array([ref.snapshot_ref_type.value.upper() for _, ref in refs], pa.string()),
                "snapshot_id": pa.array([ref.snapshot_id for _, ref in refs], pa.int64()),
                "max_reference_age_in_ms": pa.array([ref.max_ref_age_ms for _, ref in refs], pa.int64()),
                "min_snapshots_to_keep": pa.array([ref.min_snapshots_to_keep for _, ref in refs], pa.int32()),
                "max_snapshot_age_in_ms": pa.array([ref.max_snapshot_age_ms for _, ref in refs], pa.int64()),
            }
        )

    def metadata_log_entries(self) -> pa.Table:
        """Return one row per earlier metadata file: timestamp, file."""
        log = self._metadata.metadata_log
        return pa.table(
            {
                "timestamp": pa.array([entry.timestamp_ms for entry in log], MILLISECONDS),
                "file": pa.array([entry.metadata_file for entry in log], pa.string()),
            }
        )

    def manifests(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per manifest of a snapshot.

        Args:
            snapshot_id: The snapshot, None for the current one.

        Raises:
            ValidationError: The table has no such snapshot.
        """
        rows = self._manifest_rows(snapshot_id)
        is_data = pc.equal(rows.column("content"), 0)
        zero = pa.scalar(0, pa.int32())
        columns = {
            "content": rows.column("content"),
            "path": rows.column("manifest_path"),
            "length": rows.column("manifest_length"),
            "partition_spec_id": rows.column("partition_spec_id"),
            "added_snapshot_id": rows.column("added_snapshot_id"),
        }
        for kind in ("added", "existing", "deleted"):
            columns[f"{kind}_data_files_count"] = pc.if_else(is_data, rows.column(f"{kind}_files_count"), zero)
        for kind in ("added", "existing", "deleted"):
            columns[f"{kind}_delete_files_count"] = pc.if_else(is_data, zero, rows.column(f"{kind}_files_count"))
        columns["partition_summaries"] = rows.column("partitions")
        return pa.table(columns)

    def entries(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per manifest entry of a snapshot, removed files included: status, sequence numbers and the file.

        Args:
            snapshot_id: The snapshot, None for the current one.
        """
        return self._entries(snapshot_id, "all")

    def files(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per live data or delete file of a snapshot."""
        live = self._entries(snapshot_id, "live")
        return live.drop_columns(list(ENTRY_COLUMNS))

    def data_files(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per live data file of a snapshot."""
        files = self.files(snapshot_id)
        return files.filter(pc.equal(files.column("content"), 0))

    def delete_files(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per live delete file of a snapshot."""
        files = self.files(snapshot_id)
        return files.filter(pc.greater(files.column("content"), 0))

    def partitions(self, snapshot_id: int | None = None) -> pa.Table:
        """Return one row per partition of a snapshot: data files, rows and bytes, and delete files by kind.

        Examples:
            >>> table.inspect.partitions().select(["record_count", "file_count"]).to_pylist()
            [{'record_count': 3, 'file_count': 1}]
        """
        files = self.files(snapshot_id)
        content = files.column("content")
        counted = {"partition": files.column("partition"), "spec_id": files.column("spec_id")}
        for prefix, kind in (("", 0), ("position_delete_", 1), ("equality_delete_", 2)):
            own = pc.equal(content, kind)
            counted[f"{prefix}record_count"] = pc.if_else(own, files.column("record_count"), 0)
            counted[f"{prefix}file_count"] = own.cast(pa.int32())
        counted["total_data_file_size_in_bytes"] = pc.if_else(
            pc.equal(content, 0), files.column("file_size_in_bytes"), 0
        )
        sums = [name for name in counted if name not in ("partition", "spec_id")]
        grouped = pa.table(counted).group_by(["partition", "spec_id"]).aggregate([(name, "sum") for name in sums])
        return grouped.rename_columns([name.removesuffix("_sum") for name in grouped.column_names])

    # ---- parts

    def _snapshot(self, snapshot_id: int | None) -> Snapshot | None:
        if snapshot_id is None:
            return self._metadata.current_snapshot()
        found = self._metadata.snapshot_by_id(snapshot_id)
        if found is None:
            raise ValidationError(f"the table has no snapshot {snapshot_id}; it may have been expired")
        return found

    def _manifest_rows(self, snapshot_id: int | None) -> pa.Table:
        snapshot = self._snapshot(snapshot_id)
        return MANIFEST_SCHEMA.empty_table() if snapshot is None else snapshot.manifest_rows(self._io)

    def _entries(self, snapshot_id: int | None, keep: str) -> pa.Table:
        rows = self._manifest_rows(snapshot_id)
        return _core.read_manifest(
            self._io.core,
            rows,
            schema=schema_json(self._metadata.schema()),
            specs=specs_json(self._metadata),
            keep=keep,
        )
