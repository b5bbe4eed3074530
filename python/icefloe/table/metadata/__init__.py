"""Table metadata: one immutable value per version of a table. Spec: Table Metadata."""

from __future__ import annotations

from icefloe.table.metadata.creation import new_table_metadata
from icefloe.table.metadata.entries import MetadataLog, SnapshotLog, Snapshots
from icefloe.table.metadata.parsing import TableMetadataUtil
from icefloe.table.metadata.repairs import CLOCK_TOLERANCE_MS
from icefloe.table.metadata.table_metadata import TableMetadata
from icefloe.table.metadata.versions import TableMetadataV1, TableMetadataV2, TableMetadataV3
from icefloe.table.snapshots import NO_SNAPSHOT_ID

__all__ = [
    "CLOCK_TOLERANCE_MS",
    "NO_SNAPSHOT_ID",
    "MetadataLog",
    "SnapshotLog",
    "Snapshots",
    "TableMetadata",
    "TableMetadataUtil",
    "TableMetadataV1",
    "TableMetadataV2",
    "TableMetadataV3",
    "new_table_metadata",
]
