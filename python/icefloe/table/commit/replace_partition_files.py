"""Snapshots that replace every file of the partitions that new files lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.table.commit.conflicts import (
    check_no_data_in_partitions,
    check_no_deletes_in_partitions,
    check_no_removed_data_in_partitions,
)
from icefloe.table.commit.data_file_changes import OverwriteFiles
from icefloe.table.commit.manifest_writer import DATA
from icefloe.table.commit.partition_set import PartitionSet
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.snapshots import Operation
from icefloe.table.update import AssertDefaultSpecId

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.expressions.filter import Filter
    from icefloe.table.commit.change import Versions
    from icefloe.table.commit.concurrent_changes import ConcurrentChanges
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.table.update import TableRequirement, TableUpdate


class ReplacePartitionFiles(OverwriteFiles):
    """Adds data files and removes the live data and delete files of the same partitions of the same spec.

    A file of another spec stays. In an unpartitioned table, every file is replaced, of whatever spec. Without a requested check, files that
    others add to the partitions before the commit are replaced too.

    As in the Java library, `validate_no_conflicting_data` fails for every data file that others added to the replaced partitions since the
    starting snapshot, and `validate_no_conflicting_deletes` for every data file that they removed from the partitions and every delete file that
    they added to them, also if later commits undid the change. Files of other specs are not compared.
    """

    _partitions: PartitionSet | None = None

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

    def conflict_detection_filter(self, row_filter: str | BooleanExpression | Filter) -> Self:
        """Raise ValidationError: the replaced partitions decide which commits conflict."""
        raise ValidationError(
            "replace partitions: the partitions of the new files decide which commits conflict, so no filter restricts the checks; leave "
            "out conflict_detection_filter()"
        )

    def validate(self, versions: Versions) -> None:
        """Raise ValidationException if a concurrent commit conflicts."""
        self._removed = []
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
        self._removed, self._removed_deletes = [], []
        self.remove_files(RemovedFiles.of(replaced.filter(is_data)))
        self.remove_delete_files(RemovedFiles.of(replaced.filter(pc.invert(is_data))))
        updates, requirements = super().stage(base, attempt)
        return updates, (*requirements, AssertDefaultSpecId(default_spec_id=partitions.spec.spec_id))

    def _named_deletes(self) -> list[RemovedFiles]:
        """Return nothing: delete files are removed with their partitions."""
        return []

    def _check_added_data(self, newest: TableMetadata, head: Snapshot, changes: ConcurrentChanges) -> None:
        assert self._partitions is not None, "commit() sets them"
        check_no_data_in_partitions(changes.without(changes.replacements), self._partitions)

    def _check_deleted_rows(
        self, newest: TableMetadata, start: Snapshot | None, head: Snapshot, changes: ConcurrentChanges
    ) -> None:
        assert self._partitions is not None, "commit() sets them"
        check_no_removed_data_in_partitions(changes, self._partitions)
        check_no_deletes_in_partitions(changes.without(changes.replacements), self._partitions)
