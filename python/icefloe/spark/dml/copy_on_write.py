"""Copy-on-write: data files with changed rows are rewritten.

Where the layout of the new files allows it, each task rewrites some of the files in the Rust core: only positions and new rows come from
Spark. Otherwise Spark reads the remaining rows, and distributes them with the new rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.spark.dml.changed_rows import ChangedRows
from icefloe.spark.dml.file_rewrites import FileRewrites
from icefloe.spark.dml.rewrite_groups import rewrites_by_file
from icefloe.spark.dml.rewrite_tasks import Rewritten
from icefloe.spark.dml.written_files import DATA, new_rows, results_of, run, written_rows
from icefloe.spark.reader.frame import NUMBER, file_names, located_frame, replaced_by, with_file_number
from icefloe.spark.reader.native import FILE, POSITION
from icefloe.spark.types.conform import conformed_columns
from icefloe.spark.writer.commit import files_deleted_on_failure
from icefloe.spark.writer.layout import WriteLayout
from icefloe.spark.writer.write_task import SEVERAL_MATCHES, UNPLANNED_FILE, collected
from icefloe.table.environment import SYSTEM
from icefloe.table.row_level.merge import MergeResult
from icefloe.table.row_level.row_commit import commit_rewrite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.row_changes import RowChanges


@dataclass(frozen=True)
class CopyOnWrite:
    """The commit of rewritten data files.

    Args:
        changes: The removed and the new rows; rows are removed.
        layout: Layout of the new files.
        rewrites: The tasks that rewrite files on their own; None where the layout needs a shuffle of all rows.
    """

    changes: RowChanges
    layout: WriteLayout
    rewrites: FileRewrites | None

    @staticmethod
    def of(changes: RowChanges) -> CopyOnWrite:
        """Return the commit of a change under the table's properties for the operation."""
        target = changes.target
        layout = WriteLayout.of_operation(target.table.metadata, target.operation)
        stays = changes.keeps_partitions or (changes.updated is None and changes.inserted is None)
        by_file = rewrites_by_file(target.planned.plan, layout) and (stays or not layout.is_partitioned)
        return CopyOnWrite(changes, layout, FileRewrites(target, layout) if by_file else None)

    def commit(self) -> MergeResult:
        """Write the remaining and the new rows, and replace the files; without a change there is no commit."""
        if self.changes.removed is not None:
            return self._commit_positions(self.changes.removed)
        if self.rewrites is not None:
            return self._commit_matching(self.rewrites)
        target = self.changes.target
        removed = located_frame(target.spark, target.planned).select(FILE, POSITION).persist()
        try:
            return self._commit_positions(removed)
        finally:
            removed.unpersist()

    def _commit_matching(self, rewrites: FileRewrites) -> MergeResult:
        operation_id = SYSTEM.new_uuid()
        results = results_of(run(self.changes.target, [rewrites.of_matching(operation_id)], operation_id), DATA)
        rewritten = Rewritten.of(results)
        self._replace(rewritten.numbers, collected(results))
        return MergeResult(0, rewritten.removed_rows + self.changes.whole_file_rows, 0)

    def _commit_positions(self, removed: DataFrame) -> MergeResult:
        changes = self.changes
        counts = self._rows_by_file(removed)
        inserted = 0 if changes.inserted is None else changes.inserted.count()
        operation_id = SYSTEM.new_uuid()
        parts = self._written(removed, counts, inserted, operation_id)
        data = collected(results_of(run(changes.target, parts, operation_id), DATA))
        self._replace(sorted(counts), data)
        rows = sum(counts.values()) + changes.whole_file_rows
        if changes.updated is None:
            return MergeResult(0, rows, inserted)
        updated = rows if changes.only_updates else changes.updated.count()
        return MergeResult(updated, rows - updated, inserted)

    def _written(self, removed: DataFrame, counts: dict[int, int], inserted: int, operation_id: str) -> list[DataFrame]:
        """Return the results of the tasks that write the remaining and the new rows."""
        changes = self.changes
        if not counts:
            rows = new_rows(changes)
            return [] if rows is None else [written_rows(rows, changes.target, self.layout, operation_id)]
        if self.rewrites is not None:
            deleted = changes.deleted if changes.updated is not None else removed
            rewritten = ChangedRows(
                deleted=deleted, updated=changes.updated, inserted=changes.inserted, inserted_rows=inserted
            )
            parts = self.rewrites.of_changed(rewritten, counts, operation_id)
            if parts is not None:
                return parts
            self._check_once(removed)
        return [self._distributed(removed, counts, operation_id)]

    def _replace(self, numbers: list[int], data: pa.RecordBatch | None) -> None:
        """Replace the files of the numbers by new ones, and commit."""
        changes, target = self.changes, self.changes.target
        paths = target.planned.plan.files.column("file_path").take(pa.array(numbers, pa.int64()))
        replaced = pa.concat_arrays([paths, changes.whole_files])
        if data is None and len(replaced) == 0:
            return
        files = [] if data is None else [data]
        with files_deleted_on_failure(target.table, files):
            commit_rewrite(changes.row_level_operation(), replaced, files)
            target.target.transaction.commit_transaction()

    def _rows_by_file(self, removed: DataFrame) -> dict[int, int]:
        """Return the number of rows to remove from each file.

        Raises:
            ValidationError: A position occurs twice, where Spark distributes the rows; or a row is in no file of the plan.
        """
        # Tasks that rewrite files find repeated positions without a shuffle of all positions.
        if self.rewrites is None:
            self._check_once(removed)
        positions = with_file_number(self.changes.target.planned, removed)
        counts = {row[FILE]: row["count"] for row in positions.groupBy(FILE).count().collect()}
        if None in counts:
            raise ValidationError(UNPLANNED_FILE)
        return counts

    def _check_once(self, removed: DataFrame) -> None:
        """Check that a merge changes a row once; updates and deletes read a row once."""
        if self.changes.target.operation != "merge":
            return
        repeated = removed.groupBy(FILE, POSITION).count().where("count > 1")
        if len(repeated.head(1)) > 0:
            raise ValidationError(SEVERAL_MATCHES)

    # ---- rows that Spark reads and distributes

    def _distributed(self, removed: DataFrame, counts: dict[int, int], operation_id: str) -> DataFrame:
        """Return the results of tasks that write the remaining rows of files together with the new rows."""
        target = self.changes.target
        remaining = self._remaining_rows(removed, sorted(counts))
        if self._is_clustered_by_file and self.changes.updated is not None:
            updated = self._with_values(with_file_number(target.planned, self.changes.updated))
            rows = remaining.unionByName(updated).hint("rebalance", FILE).drop(FILE)
        else:
            new = new_rows(self.changes)
            rows = remaining.drop(FILE) if new is None else remaining.drop(FILE).unionByName(new)
        return written_rows(rows, target, self.layout, operation_id)

    @property
    def _is_clustered_by_file(self) -> bool:
        return self.layout.mode() == "hash" and not self.layout.is_partitioned and self.changes.inserted is None

    def _remaining_rows(self, removed: DataFrame, numbers: list[int]) -> DataFrame:
        """Return the unchanged rows of the files to rewrite, and the number of each row's file in the plan."""
        target = self.changes.target
        paths = target.planned.plan.files.column("file_path")
        planned = target.plan_files(paths.take(pa.array(numbers, pa.int64())))
        places = pc.index_in(planned.plan.files.column("file_path"), value_set=paths)
        positions = with_file_number(target.planned, removed)
        names = pa.table({FILE: file_names(planned), NUMBER: places})
        rows = replaced_by(located_frame(target.spark, planned), names)
        return self._with_values(rows.join(positions, [FILE, POSITION], "left_anti"))

    def _with_values(self, rows: DataFrame) -> DataFrame:
        """Return rows in the table's columns and types, and the number of each row's file."""
        struct = rows.drop(FILE, POSITION).schema
        return rows.select(FILE, *conformed_columns(struct, self.changes.target.table.schema()))
