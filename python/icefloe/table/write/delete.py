"""Deleting rows by a filter: whole files where metadata proves that all rows match, rows of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.rows_read import RowsRead
from icefloe.table.read_context import schema_json
from icefloe.table.write.isolation import is_serializable
from icefloe.table.write.rows import kept_rows, matching, position_stream, targets, with_files

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.expressions.filter import Filter
    from icefloe.table.commit.validated import ValidatedChange
    from icefloe.table.row_level.target import Target
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.write.rows import Positions

OPERATION = "delete"


def delete_rows(target: Target, delete_filter: str | BooleanExpression, *, case_sensitive: bool) -> None:
    """Delete the rows of a filter, in one snapshot; nothing is committed when no row matches."""
    row_filter = target.filter(delete_filter, case_sensitive=case_sensitive)
    plan = target.plan(row_filter)
    whole = pc.fill_null(plan.files.column("must_match"), False)
    partial = with_files(plan, pc.invert(whole))
    positions = matching(partial)
    covered = plan.files.column("file_path").filter(whole)
    if len(covered) == 0 and positions.rows.num_rows == 0:
        read_only(target, row_filter, OPERATION)
        return
    if positions.rows.num_rows > 0 and target.merges_on_read(OPERATION):
        _merge_on_read(target, row_filter, covered, partial, positions)
    else:
        _copy_on_write(target, row_filter, covered, partial, positions)


def rewritten(target: Target, plan: ScanPlan, without: Positions) -> tuple[pa.Array, pa.RecordBatchReader]:
    """Return the files that hold any of the positions, and the stream of their other rows."""
    runs = without.runs()
    keep = pa.array([row in runs for row in range(plan.files.num_rows)], pa.bool_())
    touched = with_files(plan, keep)
    renumbered = without.renumbered(keep)
    return touched.files.column("file_path"), kept_rows(touched, schema_json(target.metadata.schema()), renumbered)


def with_checks(change: ValidatedChange, target: Target, row_filter: Filter, operation: str) -> None:
    """Ask for the checks that the table's isolation level calls for."""
    change.validate_from_snapshot(target.snapshot_id).conflict_detection_filter(row_filter)
    change.validate_no_conflicting_deletes()
    if is_serializable(target.metadata.properties, operation):
        change.validate_no_conflicting_data()


def read_only(target: Target, row_filter: Filter, operation: str) -> None:
    """Let the transaction depend on the rows of an operation that changes none of them."""
    read = RowsRead(target.transaction, target.branch, target.snapshot_properties)
    with_checks(read, target, row_filter, operation)
    read.commit()


def _copy_on_write(
    target: Target, row_filter: Filter, covered: pa.Array, partial: ScanPlan, positions: Positions
) -> None:
    change = target.transaction.new_overwrite(target.branch, target.snapshot_properties).delete(covered)
    if positions.rows.num_rows > 0:
        paths, rows = rewritten(target, partial, positions)
        change.delete(paths).append(target.writer.data_files(rows))
    with_checks(change, target, row_filter, OPERATION)
    change.commit()


def _merge_on_read(
    target: Target, row_filter: Filter, covered: pa.Array, partial: ScanPlan, positions: Positions
) -> None:
    deletes = target.writer.position_deletes(position_stream(partial, positions), targets(partial))
    change = target.transaction.new_row_delta(target.branch, target.snapshot_properties)
    change.remove_rows(covered).add_deletes(deletes)
    change.validate_data_files_exist(deletes_of(partial, positions)).validate_deleted_files()
    with_checks(change, target, row_filter, OPERATION)
    change.commit()


def deletes_of(plan: ScanPlan, positions: Positions) -> pa.Array:
    """Return the paths of the files that hold any of the positions."""
    return plan.files.column("file_path").take(pa.array(sorted(positions.runs()), pa.int64()))
