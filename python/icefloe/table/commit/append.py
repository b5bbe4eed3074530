"""Appends: new data files, nothing else, and nothing that could conflict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.commit.snapshot_producer import SnapshotProducer
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self


class FastAppend(SnapshotProducer):
    """Adds files in a manifest of their own and keeps all other manifests as they are."""

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.APPEND

    def append(self, data_files: pa.RecordBatch) -> Self:
        """Add data files, DataFile columns as `_core.write_data_files` returns them."""
        self._added.append(data_files)
        return self


class MergeAppend(FastAppend):
    """Adds files and merges small manifests, so that a table of many small appends stays quick to plan."""

    merges = True
