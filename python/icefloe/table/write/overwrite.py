"""Replacing rows by others in one snapshot: the rows of a filter, or those of the partitions that the new rows are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.expressions import AlwaysTrue
from icefloe.table.commit.overwrite import OverwriteFiles
from icefloe.table.snapshots import Operation
from icefloe.table.write.delete import rewritten, with_checks
from icefloe.table.write.rows import matching, with_files

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.table.write.target import Target

OPERATION = "delete"


class ReplacePartitions(OverwriteFiles):
    """An overwrite whose summary says so, even when nothing was replaced."""

    def operation(self) -> Operation:  # noqa: D102 - described by the producer
        return Operation.OVERWRITE


def append_rows(target: Target, data: object) -> None:
    """Write rows and append them, in one snapshot."""
    files = target.writer.data_files(data)
    target.transaction.new_append(target.branch, target.snapshot_properties).append(files).commit()


def overwrite_rows(
    target: Target, data: object, overwrite_filter: str | BooleanExpression, *, case_sensitive: bool
) -> None:
    """Replace the rows of a filter by `data`, in one snapshot. Files that match in part keep their other rows."""
    row_filter = target.filter(overwrite_filter, case_sensitive=case_sensitive)
    plan = target.plan(row_filter)
    added = target.writer.data_files(data)
    whole = pc.fill_null(plan.files.column("must_match"), False)
    partial = with_files(plan, pc.invert(whole))
    positions = matching(partial)
    change = target.transaction.new_overwrite(target.branch, target.snapshot_properties)
    change.delete(plan.files.column("file_path").filter(whole)).append(added)
    if positions.rows.num_rows > 0:
        paths, rows = rewritten(target, partial, positions)
        change.delete(paths).append(target.writer.data_files(rows))
    with_checks(change, target, row_filter, OPERATION)
    change.commit()


def overwrite_partitions(target: Target, data: object) -> None:
    """Replace all rows of the partitions that `data` has rows in; no rows, no commit.

    An unpartitioned table is one partition.
    """
    added = target.writer.data_files(data)
    if added.num_rows == 0:
        return
    plan = target.plan(target.filter(AlwaysTrue()))
    replaced = _same_partition(plan.files, added)
    change = ReplacePartitions(target.transaction, target.branch, target.snapshot_properties)
    change.delete(plan.files.column("file_path").filter(replaced)).append(added)
    change.set_summary("replace-partitions", "true")
    change.commit()


def _same_partition(files: pa.RecordBatch, added: pa.RecordBatch) -> pa.Array:
    return pc.is_in(_partition_keys(files), _partition_keys(added))


def _partition_keys(files: pa.RecordBatch) -> pa.Array:
    return pc.binary_join_element_wise(files.column("spec_id").cast(pa.string()), files.column("partition"), ":")
