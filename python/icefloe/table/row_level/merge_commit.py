"""The files of a merge in Python, and its commit: position deletes or rewritten files, as `write.merge.mode` says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.read_context import schema_json
from icefloe.table.row_level.row_commit import RowDeltaFiles, RowLevelOperation, commit_rewrite, commit_row_delta
from icefloe.table.write.rows import paths_of, position_stream, rewritten_files, targets

if TYPE_CHECKING:
    from icefloe.table.row_level.merge_join import MergeChanges, MergeJoin
    from icefloe.table.row_level.target import Target

OPERATION = "merge"


def commit_merge(target: Target, join: MergeJoin, changes: MergeChanges) -> None:
    """Write the files of a merge and commit them; a merge that changes no row commits only the rows it read."""
    operation = RowLevelOperation(target=target, name=OPERATION, row_filter=join.row_filter)
    removes_rows = changes.removed.rows.num_rows > 0
    with target:
        if not removes_rows and not changes.rows:
            target.commit_read_set(join.row_filter, OPERATION)
        elif removes_rows and target.merges_on_read(OPERATION):
            commit_row_delta(operation, _row_delta(target, join, changes))
        else:
            rows = _new_rows(target, changes)
            replaced = pa.array([], pa.string())
            if removes_rows:
                schema = schema_json(target.metadata.schema())
                replaced, remaining = rewritten_files(join.plan, schema, changes.removed)
                rows.append(target.writer.data_files(remaining))
            commit_rewrite(operation, replaced, rows)


def _row_delta(target: Target, join: MergeJoin, changes: MergeChanges) -> RowDeltaFiles:
    rows = _new_rows(target, changes)
    positions = position_stream(join.plan, changes.removed)
    return RowDeltaFiles(
        rows=rows,
        deletes=target.writer.position_deletes(positions, targets(join.plan)),
        referenced=paths_of(join.plan, changes.removed),
    )


def _new_rows(target: Target, changes: MergeChanges) -> list[pa.RecordBatch]:
    return [target.writer.data_files(pa.concat_tables(changes.rows))] if changes.rows else []
