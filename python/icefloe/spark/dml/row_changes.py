"""Rows that go and rows that come, written by executors and committed in one snapshot."""

from __future__ import annotations

import functools
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.exceptions import ValidationError
from icefloe.spark.reader.frame import NUMBER, file_names, located_frame, replaced_by, with_file_number
from icefloe.spark.reader.native import FILE, POSITION
from icefloe.spark.reader.scan_choice import plan_scan
from icefloe.spark.session import UNLIMITED_BATCH_BYTES, settings
from icefloe.spark.types.conform import conform
from icefloe.spark.writer.arrow_map import map_in_arrow
from icefloe.spark.writer.commit import undone_if_not_committed
from icefloe.spark.writer.distribution import SHUFFLE_SETTINGS, distribute
from icefloe.spark.writer.wap import staging_arguments
from icefloe.spark.writer.worker_errors import worker_errors
from icefloe.spark.writer.write_task import ANSWER_SCHEMA, SEVERAL_MATCHES, WritePositionDeletes, collected, data_task
from icefloe.table.read_context import specs_json
from icefloe.table.row_level.results import MergeResult
from icefloe.table.scan.plan import has_deletes
from icefloe.table.scan.task_group import batch_to_ipc

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.target import PinnedTarget
    from icefloe.table import Table

_DATA, _DELETES = "data", "deletes"


