"""Row-level changes: new data files and delete files in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.io.arrow_values import int_scalar
from icefloe.manifest.columns import data_file_columns
from icefloe.manifest.data_file import DataFile
from icefloe.table.commit.concurrent_changes import changes_since
from icefloe.table.commit.data_file_changes import as_paths, checked_data_files
from icefloe.table.commit.manifest_writer import DATA
from icefloe.table.commit.referenced_files import absent_data_files, absolute_paths, referenced_paths, refuse_absent
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.snapshot_producer import head_of
from icefloe.table.commit.summary import POSITION_DELETES
from icefloe.table.commit.validated_change import ValidatedChange
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.commit.change import Versions


class RowDelta(ValidatedChange):
    """Adds data files and delete files, and removes data files and delete files.

    Equality delete files apply to data files of earlier commits, position delete files also to data files of the same commit.

    Examples:
        >>> import pyarrow as pa
        >>> from icefloe.catalog import load_catalog
        >>> from icefloe.table.write.equality_deletes import write_equality_deletes
        >>> catalog = load_catalog("scratch", type="memory")
        >>> catalog.create_namespace("db")
        >>> table = catalog.create_table("db.points", pa.schema([("x", pa.int64())]))
        >>> table.append(pa.table({"x": [1, 2]}))
        >>> read = table.current_snapshot().snapshot_id
        >>> (file,) = write_equality_deletes(table.io, table.metadata, pa.table({"x": [1]}), [1])
        >>> delta = table.new_row_delta().add_deletes(file)
        >>> delta.validate_from_snapshot(read).validate_no_conflicting_data_files().commit()
        >>> table.current_snapshot().summary["added-equality-deletes"]
        '1'
    """

    _is_planned = False
    _are_live = False

    def add_rows(self, data_files: DataFile | pa.RecordBatch) -> Self:
        """Add a data file, or data files as DataFile columns, the form that `_core.write_data_files` returns.

        Raises:
            ValidationError: A file is a delete file, or its partition tuple does not fit its spec.
        """
        columns = self._columns(data_files)
        _check_content(columns, deletes=False)
        self._added.append(columns)
        return self

    def add_deletes(self, delete_files: DataFile | pa.RecordBatch) -> Self:
        """Add a delete file, or delete files as DataFile columns, the form that `_core.write_position_deletes` returns.

        The data file of a position delete file must be part of the table, or of this change, when the change commits:
        `referenced_data_file`, else the path that both bounds of the `file_path` column have. The data files of a delete file that states neither
        are not known and not checked; pass them to `validate_data_files_exist`.

        Raises:
            ValidationError: A file is a data file, or its partition tuple does not fit its spec.
        """
        columns = self._columns(delete_files)
        _check_content(columns, deletes=True)
        self._added_deletes.append(columns)
        positions = columns.filter(pc.equal(columns.column("content"), int_scalar(POSITION_DELETES, pa.int32())))
        referenced = positions.column("referenced_data_file")
        if referenced.null_count > 0:
            referenced = referenced_paths(positions)
        if referenced.null_count < len(referenced):
            self._referenced.append(as_paths(pc.drop_null(referenced)))
        return self

    def remove_rows(self, files: DataFile | pa.Array | list[str]) -> Self:
        """Remove data files whole: one file, or the paths of files. Each must be part of the table when the change commits."""
        return self.remove_files(RemovedFiles(_paths(files)))

    def remove_deletes(self, files: DataFile | pa.Array | list[str]) -> Self:
        """Remove delete files: one file, or the paths of files. Each must be part of the table when the change commits.

        Rows that only these files delete are back in the table, unless new delete files repeat the deletes.
        """
        return self.remove_delete_files(RemovedFiles(_paths(files)))

    def validate_data_files_exist(self, paths: pa.Array | list[str]) -> Self:
        """Fail if one of these data files, which the new delete files refer to, is not part of the table when the change commits.

        Files that a concurrent `delete` operation removed do not count, unless `validate_deleted_files` is called as well.

        Args:
            paths: The paths exactly as the table's manifests spell them.
        """
        self._referenced.append(as_paths(paths))
        return self

    def validate_deleted_files(self) -> Self:
        """Let `validate_data_files_exist` also fail for data files that a concurrent `delete` operation removed."""
        self._include_deletes = True
        return self

    def validate_no_conflicting_data_files(self) -> Self:
        """Fail if a concurrent commit added rows that match the conflict detection filter (serializable isolation)."""
        return self.validate_no_conflicting_data()

    def validate_no_conflicting_delete_files(self) -> Self:
        """Fail if a concurrent commit deleted rows that match the conflict detection filter."""
        return self.validate_no_conflicting_deletes()

    def commit(self) -> None:
        """Add the change to its transaction; one with `autocommit` commits it now.

        Raises:
            ValidationError: A removed data file is one that the new delete files refer to.
            ValidationException: A concurrent commit conflicts with this change, or a data file that position deletes refer to is not part
                of the table.
            CommitFailedException: Concurrent commits won more often than `commit.retry.num-retries` allows.
        """
        if self._removed and self._referenced:
            removed = pa.concat_arrays(self._deleted_paths)
            both = removed.filter(pc.is_in(removed, pa.concat_arrays(self._referenced))).to_pylist()
            if both:
                raise ValidationError(
                    f"row delta: data file {both[0]} is removed, and new delete files refer to it; leave out the deletes of removed "
                    "files"
                )
        super().commit()

    def validate(self, versions: Versions) -> None:  # noqa: D102 - described by the producer
        super().validate(versions)
        if self._referenced and not self._is_planned and not self._are_live:
            refuse_absent(self._absent(versions))
            # Removals by later commits are among the concurrent changes of later attempts.
            self._are_live = True

    def _absent(self, versions: Versions) -> pa.Array:
        """Return the referenced data files that are neither live nor added by this change, nor removed by an allowed `delete`."""
        referenced = pa.concat_arrays(self._referenced)
        for batch in self._added:
            referenced = referenced.filter(pc.invert(pc.is_in(referenced, batch.column("file_path"))))
        paths = absolute_paths(self._transaction.io, referenced)
        head = head_of(versions.working, self._branch)
        absent = absent_data_files(self._writer, versions.working, head, paths, self._added_deletes)
        if len(absent) == 0 or self._include_deletes:
            return absent
        newest = versions.newest
        changes = changes_since(self._transaction.io, newest, self._start_in(versions), head_of(newest, self._branch))
        return absent if changes is None else absent.filter(pc.invert(pc.is_in(absent, changes.paths_of_deletes)))

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        if self._added_deletes and not self._added:
            return Operation.DELETE
        if self._added and not self._added_deletes and not self._removed:
            return Operation.APPEND
        return Operation.OVERWRITE

    def _columns(self, files: DataFile | pa.RecordBatch) -> pa.RecordBatch:
        if not isinstance(files, DataFile):
            return checked_data_files("row delta", files)
        metadata = self._transaction.table_metadata
        return data_file_columns([files], metadata.specs(), metadata.schema())


class PlannedRowDelta(RowDelta):
    """A row delta whose deletes refer to data files of a plan of the snapshot that it validates from, in which the files are live."""

    _is_planned = True


def _paths(files: DataFile | pa.Array | list[str]) -> pa.Array:
    return as_paths([files.file_path] if isinstance(files, DataFile) else files)


def _check_content(files: pa.RecordBatch, *, deletes: bool) -> None:
    """Raise ValidationError if a data file is among delete files, or a delete file among data files."""
    is_data = pc.equal(files.column("content"), int_scalar(DATA, pa.int32()))
    wrong = files.column("file_path").filter(is_data if deletes else pc.invert(is_data))
    if len(wrong) > 0:
        expected, found, method = ("delete", "data", "add_rows") if deletes else ("data", "delete", "add_deletes")
        raise ValidationError(
            f"row delta: expected {expected} files, got {found} file {wrong[0].as_py()}; pass it to {method}()"
        )
