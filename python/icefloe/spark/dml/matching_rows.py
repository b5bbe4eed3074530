"""Position deletes of the rows that match a filter, found and written in one task, so that no rows cross to the JVM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.table.scan.metadata_columns import FILE_ROW
from icefloe.table.scan.plan import ScanPlan
from icefloe.table.write.rows import POS, matching

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from icefloe.spark.writer.write_task import WritePositionDeletes
    from icefloe.table.scan.plan import Packing
    from icefloe.table.scan.task_group import TaskGroup

_NUMBER = "number"


@dataclass(frozen=True, kw_only=True)
class DeleteMatchingRows:
    """Delete the rows that match the filter in the groups of the given numbers, for ``DataFrame.mapInArrow`` over a range of numbers.

    Args:
        groups: Whole data files, each with its row number in the plan, and the filter of their rows.
        write: The task that writes the positions.
    """

    groups: tuple[TaskGroup, ...]
    write: WritePositionDeletes

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one result of the writing task, or none if no row matches."""
        reduce_fixed_costs()
        numbers = (number for batch in batches for number in batch.column(0).to_pylist())
        return self.write(batch for number in numbers for batch in _positions(self.groups[number]))


def numbered_groups(plan: ScanPlan, packing: Packing) -> tuple[TaskGroup, ...]:
    """Return a plan's whole files, packed into groups, with their row numbers in the plan.

    Args:
        plan: Plan of whole files.
        packing: Packing of the files.
    """
    numbers = pa.array(np.arange(plan.files.num_rows, dtype=np.int32))
    return tuple(replace(plan, files=plan.files.append_column(_NUMBER, numbers)).groups(packing))


def _positions(group: TaskGroup) -> Iterator[pa.RecordBatch]:
    """Yield the positions of the live rows that match: ``file``, the row number in the plan, and ``pos``."""
    plan = ScanPlan.of_group(group)
    numbers = plan.files.column(_NUMBER)
    for batch in matching(plan).rows.to_batches():
        if batch.num_rows > 0:
            yield pa.record_batch({"file": numbers.take(batch.column(FILE_ROW)), "pos": batch.column(POS)})
