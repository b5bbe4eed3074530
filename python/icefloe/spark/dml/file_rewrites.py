"""The jobs whose tasks each rewrite some data files of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.spark.dml.rewrite_groups import rewrite_groups, task_groups
from icefloe.spark.dml.rewrite_tasks import SLOT, RewriteChanged, RewriteMatching
from icefloe.spark.dml.written_files import DATA, written_rows
from icefloe.spark.reader.frame import NUMBER, file_names
from icefloe.spark.reader.row_group_parts import session_cores
from icefloe.spark.reader.row_location import FILE
from icefloe.spark.session import default_parallelism
from icefloe.spark.types.conform import conform
from icefloe.spark.types.to_spark import read_schema, to_arrow_schema
from icefloe.spark.writer.arrow_map import map_in_arrow
from icefloe.spark.writer.shuffle_slots import slots
from icefloe.spark.writer.write_task import RESULT_SCHEMA, data_task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.changed_rows import ChangedRows
    from icefloe.spark.dml.rewrite_groups import Longs
    from icefloe.spark.dml.target import PlannedTarget
    from icefloe.spark.writer.layout import WriteLayout
    from icefloe.spark.writer.write_task import WriteDataFiles

MOST_NEW_ROWS = 1_000_000
"""New rows that one task holds in memory. With more of them, Spark reads and writes all rows."""


@dataclass(frozen=True)
class FileRewrites:
    """The tasks of an operation that rewrite data files.

    Args:
        target: The table.
        layout: Layout of the new files.
    """

    target: PlannedTarget
    layout: WriteLayout

    def of_matching(self, operation_id: str) -> DataFrame:
        """Return the results of tasks that rewrite the files with rows of the target's filter, without these rows.

        Args:
            operation_id: UUID in the names of the files.
        """
        plan = self.target.planned.plan
        groups = rewrite_groups(plan, np.arange(plan.files.num_rows), self.layout, self._cores())
        task = RewriteMatching(groups=task_groups(plan, groups, filtered=True), write=self._write(operation_id))
        numbers = self.target.spark.range(0, len(groups), 1, len(groups))
        results: DataFrame = numbers.mapInArrow(task, RESULT_SCHEMA).withColumn("kind", F.lit(DATA))
        return results

    def of_changed(self, rows: ChangedRows, counts: dict[int, int], operation_id: str) -> list[DataFrame] | None:
        """Return the results of tasks that write the remaining rows of files and the new rows; None if these are too many.

        Args:
            rows: The changed rows.
            counts: Number of rows to remove from each file.
            operation_id: UUID in the names of the files.
        """
        plan = self.target.planned.plan
        groups = rewrite_groups(plan, np.array(sorted(counts)), self.layout, self._cores())
        if (
            rows.updated is not None
            and max(sum(map(counts.__getitem__, one.tolist())) for one in groups) > MOST_NEW_ROWS
        ):
            return None
        parts = []
        if rows.inserted is not None and rows.inserted_rows > MOST_NEW_ROWS * len(groups):
            inserted = conform(rows.inserted, self.target.table.schema())
            parts.append(written_rows(inserted, self.target, self.layout, operation_id))
            rows = replace(rows, inserted=None)
        return [*parts, self._rewritten(rows, groups, operation_id)]

    def _rewritten(self, rows: ChangedRows, groups: list[Longs], operation_id: str) -> DataFrame:
        plan, schema = self.target.planned.plan, self.target.table.schema()
        values = slots(len(groups))
        frame = rows.with_slots(self._mapping(groups, values), values, schema).repartition(len(groups), SLOT)
        task = RewriteChanged(
            groups=task_groups(plan, groups, filtered=False),
            slots={value: number for number, value in enumerate(values)},
            write=self._write(operation_id),
            arrow=to_arrow_schema(read_schema(schema)) if rows.has_values else None,
        )
        return map_in_arrow(frame, task, RESULT_SCHEMA).withColumn("kind", F.lit(DATA))

    def _mapping(self, groups: list[Longs], values: list[int]) -> pa.Table:
        """Return the number and the slot of each file to rewrite."""
        numbers = np.concatenate(groups)
        names = file_names(self.target.planned).take(pa.array(numbers))
        slot = np.repeat(np.array(values, dtype=np.int32), [len(rows) for rows in groups])
        return pa.table({FILE: names, NUMBER: pa.array(numbers.astype(np.int32)), SLOT: pa.array(slot)})

    def _write(self, operation_id: str) -> WriteDataFiles:
        return data_task(self.target.table, presorted=False, operation_id=operation_id, layout=self.layout)

    def _cores(self) -> int:
        return session_cores(self.target.spark) or default_parallelism(self.target.spark)
