"""Snapshots that replace every file of the partitions that new files lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.table.commit.data_file_changes import OverwriteFiles
from icefloe.table.commit.manifest_writer import DATA
from icefloe.table.commit.partition_set import PartitionSet
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.snapshots import Operation
from icefloe.table.update import AssertDefaultSpecId

if TYPE_CHECKING:
    from icefloe.table.commit.change import Versions
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update import TableRequirement, TableUpdate


class ReplacePartitionFiles(OverwriteFiles):
    """Adds data files and removes the live data and delete files of the same partitions of the same spec.

    A file of another spec stays. In an unpartitioned table, every file is replaced, of whatever spec. Without `validate_from_snapshot`, files that others
    add to the partitions before the commit are replaced too.
    """

    def commit(self) -> None:
        """Add the change to its transaction.

        Raises:
            ValidationError: There is no new file, or a file has another spec than the table's default one.
            ValidationException: A concurrent commit conflicts.
        """
        metadata = self._transaction.table_metadata
        files = pa.Table.from_batches(self._added) if self._added else None
        if files is None or files.num_rows == 0:
            raise ValidationError("replace partitions: expected new data files, got none; use delete() to remove rows")
        self._partitions = PartitionSet(metadata.spec(), metadata.schema(), pc.unique(files.column("partition")))
        if not pc.all(self._partitions.has_spec(files)).as_py():
            raise ValidationError(
                f"replace partitions: expected files of the table's partition spec {metadata.default_spec_id}, got other specs; write "
                "the files again"
            )
        self.set_summary("replace-partitions", "true")
        super().commit()

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.OVERWRITE

    def validate(self, versions: Versions) -> None:
        """Raise ValidationException if a concurrent commit conflicts."""
        self._deleted_paths = []
        if self._from_start and self._partitions is not None and self._filter is None:
            self._filter = self._partitions.row_filter
        super().validate(versions)

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Return the updates that replace the files of `base`, and the requirements with the default spec's id among them."""
        partitions = self._partitions
        assert partitions is not None, "commit() sets them"
        manifests = self._writer.list_of(head_of(base, self._branch))
        if partitions.is_whole_table:
            replaced = self._writer.live_entries(base, manifests)
        else:
            same_spec = pc.equal(manifests.column("partition_spec_id"), partitions.spec.spec_id)
            entries = self._writer.live_entries(base, manifests.filter(same_spec))
            replaced = entries.filter(partitions.contains(entries))
        is_data = pc.equal(replaced.column("content"), DATA)
        paths = replaced.column("file_path")
        self._deleted_paths = _array(paths.filter(is_data))
        self._deleted_deletes = _array(paths.filter(pc.invert(is_data)))
        updates, requirements = super().stage(base, attempt)
        return updates, (*requirements, AssertDefaultSpecId(default_spec_id=partitions.spec.spec_id))


def _array(paths: pa.ChunkedArray) -> list[pa.Array]:
    return [paths.combine_chunks().cast(pa.string())] if len(paths) > 0 else []
