"""Distinct values of columns, counted by executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from icefloe import _core
from icefloe.spark.session import active_session
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.arrow_map import worker_errors
from icefloe.table.maintenance.statistics.compute_statistics import ComputeStatistics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from icefloe.table.scan.plan import Packing, ScanPlan
    from icefloe.table.scan.task_group import TaskGroup

_RESULT = "sketches array<binary>"
_SKETCHES = pa.schema([("sketches", pa.list_(pa.binary()))])
_SKETCH_BYTES = 33_000
"""The most bytes of a sketch."""
_RESULT_BYTES = 128 * 1024 * 1024
"""The most bytes of the sketches that all tasks of a job return to the driver."""
_MOST_TASKS = 1_024


@dataclass(frozen=True)
class SketchColumns:
    """Count the distinct values of columns, for ``DataFrame.mapInArrow`` over the numbers of task groups.

    Args:
        groups: The task groups of a scan.
        paths: The position of each column in a batch, then of the child in each struct around it.
    """

    groups: tuple[TaskGroup, ...]
    paths: tuple[tuple[int, ...], ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield one row for all groups of the given numbers: the sketches of the columns."""
        reduce_fixed_costs()
        paths = [list(path) for path in self.paths]
        sketches: list[bytes] = []
        for batch in batches:
            for number in batch.column(0).to_pylist():
                found = _core.distinct_values(_rows(self.groups[number]), paths)
                own = [sketch for _, sketch in found]
                if sketches:
                    own = [_core.merge_sketches([*both])[1] for both in zip(sketches, own, strict=True)]
                sketches = own
        yield pa.RecordBatch.from_arrays([pa.array([sketches], _SKETCHES.field(0).type)], schema=_SKETCHES)


@dataclass(frozen=True)
class ClusterComputeStatistics(ComputeStatistics):
    """Distinct counts whose sketches executors compute and the driver merges. The result does not depend on the tasks.

    Attributes:
        spark: Session.
        packing: How files are packed into the groups that tasks read; None for the scan's own.
    """

    spark: Any = None
    packing: Packing | None = None

    def _sketches(self, plan: ScanPlan, paths: list[list[int]]) -> list[tuple[float, bytes]]:
        groups = tuple(plan.groups(self.packing))
        if not groups:
            return super()._sketches(plan, paths)
        most = max(1, min(_MOST_TASKS, _RESULT_BYTES // (_SKETCH_BYTES * len(paths))))
        task = SketchColumns(groups, tuple(map(tuple, paths)))
        frame = active_session(self.spark).range(0, len(groups), 1, min(len(groups), most)).mapInArrow(task, _RESULT)
        with worker_errors():
            results = [row[0] for row in frame.collect()]
        return [_core.merge_sketches([bytes(one) for one in column]) for column in zip(*results, strict=True)]


def _rows(group: TaskGroup) -> _core.ScanStream:
    return _core.read(
        _core.FileIo(group.io_properties),
        group.context,
        group.files,
        group.deletes,
        projection=group.projection,
        string_views=True,
    )
