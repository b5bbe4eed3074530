"""The files of a row-level change in Python, and its commit: position deletes or rewritten files, as the operation's mode says."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.read_context import schema_json
from icefloe.table.row_level.row_commit import RowDeltaFiles, RowLevelOperation, commit_rewrite, commit_row_delta
from icefloe.table.write.copied_pages import rewritten_pages, write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from icefloe import _core
    from icefloe.table.row_level.row_changes import RowChanges
    from icefloe.table.row_level.target import Target
    from icefloe.table.scan.plan import ScanPlan


def commit_changes(operation: RowLevelOperation, plan: ScanPlan, changes: RowChanges) -> None:
    """Write the files of a change and commit them; a change of no row commits only the rows that it read.

    Args:
        operation: The operation, whose property decides between position deletes and rewritten files.
        plan: The plan of the files that positions refer to.
        changes: The change.
    """
    target = operation.target
    with target:
        if target.merges_on_read(operation.name):
            _merge_on_read(operation, plan, changes)
        else:
            _copy_on_write(operation, plan, changes)


def _merge_on_read(operation: RowLevelOperation, plan: ScanPlan, changes: RowChanges) -> None:
    target = operation.target
    rows = _written(target, changes.schema, changes.rows())
    removed = changes.removed
    if removed.rows.num_rows > 0:
        deletes = target.position_deletes(plan, removed)
        files = RowDeltaFiles(
            rows=rows, deletes=deletes.added, replaced=deletes.replaced, referenced=deletes.referenced
        )
        commit_row_delta(operation, files)
    else:
        _commit_without_removals(operation, rows)


def _copy_on_write(operation: RowLevelOperation, plan: ScanPlan, changes: RowChanges) -> None:
    target = operation.target
    replaced: list[RemovedFiles] = []
    copied = target.writer.copied_rows()

    def remaining() -> Iterator[pa.RecordBatch]:
        if changes.removed.rows.num_rows > 0:
            paths, others = rewritten_pages(plan, schema_json(target.metadata.schema()), changes.removed, copied)
            replaced.append(RemovedFiles.among(plan.files, paths))
            yield from others

    rows = _written(target, changes.schema, itertools.chain(changes.rows(), remaining()), copied)
    if replaced:
        commit_rewrite(operation, replaced, rows)
    else:
        _commit_without_removals(operation, rows)


def _commit_without_removals(operation: RowLevelOperation, rows: list[pa.RecordBatch]) -> None:
    if rows:
        commit_rewrite(operation, [], rows)
    else:
        operation.target.commit_read_set(operation.row_filter, operation.name)


def _written(
    target: Target,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    copied: _core.CopiedRows | None = None,
) -> list[pa.RecordBatch]:
    """Write rows to data files; nothing for no rows."""
    files = write_rows(target.writer, schema, batches, copied)
    return [files] if files.num_rows > 0 else []