@dataclass(frozen=True, kw_only=True)
class RowChanges:
    """What is to change in a table.

    Args:
        pinned: The table.
        gone: Places of rows that go, ``__icefloe_file`` and ``__icefloe_pos``; None if none do.
        updated: New versions of some of them, with the table's columns.
        inserted: Rows that come besides.
        covered: Paths of files that go as a whole.
        covered_rows: How many rows those hold.
        only_updates: Every row that goes comes back changed.
    """

    pinned: PinnedTarget
    gone: DataFrame | None = None
    updated: DataFrame | None = None
    inserted: DataFrame | None = None
    covered: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    covered_rows: int = 0
    only_updates: bool = True

    @staticmethod
    def deleting(pinned: PinnedTarget) -> RowChanges:
        """Return the deletion of all rows of a target's scan."""
        files = pinned.planned.plan.files
        whole = pc.fill_null(files.column("must_match"), False)
        whole = pc.and_(whole, pc.invert(has_deletes(files)))
        covered = files.column("file_path").filter(whole)
        rest = files.column("file_path").filter(pc.invert(whole))
        gone = None
        if len(rest) > 0:
            if len(covered) > 0:
                pinned = replace(pinned, planned=plan_scan(pinned.spark, pinned.planned.scan, located=True, only=rest))
            gone = located_frame(pinned.spark, pinned.planned).select(FILE, POSITION)
        rows = pc.sum(files.column("record_count").filter(whole)).as_py() or 0
        return RowChanges(pinned=pinned, gone=gone, covered=covered, covered_rows=rows, only_updates=False)

    def commit(self) -> MergeResult:
        """Write what comes and what goes, and commit both; when nothing changes, nothing is committed.

        Raises:
            ValidationError: A row goes twice, because several source rows match it.
            SchemaMismatchError: A new row does not fit the table.
            ValidationException: What others committed meanwhile conflicts.
        """
        with settings(self.pinned.spark, {**UNLIMITED_BATCH_BYTES, **SHUFFLE_SETTINGS}), worker_errors():
            if self.gone is None or self.pinned.merges_on_read():
                return self._merge_on_read()
            return self._copy_on_write(self.gone)

    # ---- merge-on-read: delete files beside new rows

    def _merge_on_read(self) -> MergeResult:
        operation_id = str(uuid.uuid4())
        parts = []
        rows = self._new_rows()
        if rows is not None:
            parts.append(_data_answers(rows, self.pinned.table, operation_id))
        if self.gone is not None:
            parts.append(self._delete_answers(self.gone, operation_id))
        data, deletes = _written(parts)
        if data is None and deletes is None and len(self.covered) == 0:
            return MergeResult(0, 0, 0)
        with undone_if_not_committed(self.pinned.table, [batch for batch in (data, deletes) if batch is not None]):
            self._commit_row_delta(data, deletes)
        return self._result(_rows_of(deletes), _rows_of(data))

    def _delete_answers(self, gone: DataFrame, operation_id: str) -> DataFrame:
        pinned = self.pinned
        files = pinned.planned.plan.files
        table = pinned.table
        table.catalog.check_location(table)
        task = WritePositionDeletes(
            io_properties=dict(table.io.core.properties),
            schema=table.schema().model_dump_json(),
            specs=specs_json(table.metadata),
            table_location=table.location(),
            properties={"write.delete.granularity": "file", **table.properties},
            operation_id=operation_id,
            targets=batch_to_ipc(files.select(["file_path", "spec_id", "partition"])),
        )
        places = with_file_number(pinned.planned, gone)
        places = places.select(F.col(FILE).alias("file"), F.col(POSITION).alias("pos"))
        # One writer per file: a file's deletes go into one delete file, and a place that comes twice is seen.
        return places.repartition("file").mapInArrow(task, ANSWER_SCHEMA).withColumn("kind", F.lit(_DELETES))

    def _commit_row_delta(self, data: pa.RecordBatch | None, deletes: pa.RecordBatch | None) -> None:
        target = self.pinned.target
        transaction = target.table.transaction()
        change = transaction.new_row_delta(**_arguments(self.pinned))
        if data is not None:
            change = change.add_rows(data)
        if len(self.covered) > 0:
            change = change.remove_rows(self.covered)
        if deletes is not None:
            change = change.add_deletes(deletes)
            touched = deletes.column("referenced_data_file")
            paths = touched if touched.null_count == 0 else self.pinned.planned.plan.files.column("file_path")
            change = change.validate_data_files_exist(pc.unique(paths)).validate_deleted_files()
        self.pinned.checked(change).commit()
        transaction.commit_transaction()

    # ---- copy-on-write: files that hold changed rows, rewritten

    def _copy_on_write(self, gone: DataFrame) -> MergeResult:
        pinned = self.pinned
        places = with_file_number(pinned.planned, gone).persist()
        try:
            counts = (
                places.groupBy(FILE)
                .agg(F.count(F.lit(1)).alias("rows"), F.count_distinct(POSITION).alias("places"))
                .collect()
            )
            if any(row["rows"] != row["places"] for row in counts):
                raise ValidationError(SEVERAL_MATCHES)
            touched = pinned.planned.plan.files.column("file_path").take(
                pa.array([row[FILE] for row in counts], pa.int64())
            )
            parts = [
                frame
                for frame in (self._new_rows(), self._survivors(places, touched) if counts else None)
                if frame is not None
            ]
            rows = functools.reduce(lambda left, right: left.unionByName(right), parts) if parts else None
            data, _ = _written([] if rows is None else [_data_answers(rows, pinned.table, str(uuid.uuid4()))])
            replaced = pa.concat_arrays([touched, self.covered])
            if data is None and len(replaced) == 0:
                return MergeResult(0, 0, 0)
            with undone_if_not_committed(pinned.table, [] if data is None else [data]):
                self._commit_overwrite(data, replaced)
            inserted = 0 if self.inserted is None else self.inserted.count()
            updated = 0 if self.updated is None else self.updated.count()
            return MergeResult(updated, sum(row["rows"] for row in counts) + self.covered_rows - updated, inserted)
        finally:
            places.unpersist()

    def _survivors(self, places: DataFrame, touched: pa.Array) -> DataFrame:
        """Return the rows of touched files that stay as they are."""
        rewritten = self.pinned.only_files(touched)
        numbers = pc.index_in(
            rewritten.plan.files.column("file_path"), value_set=self.pinned.planned.plan.files.column("file_path")
        )
        mapping = pa.table({FILE: numbers, NUMBER: file_names(rewritten)})
        gone = replaced_by(places, mapping)
        rows = located_frame(self.pinned.spark, rewritten).join(gone, [FILE, POSITION], "left_anti")
        return conform(rows.drop(FILE, POSITION), self.pinned.table.schema())

    def _commit_overwrite(self, data: pa.RecordBatch | None, replaced: pa.Array) -> None:
        target = self.pinned.target
        transaction = target.table.transaction()
        change = transaction.new_overwrite(**_arguments(self.pinned)).delete(replaced)
        if data is not None:
            change = change.append(data)
        self.pinned.checked(change).commit()
        transaction.commit_transaction()

    # ---- both

    def _new_rows(self) -> DataFrame | None:
        frames = [
            conform(frame, self.pinned.table.schema()) for frame in (self.updated, self.inserted) if frame is not None
        ]
        return functools.reduce(lambda left, right: left.unionByName(right), frames) if frames else None

    def _result(self, gone: int, came: int) -> MergeResult:
        if self.updated is None:
            return MergeResult(0, gone + self.covered_rows, came)
        updated = gone if self.only_updates else self.updated.count()
        return MergeResult(updated, gone - updated, came - updated)


def _data_answers(rows: DataFrame, table: Table, operation_id: str) -> DataFrame:
    distribution = distribute(rows, table)
    task = data_task(table, presorted=distribution.presorted, operation_id=operation_id)
    return map_in_arrow(distribution.frame, task, ANSWER_SCHEMA).withColumn("kind", F.lit(_DATA))


def _written(parts: list[DataFrame]) -> tuple[pa.RecordBatch | None, pa.RecordBatch | None]:
    """Run the writing tasks, all in one job, and return data files and delete files."""
    if not parts:
        return None, None
    answers = functools.reduce(lambda left, right: left.union(right), parts).collect()
    data = collected([row["files"] for row in answers if row["kind"] == _DATA])
    return data, collected([row["files"] for row in answers if row["kind"] == _DELETES])


def _rows_of(files: pa.RecordBatch | None) -> int:
    return 0 if files is None else pc.sum(files.column("record_count")).as_py()


def _arguments(pinned: PinnedTarget) -> dict[str, Any]:
    target = pinned.target
    arguments: dict[str, Any] = {} if target.branch is None else {"branch": target.branch}
    if target.snapshot_properties:
        arguments["snapshot_properties"] = target.snapshot_properties
    return staging_arguments(pinned.spark, target.table, arguments)
