"""The commit of a merge: delete files beside new rows, or rewritten files, as `write.merge.mode` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.read_context import schema_json
from icefloe.table.write.conflict_checks import add_checks, commit_read_set
from icefloe.table.write.rows import paths_of, position_stream, rewritten_files, targets

if TYPE_CHECKING:
    from icefloe.table.row_level.merge_join import MergeChanges, MergeJoin
    from icefloe.table.row_level.target import Target

OPERATION = "merge"


def commit_merge(target: Target, join: MergeJoin, changes: MergeChanges) -> None:
    """Write and commit what a merge changes; nothing when it changes nothing."""
    with target:
        if changes.gone.rows.num_rows == 0 and not changes.rows:
            commit_read_set(target, join.row_filter, OPERATION)
        elif changes.gone.rows.num_rows > 0 and target.merges_on_read(OPERATION):
            _merge_on_read(target, join, changes)
        else:
            _copy_on_write(target, join, changes)


def _merge_on_read(target: Target, join: MergeJoin, changes: MergeChanges) -> None:
    change = target.transaction.new_row_delta(target.branch, target.snapshot_properties)
    if changes.rows:
        change.add_rows(target.writer.data_files(pa.concat_tables(changes.rows)))
    if changes.gone.rows.num_rows > 0:
        positions = position_stream(join.plan, changes.gone)
        change.add_deletes(target.writer.position_deletes(positions, targets(join.plan)))
        change.validate_data_files_exist(paths_of(join.plan, changes.gone)).validate_deleted_files()
    add_checks(change, target, join.row_filter, OPERATION)
    change.commit()


def _copy_on_write(target: Target, join: MergeJoin, changes: MergeChanges) -> None:
    change = target.transaction.new_overwrite(target.branch, target.snapshot_properties)
    if changes.rows:
        change.append(target.writer.data_files(pa.concat_tables(changes.rows)))
    if changes.gone.rows.num_rows > 0:
        paths, rows = rewritten_files(join.plan, schema_json(target.metadata.schema()), changes.gone)
        change.delete(paths).append(target.writer.data_files(rows))
    add_checks(change, target, join.row_filter, OPERATION)
    change.commit()
