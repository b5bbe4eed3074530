"""Rewriting position delete files: one for each data file, without positions of removed data files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import CommitStateUnknownException, IcebergError
from icefloe.expressions import AlwaysTrue
from icefloe.table.environment import SYSTEM
from icefloe.table.inspect import InspectTable
from icefloe.table.maintenance.branch_plan import branch_head, whole_files
from icefloe.table.maintenance.deletes.delete_files_change import DeleteFilesChange
from icefloe.table.maintenance.deletes.delete_files_commit import replace_delete_files, total_size
from icefloe.table.maintenance.deletes.delete_files_plan import DeleteFilesPlan, DeleteFilesResult, live_delete_files
from icefloe.table.maintenance.deletes.position_delete_groups import chosen_files
from icefloe.table.maintenance.groups.options import RewriteOptions
from icefloe.table.properties.definitions import DELETE_GRANULARITY, DELETE_TARGET_FILE_SIZE
from icefloe.table.write.file_writer import FileWriter
from icefloe.table.write.position_deletes import deleted_positions
from icefloe.table.write.rows import targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from icefloe.expressions import BooleanExpression
    from icefloe.table.scan.plan import ScanPlan

_VERB = "rewrite_position_deletes"
_POSITIONS = 1
_ROWS = pa.schema([("file_path", pa.string()), ("pos", pa.int64())])


@dataclass(frozen=True, kw_only=True, eq=False)
class RewritePositionDeletesPlan(DeleteFilesPlan):
    """Position delete files of a branch, to be rewritten partition by partition.

    Attributes:
        options: The options.
    """

    verb: ClassVar[str] = _VERB
    action: ClassVar[str] = "rewrite"
    options: RewriteOptions = field(default_factory=RewriteOptions)


@dataclass(frozen=True, kw_only=True)
class RewritePositionDeletesResult(DeleteFilesResult):
    """The position delete files that were replaced, and the new ones."""

    verb: ClassVar[str] = _VERB


class RewritePositionDeletes(DeleteFilesChange[RewritePositionDeletesPlan, RewritePositionDeletesResult]):
    """Rewrites position delete files.

    With `write.delete.granularity` `file`, each data file gets one delete file: a delete file of several data files is split, delete
    files of one data file are merged. With `partition`, small files of a partition are merged. Positions of data files that are
    not part of the branch any more are dropped.

    Examples:
        >>> table.maintenance.rewrite_position_deletes().plan().is_empty
        True
    """

    def __init__(self, table: Any) -> None:
        super().__init__(table)
        self._options = RewriteOptions()
        self._row_filter: str | BooleanExpression = AlwaysTrue()

    def filter(self, row_filter: str | BooleanExpression) -> Self:
        """Rewrite only delete files of partitions that may have rows of a filter on the table's columns."""
        self._row_filter = row_filter
        return self

    def options(self, **options: Any) -> Self:
        """Set options, by the names of the Java reference with underscores; those of data files alone have no effect.

        Raises:
            ValidationError: An option does not exist or its value is not valid.
        """
        self._options = RewriteOptions.of(_VERB, options)
        return self

    def plan(self) -> RewritePositionDeletesPlan:
        """Return the position delete files to rewrite; nothing is changed.

        Raises:
            ValidationError: The branch does not exist, sizes contradict each other, or the filter does not fit the table.
        """
        metadata = self._table.metadata
        head = branch_head(metadata, self._branch, _VERB)
        sizes = self._options.sizes(_VERB, metadata.properties, DELETE_TARGET_FILE_SIZE)
        files = live_delete_files(self._table, head)
        files = files.filter(pc.equal(files.column("content"), _POSITIONS))
        if head is not None and not isinstance(self._row_filter, AlwaysTrue):
            # Statistics of a delete file do not describe the deleted rows: its partition alone decides.
            chosen = InspectTable(self._table).delete_files(head.snapshot_id, row_filter=self._row_filter)
            files = files.filter(pc.is_in(files.column("file_path"), value_set=chosen.column("file_path")))
        live = pa.array([], pa.string())
        if files.num_rows > 0 and head is not None:
            live = whole_files(self._table, metadata, head.snapshot_id).files.column("file_path")
        by_file = DELETE_GRANULARITY.of(metadata.properties) == "file"
        return RewritePositionDeletesPlan(
            **self._target(head),
            files=chosen_files(files, live, sizes, self._options, by_file=by_file),
            options=self._options,
        )

    def _carry_out(self, plan: RewritePositionDeletesPlan) -> RewritePositionDeletesResult:
        if plan.is_empty:
            return RewritePositionDeletesResult()
        table, metadata = self._table, self._table.metadata
        scan = whole_files(table, metadata, plan.snapshot_id)
        writer = FileWriter(table.io, metadata, getattr(table.catalog, "environment", SYSTEM).new_uuid())
        added: list[tuple[pa.RecordBatch, int | None]] = []
        try:
            for files in _partitions(plan.files):
                # A larger number would apply the deletes to data files that were written after them.
                newest = pc.max(files.column("sequence_number")).as_py()
                positions = pa.RecordBatchReader.from_batches(_ROWS, _live_positions(table, files, scan))
                added.append((writer.position_deletes(positions, targets(scan)), newest))
            removed = plan.files.column("file_path").combine_chunks().cast(pa.string())
            snapshot_id = replace_delete_files(table, plan, removed, added)
        except CommitStateUnknownException:
            raise
        except IcebergError:
            writer.abandon()
            raise
        return RewritePositionDeletesResult(
            rewritten_delete_files_count=plan.file_count,
            added_delete_files_count=sum(files.num_rows for files, _ in added),
            rewritten_bytes_count=plan.total_bytes,
            added_bytes_count=total_size([files for files, _ in added]),
            snapshot_id=snapshot_id,
        )


def _partitions(files: pa.Table) -> Iterator[pa.Table]:
    """Yield the delete files of each partition."""
    keys = pc.binary_join_element_wise(files.column("spec_id").cast(pa.string()), files.column("partition"), "|")
    encoded = keys.combine_chunks().dictionary_encode()
    files = files.append_column("key", encoded.indices).sort_by("key")
    start = 0
    for counted in pc.value_counts(files.column("key")).to_pylist():
        yield files.slice(start, counted["counts"])
        start += counted["counts"]


def _live_positions(table: Any, files: pa.Table, scan: ScanPlan) -> Iterator[pa.RecordBatch]:
    """Yield the positions of delete files that refer to data files of a scan."""
    columns = files.append_column("data_sequence_number", files.column("sequence_number"))
    live = scan.files.column("file_path")
    for one in columns.combine_chunks().to_batches():
        for batch in deleted_positions(table.io.core, one):
            yield batch.filter(pc.is_in(batch.column("file_path"), value_set=live))
