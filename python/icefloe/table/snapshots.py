"""Snapshots of a table, their ancestry and their logs. Spec: Snapshots."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import Field, StrictStr

from icefloe.manifest import ManifestFile, read_manifest_list
from icefloe.table.environment import SYSTEM
from icefloe.table.snapshot_summary import (
    ADDED_DATA_FILES,
    ADDED_DELETE_FILES,
    ADDED_EQUALITY_DELETE_FILES,
    ADDED_EQUALITY_DELETES,
    ADDED_FILE_SIZE,
    ADDED_POSITION_DELETE_FILES,
    ADDED_POSITION_DELETES,
    ADDED_RECORDS,
    CHANGED_PARTITION_COUNT_PROP,
    CHANGED_PARTITION_PREFIX,
    DELETED_DATA_FILES,
    DELETED_RECORDS,
    OPERATION,
    PARTITION_SUMMARY_PROP,
    REMOVED_DELETE_FILES,
    REMOVED_EQUALITY_DELETE_FILES,
    REMOVED_EQUALITY_DELETES,
    REMOVED_FILE_SIZE,
    REMOVED_POSITION_DELETE_FILES,
    REMOVED_POSITION_DELETES,
    TOTAL_DATA_FILES,
    TOTAL_DELETE_FILES,
    TOTAL_EQUALITY_DELETES,
    TOTAL_FILE_SIZE,
    TOTAL_POSITION_DELETES,
    TOTAL_RECORDS,
    Operation,
    SnapshotSummaryCollector,
    Summary,
    UpdateMetrics,
    set_when_positive,
    update_snapshot_summaries,
)
from icefloe.typedef import JsonInt, JsonLong, JsonModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from icefloe.io import FileIO

__all__ = [
    "ADDED_DATA_FILES",
    "ADDED_DELETE_FILES",
    "ADDED_EQUALITY_DELETES",
    "ADDED_EQUALITY_DELETE_FILES",
    "ADDED_FILE_SIZE",
    "ADDED_POSITION_DELETES",
    "ADDED_POSITION_DELETE_FILES",
    "ADDED_RECORDS",
    "CHANGED_PARTITION_COUNT_PROP",
    "CHANGED_PARTITION_PREFIX",
    "DELETED_DATA_FILES",
    "DELETED_RECORDS",
    "INITIAL_SEQUENCE_NUMBER",
    "NO_SNAPSHOT_ID",
    "OPERATION",
    "PARTITION_SUMMARY_PROP",
    "REMOVED_DELETE_FILES",
    "REMOVED_EQUALITY_DELETES",
    "REMOVED_EQUALITY_DELETE_FILES",
    "REMOVED_FILE_SIZE",
    "REMOVED_POSITION_DELETES",
    "REMOVED_POSITION_DELETE_FILES",
    "TOTAL_DATA_FILES",
    "TOTAL_DELETE_FILES",
    "TOTAL_EQUALITY_DELETES",
    "TOTAL_FILE_SIZE",
    "TOTAL_POSITION_DELETES",
    "TOTAL_RECORDS",
    "IsolationLevel",
    "MetadataLogEntry",
    "Operation",
    "Snapshot",
    "SnapshotLogEntry",
    "SnapshotSummaryCollector",
    "Summary",
    "UpdateMetrics",
    "ancestors_between",
    "ancestors_between_ids",
    "ancestors_of",
    "is_ancestor_of",
    "is_parent_ancestor_of",
    "latest_ancestor_before_timestamp",
    "set_when_positive",
    "update_snapshot_summaries",
]

INITIAL_SEQUENCE_NUMBER = 0
# The `current-snapshot-id` in metadata files of a table without snapshots.
NO_SNAPSHOT_ID = -1


class IsolationLevel(str, Enum):
    """The concurrent commits that conflict with a row-level operation."""

    SERIALIZABLE = "serializable"
    SNAPSHOT = "snapshot"


class Snapshot(JsonModel):
    """A state of a table, with the manifest list of its files.

    Args:
        snapshot_id: Random positive id.
        parent_snapshot_id: The snapshot that this snapshot is based on.
        sequence_number: Order of commits, 0 in format version 1.
        timestamp_ms: Time of the commit, milliseconds since 1970-01-01 UTC.
        manifest_list: Location of the manifest list; None in old v1 snapshots, which have ``manifest_paths`` instead.
        summary: Operation and counts of the commit.
        schema_id: Id of the table's schema at the time of the commit.
        first_row_id: Id of the first row that the commit added, from format version 3.
        added_rows: Upper bound of the rows that the commit gave ids to, from format version 3.
        key_id: Id of the key that encrypts the manifest list's key metadata, from format version 3.
    """

    snapshot_id: JsonLong
    parent_snapshot_id: JsonLong | None = None
    sequence_number: JsonLong = INITIAL_SEQUENCE_NUMBER
    timestamp_ms: JsonLong = Field(default_factory=SYSTEM.now_ms)
    manifest_list: StrictStr | None = None
    manifest_paths: tuple[str, ...] | None = Field(
        default=None, validation_alias="manifests", serialization_alias="manifests"
    )
    summary: Summary | None = None
    schema_id: JsonInt | None = None
    first_row_id: JsonLong | None = None
    added_rows: JsonLong | None = None
    key_id: StrictStr | None = None

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the JSON object; a sequence number of 0 is omitted, as in format version 1."""
        value = super().model_dump(**options)
        if self.sequence_number == 0:
            value.pop("sequence-number", None)
        return value

    @property
    def operation(self) -> Operation:
        """The operation of the commit; overwrite if the summary lacks it."""
        return Operation.OVERWRITE if self.summary is None else self.summary.operation

    def manifests(self, io: FileIO) -> list[ManifestFile]:
        """Return the snapshot's manifests, in the order of its manifest list.

        Manifests of an old v1 snapshot, listed in the table metadata, have only path, length, partition spec and snapshot id.
        """
        if self.manifest_list is not None:
            return list(read_manifest_list(io.new_input(self.manifest_list)))
        from icefloe.manifest.reading import schema_and_spec

        return [
            ManifestFile(
                manifest_path=path,
                manifest_length=len(io.new_input(path)),
                partition_spec_id=schema_and_spec(io, path)[1].spec_id,
                added_snapshot_id=self.snapshot_id,
            )
            for path in self.manifest_paths or ()
        ]

    def manifest_rows(self, io: FileIO) -> pa.Table:
        """Return the snapshot's manifests as rows of a manifest list.

        Manifests of an old v1 snapshot, listed in the table metadata, have null as added snapshot id and as partition
        summaries.

        Raises:
            MissingFileError: The manifest list, or a manifest of the snapshot, does not exist.
            CorruptFileError: A file does not follow the format.
        """
        import pyarrow as pa

        from icefloe import _core

        if self.manifest_list is not None:
            return pa.Table.from_batches([_core.read_manifest_list(io.core, self.manifest_list)])
        return pa.Table.from_batches([_core.describe_manifests(io.core, list(self.manifest_paths or ()))])

    def __str__(self) -> str:
        operation = "" if self.summary is None else f"{self.summary.operation}: "
        parent = "" if self.parent_snapshot_id is None else f", parent_id={self.parent_snapshot_id}"
        schema = "" if self.schema_id is None else f", schema_id={self.schema_id}"
        return f"{operation}id={self.snapshot_id}{parent}{schema}"

    def __repr__(self) -> str:
        parts = [
            f"snapshot_id={self.snapshot_id}",
            f"parent_snapshot_id={self.parent_snapshot_id}",
            f"sequence_number={self.sequence_number}",
            f"timestamp_ms={self.timestamp_ms}",
            f"manifest_list={self.manifest_list!r}",
        ]
        for name in ("summary", "schema_id", "first_row_id", "added_rows", "key_id"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name}={value!r}")
        return f"Snapshot({', '.join(parts)})"


