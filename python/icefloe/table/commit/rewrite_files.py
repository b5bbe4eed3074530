"""Snapshots that replace files by files with the same rows, as compaction does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.arguments import checked_integer, checked_snapshot_id
from icefloe.exceptions import ValidationError, ValidationException
from icefloe.table.commit.concurrent_changes import changes_since
from icefloe.table.commit.conflicts import check_no_deletes_of_moved_rows, check_no_new_deletes_for
from icefloe.table.commit.data_file_changes import as_paths, checked_data_files
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.commit.summary import POSITION_DELETES
from icefloe.table.commit.validated_change import ValidatedChange
from icefloe.table.snapshots import Operation, ancestors_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.commit.change import Versions
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot
    from icefloe.table.update import TableRequirement, TableUpdate

_OWN = "an earlier change of this transaction"


class RewriteFiles(ValidatedChange):
    """Replaces data and delete files by files with the same live rows. Every replaced file must still be live when the change commits.

    A concurrent delete of rows of a replaced data file conflicts. With `data_sequence_number`, later equality deletes do not: they
    apply to the new files as well. If new files hold rows of files of another partition spec, later equality deletes conflict that apply
    only to the replaced files or only to the new ones. Deletes of the same transaction that the rewrite has not read count as later ones.

    Examples:
        rewrite = table.new_rewrite()
        rewrite.delete(small_files).append(large_file).data_sequence_number(snapshot.sequence_number)
        rewrite.commit()
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]  # those of the producer
        self._sequence_number: int | None = None
        self._sources: list[tuple[pa.RecordBatch, RemovedFiles | None]] = []
        self._unused_in: int | None = None

    def append(self, data_files: pa.RecordBatch, *, rows_of: RemovedFiles | None = None) -> Self:
        """Add data files with the rows of the replaced ones.

        Args:
            data_files: DataFile columns as `_core.write_data_files` returns them.
            rows_of: The replaced files whose rows they hold, with their partitions; None for all replaced files.
        """
        added = checked_data_files("rewrite: append", data_files)
        self._added.append(added)
        self._sources.append((added.select(["spec_id", "partition"]), rows_of))
        return self

    def delete(self, paths: pa.Array | list[str]) -> Self:
        """Replace data files, by their paths."""
        return self.remove_files(RemovedFiles(as_paths(paths)))

    def add_deletes(self, delete_files: pa.RecordBatch) -> Self:
        """Add position delete files with the positions of replaced ones.

        Raises:
            ValidationError: One is an equality delete file, whose new sequence number would delete newer rows.
        """
        checked_data_files("rewrite: add_deletes", delete_files)
        if not pc.all(pc.equal(delete_files.column("content"), POSITION_DELETES)).as_py():
            raise ValidationError(
                "rewrite: expected position delete files, got an equality delete file; use merge_equality_deletes()"
            )
        self._added_deletes.append(delete_files)
        referenced = pc.drop_null(delete_files.column("referenced_data_file"))
        if len(referenced) > 0:
            self._referenced.append(as_paths(referenced))
        return self

    def delete_deletes(self, paths: pa.Array | list[str], *, unused_in: int | None = None) -> Self:
        """Remove delete files whose rows are gone from the new data files, by their paths.

        Args:
            paths: The paths.
            unused_in: The snapshot of the branch in which the delete files apply to no data file that stays. After a rollback to an
                older snapshot, whose data files may need them, the commit conflicts.
        """
        array = as_paths(paths)
        if unused_in is not None:
            unused_in = checked_snapshot_id(unused_in, "unused_in")
        if len(array) > 0:
            self._removed_deletes.append(RemovedFiles(array))
            self._unused_in = unused_in
        return self

    def merge_equality_deletes(
        self, replaced: pa.Array | list[str], merged: pa.RecordBatch, sequence_number: int
    ) -> Self:
        """Replace equality delete files by files with their keys.

        Concurrent rewrites do not conflict: they replace data files to which all of the delete files apply, or none.

        Args:
            replaced: Paths of delete files of one scope that apply to the same remaining data files.
            merged: The new delete files, DataFile columns.
            sequence_number: The greatest data sequence number of the replaced files, which the new ones get.
        """
        self.delete_deletes(replaced)
        self._added_deletes.append(numbered(merged, self.snapshot_id, sequence_number))
        return self

    def data_sequence_number(self, sequence_number: int) -> Self:
        """Give the new data files the data sequence number of the snapshot whose rows they hold.

        Equality deletes of later snapshots apply to the new files then.
        """
        self._sequence_number = checked_integer("data_sequence_number", sequence_number, least=0)
        self._keeps_sequence_number = True
        return self

    def validate(self, versions: Versions) -> None:  # noqa: D102 - described by the producer
        super().validate(versions)
        if self._sequence_number is not None and self._added:
            self._check_equality_deletes(versions, self._sequence_number)
        if self._unused_in is not None:
            self._check_unused(versions.newest, self._unused_in)

    def _check_equality_deletes(self, versions: Versions, sequence_number: int) -> None:
        """Raise ValidationException for deletes that others or this transaction added after the replaced rows were read.

        They conflict unless they delete the same rows from the new files as from the replaced ones. `ValidatedChange` has checked the replaced
        files for deletes of others.
        """
        others, own = (head_of(each, self._branch) for each in (versions.newest, versions.working))
        if others is not None:
            self._check_moved_rows(versions.newest, others, sequence_number)
        if own is None or own == others:
            return
        self._check_moved_rows(versions.working, own, sequence_number, by=_OWN)
        io = self._transaction.io
        changes = changes_since(io, versions.working, None if others is None else others.snapshot_id, own)
        if changes is not None and self._deleted_paths:
            paths, unread = pa.concat_arrays(self._deleted_paths), changes.after(sequence_number, versions.working)
            spec_ids = self._new_spec_ids()
            check_no_new_deletes_for(io, versions.working, own, unread, paths, new_spec_ids=spec_ids, by=_OWN)

    def _check_moved_rows(self, metadata: TableMetadata, head: Snapshot, sequence_number: int, **by: str) -> None:
        moved, replaced = self._moved_rows()
        if moved:
            files = pa.Table.from_batches(moved)
            check_no_deletes_of_moved_rows(self._transaction.io, metadata, head, replaced, files, sequence_number, **by)

    def _moved_rows(self) -> tuple[list[pa.RecordBatch], list[RemovedFiles]]:
        """Return the new files that may hold rows of files of other partition specs, and the replaced files with these rows."""
        moved, replaced = [], []
        for added, source in self._sources:
            if source is None:
                return [each for each, _ in self._sources], self._removed
            if source.partitions is None or _specs_of(source.partitions) != _specs_of(added):
                moved.append(added)
                replaced.append(source)
        return moved, replaced

    def _check_unused(self, newest: TableMetadata, unused_in: int) -> None:
        """Raise ValidationException if the branch does not have the snapshot in which the removed delete files are unused."""
        head = head_of(newest, self._branch)
        line = ancestors_of(head, newest) if head is not None else ()
        if all(snapshot.snapshot_id != unused_in for snapshot in line):
            raise ValidationException(
                f"cannot remove delete files: snapshot {unused_in}, in which nothing needs them, is no longer part of branch "
                f"{self._branch!r}; plan again"
            )

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.REPLACE

    def commit(self) -> None:
        """Add the change to its transaction.

        Raises:
            ValidationError: Nothing is replaced, or the new data files hold more rows than the replaced ones.
            ValidationException: A concurrent commit changed a replaced file or deleted rows of it.
        """
        if not self._removed and not self._removed_deletes:
            raise ValidationError("rewrite: expected files to replace, got none; use new_append() to add files")
        if self._added and not self._removed:
            raise ValidationError("rewrite: expected data files to replace beside new data files, got none")
        if self._added_deletes and not self._removed_deletes:
            raise ValidationError("rewrite: expected delete files to replace beside new delete files, got none")
        if self._sequence_number is not None:
            self._added = [numbered(batch, self.snapshot_id, self._sequence_number) for batch in self._added]
        super().commit()

    def stage(self, base: TableMetadata, attempt: int) -> tuple[tuple[TableUpdate, ...], tuple[TableRequirement, ...]]:
        """Return the updates and requirements, after a check that no rows appear.

        Raises:
            ValidationError: The new data files hold more rows than the replaced ones.
        """
        updates, requirements = super().stage(base, attempt)
        summary = updates[0].snapshot.summary  # type: ignore[attr-defined]  # the first update adds the snapshot
        added, deleted = (int(summary.get(key, "0")) for key in ("added-records", "deleted-records"))
        if added > deleted:
            raise ValidationError(
                f"rewrite: expected new data files of at most the {deleted} rows of the replaced ones, got {added} rows"
            )
        return updates, requirements


def _specs_of(files: pa.RecordBatch | pa.Table) -> set[int]:
    """Return the ids of the partition specs of files."""
    return set(pc.unique(files.column("spec_id")).to_pylist())


def numbered(files: pa.RecordBatch, snapshot_id: int, sequence_number: int) -> pa.RecordBatch:
    """Return added files as manifest entries with a data sequence number.

    Args:
        files: DataFile columns; manifest entries are returned as they are.
        snapshot_id: The snapshot that adds the files.
        sequence_number: The data sequence number.
    """
    if "status" in files.schema.names or files.num_rows == 0:
        return files
    count = files.num_rows
    columns = {
        "status": pa.repeat(pa.scalar(1, pa.int32()), count),
        "snapshot_id": pa.repeat(pa.scalar(snapshot_id, pa.int64()), count),
        "sequence_number": pa.repeat(pa.scalar(sequence_number, pa.int64()), count),
        "file_sequence_number": pa.nulls(count, pa.int64()),
    }
    return pa.RecordBatch.from_pydict({**columns, **dict(zip(files.schema.names, files.columns, strict=True))})
