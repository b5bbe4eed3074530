"""Snapshots that add and remove whole data files: appends, overwrites, deletes and replaced partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.commit.snapshot_producer import SnapshotProducer
from icefloe.table.commit.validated_change import ValidatedChange
from icefloe.table.snapshots import Operation
from icefloe.table.update import AssertDefaultSpecId

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.commit.partition_set import PartitionSet
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate


class FastAppend(SnapshotProducer):
    """Adds data files in manifests of their own and leaves all other manifests as they are."""

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.APPEND

    def append(self, data_files: pa.RecordBatch) -> Self:
        """Add data files, DataFile columns as `_core.write_data_files` returns them."""
        self._added.append(data_files)
        return self


class MergeAppend(FastAppend):
    """Adds data files and merges small manifests, so that plans of a table with many small appends read few manifests."""

    merges = True


class OverwriteFiles(ValidatedChange):
    """Adds data files and removes data files; a removed file must still be live when the change commits."""

    def append(self, data_files: pa.RecordBatch) -> Self:
        """Add data files, DataFile columns as `_core.write_data_files` returns them."""
        self._added.append(data_files)
        return self

    def delete(self, paths: pa.Array | list[str]) -> Self:
        """Remove data files by their paths, exactly as the table's manifests spell them."""
        array = as_paths(paths)
        if len(array) > 0:
            self._deleted_paths.append(array)
        return self

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        if not self._deleted_paths:
            return Operation.APPEND
        return Operation.OVERWRITE if self._added else Operation.DELETE


class DeleteFiles(OverwriteFiles):
    """Removes data files and adds none."""

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.DELETE


class ReplacePartitions(OverwriteFiles):
    """Adds data files and removes the data files of the partitions that the added files lie in.

    The table's default spec decides which partitions these are, so the commit requires that spec.
    """

    def replace(self, partitions: PartitionSet) -> Self:
        """Set the replaced partitions; data that a concurrent commit adds to one of them conflicts."""
        self._partitions = partitions
        self.set_summary("replace-partitions", "true")
        return self

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.OVERWRITE

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Return the updates, and the requirements with the default spec's id among them."""
        updates, requirements = super().stage(base, attempt)
        if self._partitions is None:
            return updates, requirements
        spec_id = self._partitions.spec.spec_id
        return updates, (*requirements, AssertDefaultSpecId(default_spec_id=spec_id))


def as_paths(paths: pa.Array | pa.ChunkedArray | list[str]) -> pa.Array:
    """Return paths as one Arrow array of strings."""
    if isinstance(paths, pa.ChunkedArray):
        return paths.combine_chunks().cast(pa.string())
    return pa.array(paths, pa.string()) if isinstance(paths, list) else paths.cast(pa.string())
