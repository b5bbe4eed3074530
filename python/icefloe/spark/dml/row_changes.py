"""The rows that an operation removes and adds, written by executors and committed in one snapshot."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.exceptions import ValidationError
from icefloe.spark.dml.matching_rows import DeleteMatchingRows, numbered_groups
from icefloe.spark.reader.frame import NUMBER, file_names, located_frame, replaced_by, with_file_number
from icefloe.spark.reader.native import FILE, POSITION
from icefloe.spark.reader.scan_choice import plan_scan
from icefloe.spark.session import UNLIMITED_BATCH_BYTES, settings
from icefloe.spark.types.conform import conform
from icefloe.spark.writer.arrow_map import map_in_arrow, worker_errors
from icefloe.spark.writer.commit import files_deleted_on_failure
from icefloe.spark.writer.distribution import SHUFFLE_SETTINGS, distribute
from icefloe.spark.writer.failed_job import deleted_if_job_fails
from icefloe.spark.writer.layout import WriteLayout
from icefloe.spark.writer.write_task import (
    RESULT_SCHEMA,
    SEVERAL_MATCHES,
    WritePositionDeletes,
    collected,
    data_task,
    written_positions,
)
from icefloe.table.environment import SYSTEM
from icefloe.table.properties.core import delete_file_properties
from icefloe.table.read_context import specs_json
from icefloe.table.row_level.merge import MergeResult
from icefloe.table.row_level.row_commit import RowDeltaFiles, commit_rewrite, commit_row_delta
from icefloe.table.scan.plan import has_deletes
from icefloe.table.scan.task_group import batch_to_ipc
from icefloe.table.write.position_deletes import of_data_files, replaced_deletes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, Row

    from icefloe.spark.dml.target import PlannedTarget

_DATA, _DELETES = "data", "deletes"


@dataclass(frozen=True, kw_only=True)
class RowChanges:
    """The changes of an operation.

    Args:
        target: The table.
        removed: Positions of deleted and updated rows, ``__icefloe_file`` and ``__icefloe_pos``; None if there are none.
        updated: New versions of the updated rows, with the table's columns.
        inserted: Rows to add, with the table's columns.
        whole_files: Paths of data files to remove whole.
        whole_file_rows: Number of rows in these files.
        only_updates: Every removed row has a new version in ``updated``.
        removes_scan: The operation removes the rows of the target's scan, and ``removed`` is None.
    """

    target: PlannedTarget
    removed: DataFrame | None = None
    updated: DataFrame | None = None
    inserted: DataFrame | None = None
    whole_files: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    whole_file_rows: int = 0
    only_updates: bool = True
    removes_scan: bool = False

    @staticmethod
    def deleting(target: PlannedTarget) -> RowChanges:
        """Return the deletion of all rows of a target's scan."""
        files = target.planned.plan.files
        whole = pc.fill_null(files.column("must_match"), False)
        whole = pc.and_(whole, pc.invert(has_deletes(files)))
        whole_files = files.column("file_path").filter(whole)
        partial = files.column("file_path").filter(pc.invert(whole))
        if len(partial) > 0 and len(whole_files) > 0:
            planned = plan_scan(target.spark, target.planned.scan, located=True, only=partial)
            target = replace(target, planned=planned)
        rows = pc.sum(files.column("record_count").filter(whole)).as_py() or 0
        return RowChanges(
            target=target,
            whole_files=whole_files,
            whole_file_rows=rows,
            only_updates=False,
            removes_scan=len(partial) > 0,
        )

    def commit(self) -> MergeResult:
        """Write new rows and position deletes, and commit both; without a change there is no commit.

        Raises:
            ValidationError: Several source rows change one target row.
            SchemaMismatchError: A new row does not fit the table.
            ValidationException: A concurrent commit conflicts.
        """
        with settings(self.target.spark, {**UNLIMITED_BATCH_BYTES, **SHUFFLE_SETTINGS}), worker_errors():
            if (self.removed is None and not self.removes_scan) or self.target.merges_on_read:
                return self._merge_on_read()
            return self._copy_on_write(self._removed_rows())

    # ---- merge-on-read: delete files beside new rows

    def _merge_on_read(self) -> MergeResult:
        operation_id = SYSTEM.new_uuid()
        parts = []
        rows = self._new_rows()
        if rows is not None:
            parts.append(_written_rows(rows, self.target, operation_id))
        if self.removes_scan:
            parts.append(self._deletes_of_scan(operation_id))
        elif self.removed is not None:
            parts.append(self._written_deletes(self.removed, operation_id))
        data, deletes, deleted_rows = self._run(parts, operation_id)
        if data is None and deletes is None and len(self.whole_files) == 0:
            return MergeResult(0, 0, 0)
        with files_deleted_on_failure(self.target.table, [batch for batch in (data, deletes) if batch is not None]):
            self._add_to_transaction(data, deletes)
            self.target.target.transaction.commit_transaction()
        return self._result(deleted_rows, _row_count(data))

    def _add_to_transaction(self, data: pa.RecordBatch | None, deletes: pa.RecordBatch | None) -> None:
        operation = self.target.row_level_operation()
        if data is None and deletes is None:
            commit_rewrite(operation, self.whole_files, [])
            return
        files = RowDeltaFiles(
            rows=[] if data is None else [data],
            deletes=deletes,
            replaced=self._replaced(deletes),
            referenced=self._referenced(deletes),
            removed=self.whole_files,
        )
        commit_row_delta(operation, files)

    def _deletes_of_scan(self, operation_id: str) -> DataFrame:
        planned = self.target.planned
        groups = numbered_groups(planned.plan, planned.scan.packing())
        task = DeleteMatchingRows(groups=groups, write=self._writing_task(operation_id))
        numbers = self.target.spark.range(0, len(groups), 1, len(groups))
        results: DataFrame = numbers.mapInArrow(task, RESULT_SCHEMA).withColumn("kind", F.lit(_DELETES))
        return results

    def _written_deletes(self, removed: DataFrame, operation_id: str) -> DataFrame:
        positions = with_file_number(self.target.planned, removed)
        positions = positions.select(F.col(FILE).alias("file"), F.col(POSITION).alias("pos"))
        task = self._writing_task(operation_id)
        # One task for all deletes of a data file: it writes one delete file, and detects a position that occurs twice.
        return positions.repartition("file").mapInArrow(task, RESULT_SCHEMA).withColumn("kind", F.lit(_DELETES))

    def _writing_task(self, operation_id: str) -> WritePositionDeletes:
        planned, table = self.target.planned, self.target.table
        table.catalog.check_location(table)
        return WritePositionDeletes(
            io_properties=dict(table.io.core.properties),
            schema=table.schema().model_dump_json(),
            specs=specs_json(table.metadata),
            table_location=table.location(),
            properties=delete_file_properties(table.properties),
            operation_id=operation_id,
            targets=batch_to_ipc(planned.plan.files.select(["file_path", "spec_id", "partition"])),
            older=batch_to_ipc(self._replaceable()),
        )

    def _replaceable(self) -> pa.RecordBatch:
        """Return the delete files that new position deletes replace if they change the same data files."""
        plan = self.target.planned.plan
        return replaced_deletes(plan.files, plan.deletes, plan.files.column("file_path"), self.target.table.properties)

    def _replaced(self, deletes: pa.RecordBatch | None) -> pa.Array:
        """Return the paths of the delete files that the new ones replace."""
        touched = pa.array([], pa.string()) if deletes is None else pc.drop_null(deletes.column("referenced_data_file"))
        return of_data_files(self._replaceable(), touched).column("file_path")

    def _referenced(self, deletes: pa.RecordBatch | None) -> pa.Array:
        """Return the paths of the data files that delete files refer to; all planned files where a delete file has no path."""
        if deletes is None:
            return pa.array([], pa.string())
        referenced = deletes.column("referenced_data_file")
        return pc.unique(
            referenced if referenced.null_count == 0 else self.target.planned.plan.files.column("file_path")
        )

    # ---- copy-on-write: files with changed rows, rewritten

    def _removed_rows(self) -> DataFrame:
        if self.removed is not None:
            return self.removed
        return located_frame(self.target.spark, self.target.planned).select(FILE, POSITION)

    def _copy_on_write(self, removed: DataFrame) -> MergeResult:
        positions = with_file_number(self.target.planned, removed).persist()
        try:
            counts = _rows_by_file(positions)
            paths = self.target.planned.plan.files.column("file_path")
            rewritten = paths.take(pa.array([row[FILE] for row in counts], pa.int64()))
            frames = [self._new_rows(), self._remaining_rows(positions, rewritten) if counts else None]
            rows = _union([frame for frame in frames if frame is not None])
            operation_id = SYSTEM.new_uuid()
            parts = [] if rows is None else [_written_rows(rows, self.target, operation_id)]
            data, _, _ = self._run(parts, operation_id)
            replaced = pa.concat_arrays([rewritten, self.whole_files])
            if data is None and len(replaced) == 0:
                return MergeResult(0, 0, 0)
            files = [] if data is None else [data]
            with files_deleted_on_failure(self.target.table, files):
                commit_rewrite(self.target.row_level_operation(), replaced, files)
                self.target.target.transaction.commit_transaction()
            inserted = 0 if self.inserted is None else self.inserted.count()
            updated = 0 if self.updated is None else self.updated.count()
            removed_rows = sum(row["rows"] for row in counts) + self.whole_file_rows
            return MergeResult(updated, removed_rows - updated, inserted)
        finally:
            positions.unpersist()

    def _remaining_rows(self, positions: DataFrame, rewritten: pa.Array) -> DataFrame:
        """Return the unchanged rows of the files to rewrite."""
        planned = self.target.plan_files(rewritten)
        numbers = pc.index_in(
            planned.plan.files.column("file_path"), value_set=self.target.planned.plan.files.column("file_path")
        )
        removed = replaced_by(positions, pa.table({FILE: numbers, NUMBER: file_names(planned)}))
        rows = located_frame(self.target.spark, planned).join(removed, [FILE, POSITION], "left_anti")
        return conform(rows.drop(FILE, POSITION), self.target.table.schema())

    # ---- both

    def _new_rows(self) -> DataFrame | None:
        schema = self.target.table.schema()
        return _union([conform(frame, schema) for frame in (self.updated, self.inserted) if frame is not None])

    def _run(
        self, parts: list[DataFrame], operation_id: str
    ) -> tuple[pa.RecordBatch | None, pa.RecordBatch | None, int]:
        """Run the writing tasks in one job and return the data files, the delete files and the number of rows that these newly delete."""
        if not parts:
            return None, None, 0
        table = self.target.table
        with deleted_if_job_fails(table.io, table.metadata, operation_id):
            results = functools.reduce(lambda left, right: left.union(right), parts).collect()
        data = collected([row["files"] for row in results if row["kind"] == _DATA])
        deletes = [row["files"] for row in results if row["kind"] == _DELETES]
        return data, collected(deletes), written_positions(deletes)

    def _result(self, removed: int, added: int) -> MergeResult:
        if self.updated is None:
            return MergeResult(0, removed + self.whole_file_rows, added)
        updated = removed if self.only_updates else self.updated.count()
        return MergeResult(updated, removed - updated, added - updated)


def _union(frames: Sequence[DataFrame]) -> DataFrame | None:
    return functools.reduce(lambda left, right: left.unionByName(right), frames) if frames else None


def _rows_by_file(positions: DataFrame) -> list[Row]:
    """Return the number of rows to remove from each file.

    Raises:
        ValidationError: A position occurs twice.
    """
    rows, distinct = F.count(F.lit(1)).alias("rows"), F.count_distinct(POSITION).alias("distinct")
    counts = positions.groupBy(FILE).agg(rows, distinct).collect()
    if any(row["rows"] != row["distinct"] for row in counts):
        raise ValidationError(SEVERAL_MATCHES)
    return counts


def _written_rows(rows: DataFrame, target: PlannedTarget, operation_id: str) -> DataFrame:
    layout = WriteLayout.of_operation(target.table.metadata, target.operation)
    distribution = distribute(rows, layout)
    task = data_task(target.table, presorted=distribution.presorted, operation_id=operation_id, layout=layout)
    return map_in_arrow(distribution.frame, task, RESULT_SCHEMA).withColumn("kind", F.lit(_DATA))


def _row_count(files: pa.RecordBatch | None) -> int:
    return 0 if files is None else pc.sum(files.column("record_count")).as_py()
