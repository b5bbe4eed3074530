"""The commit of a row-level change, in the mode that the table's properties choose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.dml.copy_on_write import CopyOnWrite
from icefloe.spark.dml.merge_on_read import MergeOnRead
from icefloe.spark.session import UNLIMITED_BATCH_BYTES, settings
from icefloe.spark.writer.arrow_map import worker_errors
from icefloe.spark.writer.distribution import SHUFFLE_SETTINGS

if TYPE_CHECKING:
    from icefloe.spark.dml.row_changes import RowChanges
    from icefloe.table.row_level.merge import MergeResult


def commit_changes(changes: RowChanges) -> MergeResult:
    """Write the files of a change and commit them in one snapshot; without a change there is no commit.

    Args:
        changes: The removed and the new rows.

    Raises:
        ValidationError: Several source rows change one target row.
        SchemaMismatchError: A new row does not fit the table.
        ValidationException: A concurrent commit conflicts.
    """
    with settings(changes.target.spark, {**UNLIMITED_BATCH_BYTES, **SHUFFLE_SETTINGS}), worker_errors():
        if _adds_files(changes):
            return MergeOnRead(changes).commit()
        return CopyOnWrite.of(changes).commit()


def reads_rows_once(changes: RowChanges) -> bool:
    """Return whether the commit of a change computes the rows once, so that they need no cache."""
    return _adds_files(changes) and (changes.updated is None or MergeOnRead(changes).is_one_pass)


def _adds_files(changes: RowChanges) -> bool:
    return (changes.removed is None and not changes.removes_scan) or changes.target.merges_on_read
