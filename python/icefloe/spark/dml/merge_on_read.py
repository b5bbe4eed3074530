"""Merge-on-read: delete files beside new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.spark.dml.both_passes import check_both_passes
from icefloe.spark.dml.matching_rows import DeleteMatchingRows, numbered_groups
from icefloe.spark.dml.replace_rows import REPLACED_SCHEMA, ReplaceRows
from icefloe.spark.dml.rewrite_groups import rewrites_by_file
from icefloe.spark.dml.written_files import DATA, DELETES, new_rows, results_of, run, updated_and_inserted, written_rows
from icefloe.spark.reader.frame import NUMBER, file_names, replaced_by, with_file_number
from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.types.conform import conformed_columns
from icefloe.spark.writer.arrow_map import map_in_arrow
from icefloe.spark.writer.commit import files_deleted_on_failure
from icefloe.spark.writer.layout import WriteLayout
from icefloe.spark.writer.write_task import (
    RESULT_SCHEMA,
    WritePositionDeletes,
    collected,
    data_task,
    row_count,
    written_positions,
)
from icefloe.table.commit.removed_files import RemovedFiles
from icefloe.table.environment import SYSTEM
from icefloe.table.properties.core import delete_file_properties
from icefloe.table.read_context import specs_json
from icefloe.table.row_level.merge import MergeResult
from icefloe.table.row_level.row_commit import RowDeltaFiles, commit_rewrite, commit_row_delta
from icefloe.table.scan.task_group import batch_to_ipc
from icefloe.table.write.position_deletes import of_data_files, replaced_deletes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.row_changes import RowChanges

_CLUSTER = "__icefloe_cluster"


@dataclass(frozen=True)
class MergeOnRead:
    """The commit of position deletes and new rows.

    Args:
        changes: The removed and the new rows.
    """

    changes: RowChanges

    def commit(self) -> MergeResult:
        """Write new rows and position deletes, and commit both; without a change there is no commit."""
        changes, target = self.changes, self.changes.target
        operation_id = SYSTEM.new_uuid()
        deleted = 0 if changes.updated is None or changes.deleted is None else changes.deleted.count()
        results = run(target, self._parts(operation_id), operation_id)
        rows, positions = results_of(results, DATA), results_of(results, DELETES)
        data, deletes = collected(rows), collected(positions)
        removed = written_positions(positions)
        updated, inserted = (row_count(data), 0) if self.is_one_pass else updated_and_inserted(rows)
        if changes.updated is not None:
            # Tasks compute positions and new versions apart: a row would be lost, or doubled, if these differ.
            counted, written = (f"{count} new versions of rows" for count in (removed - deleted, updated))
            check_both_passes(target, [data, deletes], counted=counted, written=written)
        if data is None and deletes is None and len(changes.whole_files.paths) == 0:
            return MergeResult(0, 0, 0)
        with files_deleted_on_failure(target.table, [batch for batch in (data, deletes) if batch is not None]):
            self._add_to_transaction(data, deletes)
            target.target.transaction.commit_transaction()
        return MergeResult(updated, removed + changes.whole_file_rows - updated, inserted)

    @property
    def is_one_pass(self) -> bool:
        """Whether tasks write the new versions of rows with their position deletes: each table partition, or file, has one task."""
        changes, layout = self.changes, self._layout
        if (
            changes.updated is None
            or not changes.only_updates
            or changes.inserted is not None
            or layout.mode() != "hash"
        ):
            return False
        plan = changes.target.planned.plan
        return not layout.is_partitioned or (changes.keeps_partitions and rewrites_by_file(plan, layout))

    @property
    def _layout(self) -> WriteLayout:
        return WriteLayout.of_operation(self.changes.target.table.metadata, self.changes.target.operation)

    def _parts(self, operation_id: str) -> list[DataFrame]:
        """Return the results of the tasks that write new rows and position deletes."""
        changes = self.changes
        if changes.updated is not None and self.is_one_pass:
            return [self._replaced_rows(changes.updated, operation_id)]
        parts = []
        rows = new_rows(changes)
        if rows is not None:
            parts.append(written_rows(rows, changes.target, self._layout, operation_id))
        if changes.removes_scan:
            parts.append(self._deletes_of_scan(operation_id))
        elif changes.removed is not None:
            parts.append(self._written_deletes(changes.removed, operation_id))
        return parts

    def _replaced_rows(self, updated: DataFrame, operation_id: str) -> DataFrame:
        """Return the results of tasks that write new versions of rows and the position deletes of the old ones."""
        target = self.changes.target
        files = target.planned.plan.files
        numbers = pa.array(np.arange(files.num_rows, dtype=np.int32))
        clusters = files.column("partition").cast(pa.string()).dictionary_encode().indices.cast(pa.int32())
        mapping = {FILE: file_names(target.planned), NUMBER: numbers}
        mapping[_CLUSTER] = clusters if self._layout.is_partitioned else numbers
        values = conformed_columns(updated.drop(FILE, POSITION).schema, target.table.schema())
        rows = replaced_by(updated, pa.table(mapping)).select(_CLUSTER, FILE, POSITION, *values)
        task = ReplaceRows(
            deletes=self._writing_task(operation_id),
            rows=data_task(target.table, presorted=False, operation_id=operation_id, layout=self._layout),
        )
        return map_in_arrow(rows.repartition(_CLUSTER).drop(_CLUSTER), task, REPLACED_SCHEMA)

    def _add_to_transaction(self, data: pa.RecordBatch | None, deletes: pa.RecordBatch | None) -> None:
        operation = self.changes.row_level_operation()
        if data is None and deletes is None:
            commit_rewrite(operation, [self.changes.whole_files], [])
            return
        files = RowDeltaFiles(
            rows=[] if data is None else [data],
            deletes=deletes,
            replaced=self._replaced(deletes),
            referenced=self._referenced(deletes),
            removed=self.changes.whole_files,
        )
        commit_row_delta(operation, files)

    def _deletes_of_scan(self, operation_id: str) -> DataFrame:
        planned = self.changes.target.planned
        groups = numbered_groups(planned.plan, planned.scan.packing())
        task = DeleteMatchingRows(groups=groups, write=self._writing_task(operation_id))
        numbers = self.changes.target.spark.range(0, len(groups), 1, len(groups))
        results: DataFrame = numbers.mapInArrow(task, RESULT_SCHEMA).withColumn("kind", F.lit(DELETES))
        return results

    def _written_deletes(self, removed: DataFrame, operation_id: str) -> DataFrame:
        positions = with_file_number(self.changes.target.planned, removed)
        positions = positions.select(F.col(FILE).alias("file"), F.col(POSITION).alias("pos"))
        task = self._writing_task(operation_id)
        # One task for all deletes of a data file: it writes one delete file, and detects a position that occurs twice.
        return positions.repartition("file").mapInArrow(task, RESULT_SCHEMA).withColumn("kind", F.lit(DELETES))

    def _writing_task(self, operation_id: str) -> WritePositionDeletes:
        planned, table = self.changes.target.planned, self.changes.target.table
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
        plan = self.changes.target.planned.plan
        return replaced_deletes(
            plan.files, plan.deletes, plan.files.column("file_path"), self.changes.target.table.properties
        )

    def _replaced(self, deletes: pa.RecordBatch | None) -> RemovedFiles:
        """Return the delete files that the new ones replace."""
        touched = pa.array([], pa.string()) if deletes is None else pc.drop_null(deletes.column("referenced_data_file"))
        return RemovedFiles.of(of_data_files(self._replaceable(), touched))

    def _referenced(self, deletes: pa.RecordBatch | None) -> pa.Array:
        """Return the paths of the data files that delete files refer to; all planned files where a delete file has no path."""
        if deletes is None:
            return pa.array([], pa.string())
        referenced = deletes.column("referenced_data_file")
        return pc.unique(
            referenced if referenced.null_count == 0 else self.changes.target.planned.plan.files.column("file_path")
        )
