"""Copy-on-write: data files with changed rows are rewritten.

Where the layout of the new files allows it, each task rewrites some of the files in the Rust core: only positions and new rows come from
Spark. Otherwise Spark reads the remaining rows, and distributes them with the new rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.spark.dml.both_passes import WrittenRows, check_both_passes
from icefloe.spark.dml.changed_rows import ChangedRows
from icefloe.spark.dml.file_rewrites import FileRewrites
from icefloe.spark.dml.rewrite_groups import rewrites_by_file
from icefloe.spark.dml.rewrite_tasks import Rewritten
from icefloe.spark.dml.row_changes import live_rows
from icefloe.spark.dml.written_files import DATA, marked, new_rows, results_of, run, updated_and_inserted, written_rows
from icefloe.spark.reader.frame import NUMBER, file_names, located_frame, replaced_by, with_file_number
from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.types.conform import conformed_columns
from icefloe.spark.writer.commit import files_deleted_on_failure
from icefloe.spark.writer.layout import WriteLayout
from icefloe.spark.writer.write_task import SEVERAL_MATCHES, UNPLANNED_FILE, collected, row_count
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.environment import SYSTEM
from icefloe.table.row_level.merge import MergeResult
from icefloe.table.row_level.row_commit import commit_rewrite

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.row_changes import RowChanges
    from icefloe.spark.reader.scan_choice import PlannedScan


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
        self._replace(list(rewritten.removed), collected(results))
        return MergeResult(0, rewritten.removed_rows + self.changes.whole_file_rows, 0)

    def _commit_positions(self, removed: DataFrame) -> MergeResult:
        """Count the changed rows in a first pass over them, and write them in a second."""
        counts = self._rows_by_file(removed)
        inserted = 0 if self.changes.inserted is None else self.changes.inserted.count()
        operation_id = SYSTEM.new_uuid()
        parts = self._rewriting_parts(removed, counts, inserted, operation_id)
        if parts is None:
            return self._commit_distributed(removed, counts, inserted, operation_id)
        results = results_of(run(self.changes.target, parts, operation_id), DATA)
        data, rewritten = collected(results), Rewritten.of(results)
        counted = Rewritten(removed=counts, updated_rows=rewritten.updated_rows, inserted_rows=inserted)
        # A file of the first pass that no task has rewritten would be removed with its unchanged rows.
        check_both_passes(self.changes.target, [data], counted=counted, written=rewritten)
        self._replace(sorted(counts), data)
        return self._result(counted)

    def _rewriting_parts(
        self, removed: DataFrame, counts: dict[int, int], inserted: int, operation_id: str
    ) -> list[DataFrame] | None:
        """Return the results of tasks that each rewrite some files; None if Spark writes all rows."""
        if self.rewrites is None or not counts:
            return None
        changes = self.changes
        deleted = changes.deleted if changes.updated is not None else removed
        rows = ChangedRows(deleted=deleted, updated=changes.updated, inserted=changes.inserted, inserted_rows=inserted)
        parts = self.rewrites.of_changed(rows, counts, operation_id)
        if parts is None:
            self._check_once(removed)
        return parts

    def _commit_distributed(
        self, removed: DataFrame, counts: dict[int, int], inserted: int, operation_id: str
    ) -> MergeResult:
        """Let Spark write the remaining rows of the files to rewrite, and the new rows."""
        changes, target = self.changes, self.changes.target
        updated = 0
        if changes.updated is not None:
            updated = sum(counts.values()) if changes.only_updates else changes.updated.count()
        counted = Rewritten(removed=counts, updated_rows=updated, inserted_rows=inserted)
        rows, remaining = new_rows(changes), 0
        if counts:
            planned = self._planned(sorted(counts))
            remaining = live_rows(replace(target, planned=planned), planned.plan) - counted.removed_rows
            rows = self._distributed(removed, planned)
        parts = [] if rows is None else [written_rows(rows, target, self.layout, operation_id)]
        results = results_of(run(target, parts, operation_id), DATA)
        data, new = collected(results), updated_and_inserted(results)
        expected = WrittenRows(remaining=remaining, updated=updated, inserted=inserted)
        written = WrittenRows(remaining=row_count(data) - sum(new), updated=new[0], inserted=new[1])
        check_both_passes(target, [data], counted=expected, written=written)
        self._replace(sorted(counts), data)
        return self._result(counted)

    def _result(self, counted: Rewritten) -> MergeResult:
        rows = counted.removed_rows + self.changes.whole_file_rows
        return MergeResult(counted.updated_rows, rows - counted.updated_rows, counted.inserted_rows)

    def _replace(self, numbers: list[int], data: pa.RecordBatch | None) -> None:
        """Replace the files of the numbers by new ones, and commit."""
        changes, target = self.changes, self.changes.target
        rewritten = RemovedFiles.of(target.planned.plan.files.take(pa.array(numbers, pa.int64())))
        replaced = [rewritten, changes.whole_files]
        if data is None and not any(len(files.paths) for files in replaced):
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

    def _distributed(self, removed: DataFrame, planned: PlannedScan) -> DataFrame:
        """Return the remaining rows of the files to rewrite together with the new rows."""
        remaining = marked(self._remaining_rows(removed, planned), None)
        if self._is_clustered_by_file and self.changes.updated is not None:
            updated = self._with_values(with_file_number(self.changes.target.planned, self.changes.updated))
            updated = marked(updated, True)
            return remaining.unionByName(updated).hint("rebalance", FILE).drop(FILE)
        new = new_rows(self.changes)
        return remaining.drop(FILE) if new is None else remaining.drop(FILE).unionByName(new)

    @property
    def _is_clustered_by_file(self) -> bool:
        return self.layout.mode() == "hash" and not self.layout.is_partitioned and self.changes.inserted is None

    def _planned(self, numbers: list[int]) -> PlannedScan:
        """Return the scan of all rows of the files of the numbers."""
        paths = self.changes.target.planned.plan.files.column("file_path")
        return self.changes.target.plan_files(paths.take(pa.array(numbers, pa.int64())))

    def _remaining_rows(self, removed: DataFrame, planned: PlannedScan) -> DataFrame:
        """Return the unchanged rows of the files to rewrite, and the number of each row's file in the operation's plan."""
        target = self.changes.target
        paths = target.planned.plan.files.column("file_path")
        places = pc.index_in(planned.plan.files.column("file_path"), value_set=paths)
        positions = with_file_number(target.planned, removed)
        names = pa.table({FILE: file_names(planned), NUMBER: places})
        rows = replaced_by(located_frame(target.spark, planned), names)
        return self._with_values(rows.join(positions, [FILE, POSITION], "left_anti"))

    def _with_values(self, rows: DataFrame) -> DataFrame:
        """Return rows in the table's columns and types, and the number of each row's file."""
        struct = rows.drop(FILE, POSITION).schema
        return rows.select(FILE, *conformed_columns(struct, self.changes.target.table.schema()))
