"""Deleting rows by a filter: whole data files if metadata proves that all rows match, single rows of all others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.compute as pc

from icefloe.table.commit.data_file_changes import OverwriteFiles
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.commit.row_delta import PlannedRowDelta
from icefloe.table.write.copied_pages import rewrite_without
from icefloe.table.write.covered_deletes import covered_deletes
from icefloe.table.write.rows import matching, with_files

if TYPE_CHECKING:
    from icefloe.expressions.filter import Filter
    from icefloe.table.commit.validated_change import ValidatedChange
    from icefloe.table.row_level.target import Target
    from icefloe.table.scan.plan import ScanPlan
    from icefloe.table.write.rows import Positions

OPERATION = "delete"


def delete_rows(target: Target, row_filter: Filter) -> None:
    """Delete the rows of a filter in one snapshot; commit nothing if no row matches."""
    plan = target.plan(row_filter)
    whole = pc.fill_null(plan.files.column("must_match"), False)
    partial = with_files(plan, pc.invert(whole))
    positions = matching(partial)
    covered = RemovedFiles.of(plan.files.filter(whole))
    if len(covered.paths) == 0 and positions.rows.num_rows == 0:
        target.commit_read_set(row_filter, OPERATION)
        return
    if positions.rows.num_rows > 0 and target.merges_on_read(OPERATION):
        change = _merge_on_read(target, covered, partial, positions)
    else:
        change = _copy_on_write(target, covered, partial, positions)
    change.drop_deletes(covered_deletes(plan, target.metadata, row_filter))
    target.add_checks(change, row_filter, OPERATION)
    change.commit()


def _copy_on_write(target: Target, covered: RemovedFiles, partial: ScanPlan, positions: Positions) -> ValidatedChange:
    change = OverwriteFiles(target.transaction, target.branch, target.snapshot_properties).remove_files(covered)
    if positions.rows.num_rows > 0:
        paths, files = rewrite_without(target.writer, partial, target.metadata.schema(), positions)
        change.remove_files(RemovedFiles.among(partial.files, paths)).append(files)
    return change


def _merge_on_read(target: Target, covered: RemovedFiles, partial: ScanPlan, positions: Positions) -> ValidatedChange:
    deletes = target.position_deletes(partial, positions)
    change = PlannedRowDelta(target.transaction, target.branch, target.snapshot_properties)
    change.remove_files(covered).add_deletes(deletes.added).remove_delete_files(deletes.replaced)
    return change.validate_data_files_exist(deletes.referenced).validate_deleted_files()
