"""Commits that replace delete files by position delete files with the same deleted rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.commit.rewrite_files import RewriteFiles, numbered
from icefloe.table.write_transaction import WriteTransaction
from icefloe.typedef import EMPTY_DICT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.table.maintenance.deletes.delete_files_plan import DeleteFilesPlan
    from icefloe.table.write.file_writer import FileWriter


def replace_delete_files(  # noqa: PLR0913 - the parts of a commit
    table: Any,
    plan: DeleteFilesPlan,
    removed: pa.Array,
    added: list[tuple[pa.RecordBatch, int | None]],
    writer: FileWriter,
    summary: Mapping[str, str] = EMPTY_DICT,
) -> int:
    """Replace delete files in one commit and return the id of its snapshot.

    The writer forgets the new files once a commit was sent, unless the commit definitely failed: the table may refer to them.

    Args:
        table: The table's handle.
        plan: The plan, whose snapshot was read.
        removed: Paths of the delete files to remove.
        added: New position delete files, each batch with its data sequence number, None for that of the commit.
        writer: The writer of the new files.
        summary: Keys of the snapshot's summary.

    Raises:
        ValidationException: A delete file is not part of the table any more, or a data file was removed that the new ones refer to.
    """
    transaction = WriteTransaction(table, autocommit=True)
    transaction.adopt(writer)
    change = RewriteFiles(transaction, plan.branch, dict(summary))
    change.validate_from_snapshot(plan.snapshot_id)
    change.delete_deletes(removed)
    for files, sequence_number in added:
        if files.num_rows > 0:
            own = files if sequence_number is None else numbered(files, change.snapshot_id, sequence_number)
            change.add_deletes(own)
    change.commit()
    return change.snapshot_id


def total_size(files: list[pa.RecordBatch]) -> int:
    """Return the bytes of new files."""
    return sum(pc.sum(batch.column("file_size_in_bytes")).as_py() or 0 for batch in files)
