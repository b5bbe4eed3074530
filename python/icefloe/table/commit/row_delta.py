"""Row-level changes: new data files and delete files in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from icefloe.table.commit.data_file_changes import as_paths
from icefloe.table.commit.validated_change import ValidatedChange
from icefloe.table.snapshots import Operation

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self


class RowDelta(ValidatedChange):
    """Adds data files and delete files, and removes data files that lost all rows.

    Delete files apply to data files of earlier commits, position delete files also to data files of the same commit.

    Examples:
        delta = table.new_row_delta()
        delta.add_rows(new_files).add_deletes(delete_files)
        delta.validate_from_snapshot(scan.snapshot().snapshot_id).validate_no_conflicting_data()
        delta.commit()
    """

    def add_rows(self, data_files: pa.RecordBatch) -> Self:
        """Add data files, DataFile columns as `_core.write_data_files` returns them."""
        self._added.append(data_files)
        return self

    def add_deletes(self, delete_files: pa.RecordBatch) -> Self:
        """Add delete files, DataFile columns as `_core.write_position_deletes` returns them.

        A data file in `referenced_data_file` must still be part of the table when the change commits.
        """
        self._added_deletes.append(delete_files)
        referenced = pc.drop_null(delete_files.column("referenced_data_file"))
        if len(referenced) > 0:
            self._referenced.append(as_paths(referenced))
        return self

    def remove_rows(self, paths: pa.Array | list[str]) -> Self:
        """Remove data files whole, by their paths."""
        array = as_paths(paths)
        if len(array) > 0:
            self._deleted_paths.append(array)
        return self

    def validate_data_files_exist(self, paths: pa.Array | list[str]) -> Self:
        """Fail if a concurrent commit removed one of these data files, which the new delete files refer to."""
        self._referenced.append(as_paths(paths))
        return self

    def validate_deleted_files(self) -> Self:
        """Let `validate_data_files_exist` also fail for data files that a `delete` operation removed."""
        self._include_deletes = True
        return self

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        if self._added_deletes and not self._added and not self._deleted_paths:
            return Operation.DELETE
        if self._added and not self._added_deletes and not self._deleted_paths:
            return Operation.APPEND
        return Operation.OVERWRITE