class SnapshotLogEntry(JsonModel):
    """A snapshot, and the time at which it became current in milliseconds since 1970-01-01 UTC."""

    snapshot_id: JsonLong
    timestamp_ms: JsonLong


class MetadataLogEntry(JsonModel):
    """An earlier metadata file, and the time of its last update in milliseconds since 1970-01-01 UTC."""

    metadata_file: StrictStr
    timestamp_ms: JsonLong


class SnapshotLookup(Protocol):
    """The part of table metadata that ancestry needs."""

    def current_snapshot(self) -> Snapshot | None:
        """Return the current snapshot, or None."""

    def snapshot_by_id(self, snapshot_id: int) -> Snapshot | None:
        """Return the snapshot of an id, or None."""


def ancestors_of(current_snapshot: Snapshot | None, table_metadata: SnapshotLookup) -> Iterator[Snapshot]:
    """Yield a snapshot and its ancestors, newest first, up to the oldest that has not been expired."""
    snapshot = current_snapshot
    seen: set[int] = set()
    while snapshot is not None and snapshot.snapshot_id not in seen:
        yield snapshot
        seen.add(snapshot.snapshot_id)
        parent = snapshot.parent_snapshot_id
        snapshot = None if parent is None else table_metadata.snapshot_by_id(parent)


def ancestors_between(
    from_snapshot: Snapshot | None, to_snapshot: Snapshot, table_metadata: SnapshotLookup
) -> Iterator[Snapshot]:
    """Yield ``to_snapshot`` and its ancestors down to ``from_snapshot``, both included; all ancestors if that is None."""
    for snapshot in ancestors_of(to_snapshot, table_metadata):
        yield snapshot
        if from_snapshot is not None and snapshot.snapshot_id == from_snapshot.snapshot_id:
            return


def ancestors_between_ids(
    from_snapshot_id_exclusive: int | None, to_snapshot_id_inclusive: int, table_metadata: SnapshotLookup
) -> Iterator[Snapshot]:
    """Yield a snapshot and its ancestors, newest first, down to another snapshot, which is excluded."""
    for snapshot in ancestors_of(table_metadata.snapshot_by_id(to_snapshot_id_inclusive), table_metadata):
        if snapshot.snapshot_id == from_snapshot_id_exclusive:
            return
        yield snapshot


def is_ancestor_of(snapshot_id: int, ancestor_snapshot_id: int, table_metadata: SnapshotLookup) -> bool:
    """Return whether the second snapshot is the first one or an ancestor of it."""
    start = table_metadata.snapshot_by_id(snapshot_id)
    return any(snapshot.snapshot_id == ancestor_snapshot_id for snapshot in ancestors_of(start, table_metadata))


def is_parent_ancestor_of(snapshot_id: int, ancestor_parent_snapshot_id: int, table_metadata: SnapshotLookup) -> bool:
    """Return whether an ancestor of a snapshot has a parent of the given id. The parent itself may have been expired."""
    start = table_metadata.snapshot_by_id(snapshot_id)
    return any(
        snapshot.parent_snapshot_id == ancestor_parent_snapshot_id for snapshot in ancestors_of(start, table_metadata)
    )


def latest_ancestor_before_timestamp(table_metadata: SnapshotLookup, timestamp_ms: int) -> Snapshot | None:
    """Return the newest ancestor of the current snapshot that was committed before a time, None if there is none."""
    for snapshot in ancestors_of(table_metadata.current_snapshot(), table_metadata):
        if snapshot.timestamp_ms < timestamp_ms:
            return snapshot
    return None
