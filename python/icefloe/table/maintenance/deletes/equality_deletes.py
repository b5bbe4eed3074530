"""Replacing equality delete files by position delete files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.environment import SYSTEM
from icefloe.table.maintenance.branch_plan import branch_head, whole_files
from icefloe.table.maintenance.deletes.delete_files_change import DeleteFilesChange
from icefloe.table.maintenance.deletes.delete_files_commit import replace_delete_files, total_size
from icefloe.table.maintenance.deletes.delete_files_plan import DeleteFilesPlan, DeleteFilesResult, live_delete_files
from icefloe.table.maintenance.groups.file_groups import deletes_of
from icefloe.table.scan.metadata_columns import DELETED, NO_COLUMNS, with_metadata_columns
from icefloe.table.write.file_writer import FileWriter
from icefloe.table.write.position_deletes import of_data_files
from icefloe.table.write.rows import FILE, POS, targets, unfiltered, with_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.plan import ScanPlan

_VERB = "convert_equality_deletes"
_EQUALITY = 2
_ROWS = pa.schema([("file_path", pa.string()), ("pos", pa.int64())])


@dataclass(frozen=True, kw_only=True, eq=False)
class ConvertEqualityDeletesPlan(DeleteFilesPlan):
    """Equality delete files of a branch, each to be replaced by the positions of the rows that it deletes."""

    verb: ClassVar[str] = _VERB
    action: ClassVar[str] = "convert"


@dataclass(frozen=True, kw_only=True)
class ConvertEqualityDeletesResult(DeleteFilesResult):
    """The equality delete files that were replaced, and the new position delete files."""

    verb: ClassVar[str] = _VERB


class ConvertEqualityDeletes(DeleteFilesChange[ConvertEqualityDeletesPlan, ConvertEqualityDeletesResult]):
    """Replaces equality delete files, which each scan joins with the rows, by position delete files, which scans apply by row number.

    Data files that the equality delete files apply to are read once, with the key columns alone. New position delete files repeat
    the older ones of the same data file, which are removed. Equality delete files that apply to no data file are removed as well.

    Examples:
        >>> table.maintenance.convert_equality_deletes().plan().is_empty
        True
    """

    _plan_kind = ConvertEqualityDeletesPlan

    def plan(self) -> ConvertEqualityDeletesPlan:
        """Return the equality delete files; nothing is changed.

        Raises:
            ValidationError: The branch does not exist.
        """
        metadata = self._table.metadata
        head = branch_head(metadata, self._branch, _VERB)
        files = live_delete_files(self._table, head)
        files = files.filter(pc.equal(files.column("content"), _EQUALITY))
        return ConvertEqualityDeletesPlan(
            **self._target(head),
            files=files.append_column("reason", pa.repeat("equality deletes", files.num_rows)),
        )

    def _carry_out(self, plan: ConvertEqualityDeletesPlan) -> ConvertEqualityDeletesResult:
        if plan.is_empty:
            return ConvertEqualityDeletesResult()
        table, metadata = self._table, self._table.metadata
        scan = whole_files(table, metadata, plan.snapshot_id)
        converted = plan.files.column("file_path").combine_chunks().cast(pa.string())
        applies = pc.is_in(scan.deletes.column("file_path"), value_set=converted)
        touched = with_files(scan, pc.greater(deletes_of(scan.files, applies.cast(pa.int64())), 0))
        writer = FileWriter(table.io, metadata, getattr(table.catalog, "environment", SYSTEM).new_uuid())
        try:
            positions = pa.RecordBatchReader.from_batches(_ROWS, _deleted_rows(touched))
            added = writer.position_deletes(positions, targets(touched))
            older = of_data_files(touched.deletes, pc.unique(touched.files.column("file_path")))
            removed = pc.unique(pa.concat_arrays([converted, older.column("file_path")]))
            snapshot_id = replace_delete_files(table, plan, removed, [(added, None)], writer)
        except BaseException:
            writer.abandon()
            raise
        return ConvertEqualityDeletesResult(
            rewritten_delete_files_count=len(removed),
            added_delete_files_count=added.num_rows,
            rewritten_bytes_count=plan.total_bytes + total_size([older]),
            added_bytes_count=total_size([added]),
            snapshot_id=snapshot_id,
        )


def _deleted_rows(plan: ScanPlan) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a plan's files that any delete file deletes."""
    if plan.files.num_rows == 0:
        return
    projection = with_metadata_columns(NO_COLUMNS, [FILE, POS, DELETED])
    for batch in replace(unfiltered(plan), projection=projection).stream():
        rows = batch.filter(batch.column(DELETED))
        yield pa.RecordBatch.from_arrays([rows.column(FILE).cast(pa.string()), rows.column(POS)], schema=_ROWS)
