"""The commits of a row-level change whose files are written: delete files beside new rows, or rewritten files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.commit.data_file_changes import OverwriteFiles
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.row_delta import PlannedRowDelta

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.expressions.filter import Filter
    from icefloe.table.row_level.target import Target


def _no_paths() -> pa.Array:
    return pa.array([], pa.string())


@dataclass(frozen=True, kw_only=True)
class RowLevelOperation:
    """A row-level operation on a target.

    Attributes:
        target: The table and branch.
        name: `delete`, `update` or `merge`: the operation whose table properties apply.
        row_filter: The rows that the operation read.
        covered_deletes: Delete files that apply to no row any more, as the operation removes whole partitions.
    """

    target: Target
    name: str
    row_filter: Filter
    covered_deletes: RemovedFiles = field(default_factory=RemovedFiles.none)


@dataclass(frozen=True, kw_only=True)
class RowDeltaFiles:
    """The files of a change that marks rows as deleted.

    Attributes:
        rows: Files of new rows.
        deletes: Position delete files; None when no row is deleted by position.
        replaced: The delete files whose positions the new ones repeat.
        referenced: Paths of the data files that the position deletes refer to.
        removed: The data files that are removed whole.
    """

    rows: list[pa.RecordBatch] = field(default_factory=list)
    deletes: pa.RecordBatch | None = None
    replaced: RemovedFiles = field(default_factory=RemovedFiles.none)
    referenced: pa.Array = field(default_factory=_no_paths)
    removed: RemovedFiles = field(default_factory=RemovedFiles.none)


def commit_row_delta(operation: RowLevelOperation, files: RowDeltaFiles) -> None:
    """Add new rows and position deletes to the operation's transaction, with the checks of its isolation level."""
    target = operation.target
    change = PlannedRowDelta(target.transaction, target.branch, target.snapshot_properties)
    for batch in files.rows:
        change.add_rows(batch)
    change.remove_files(files.removed)
    if files.deletes is not None:
        change.add_deletes(files.deletes).remove_delete_files(files.replaced)
        change.validate_data_files_exist(files.referenced).validate_deleted_files()
    change.drop_deletes(operation.covered_deletes)
    target.add_checks(change, operation.row_filter, operation.name)
    change.commit()


def commit_rewrite(operation: RowLevelOperation, replaced: Sequence[RemovedFiles], rows: list[pa.RecordBatch]) -> None:
    """Replace data files in the operation's transaction, with the checks of its isolation level.

    Args:
        operation: The operation.
        replaced: The data files to remove.
        rows: Files of the rows that remain and of new rows.
    """
    target = operation.target
    change = OverwriteFiles(target.transaction, target.branch, target.snapshot_properties)
    for removed in replaced:
        change.remove_files(removed)
    for batch in rows:
        change.append(batch)
    change.drop_deletes(operation.covered_deletes)
    target.add_checks(change, operation.row_filter, operation.name)
    change.commit()
