"""Tasks that rewrite data files without some of their rows: the unchanged rows do not cross to the JVM."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.spark.dml.new_rows import NEW, NewRows, check_positions
from icefloe.spark.dml.rewrite_groups import NUMBER
from icefloe.spark.reader.native import FILE, POSITION
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.write_task import task_ids, task_result
from icefloe.table.scan.metadata_columns import FILE_ROW
from icefloe.table.scan.plan import ScanPlan
from icefloe.table.scan.task_group import batch_from_ipc
from icefloe.table.write.rows import POS, Positions, matching, rewritten_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from icefloe.spark.writer.write_task import WriteDataFiles
    from icefloe.table.scan.task_group import TaskGroup

SLOT = "__icefloe_slot"
"""Column of changed rows: a value that Spark's hash partitioning sends to the task of the row's file."""

_FILES, _ROWS = b"rewritten_files", b"removed_rows"


@dataclass(frozen=True, kw_only=True)
class Rewritten:
    """What tasks have rewritten.

    Args:
        numbers: Numbers of the files, rows of the plan.
        removed_rows: Number of rows that the new files lack.
    """

    numbers: list[int]
    removed_rows: int

    @staticmethod
    def of(results: Sequence[bytes]) -> Rewritten:
        """Return what the tasks of some results have rewritten."""
        stated = [batch_from_ipc(data).schema.metadata for data in results]
        numbers = [number for one in stated for number in json.loads(one[_FILES])]
        return Rewritten(numbers=numbers, removed_rows=sum(int(one[_ROWS]) for one in stated))


@dataclass(frozen=True, kw_only=True)
class RewriteMatching:
    """Rewrite the files with rows that match the groups' filter, for ``DataFrame.mapInArrow`` over a range of numbers.

    Args:
        groups: Data files with the filter of the rows to remove.
        write: The task that writes the other rows.
    """

    groups: tuple[TaskGroup, ...]
    write: WriteDataFiles

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a result for each group with a matching row."""
        reduce_fixed_costs()
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            plan = ScanPlan.of_group(self.groups[number])
            found = matching(plan)
            if found.rows.num_rows > 0:
                _, rows = rewritten_files(plan, self.write.schema, found)
                yield _result(plan, found, _written(self.write, number, rows))


@dataclass(frozen=True, kw_only=True)
class RewriteChanged:
    """Rewrite the files of changed rows, for ``DataFrame.mapInArrow`` over the rows' slots, file numbers and positions.

    Rows may have the table's columns as well, and a column that is true for new versions of rows and null for rows that are only removed. A
    row without a position is inserted.

    Args:
        groups: Data files, all rows of them.
        slots: The group of each slot.
        write: The task that writes the remaining and the new rows.
        arrow: Arrow schema of the table's columns in Spark; None if rows have none.
    """

    groups: tuple[TaskGroup, ...]
    slots: dict[int, int]
    write: WriteDataFiles
    arrow: pa.Schema | None = None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a result for each group with a changed row."""
        reduce_fixed_costs()
        received = [batch for batch in batches if batch.num_rows > 0]
        if not received:
            return
        rows = pa.Table.from_batches(received)
        for slot in pc.unique(rows.column(SLOT)).to_pylist():
            number = self.slots[slot]
            plan = ScanPlan.of_group(self.groups[number])
            own = rows.filter(pc.equal(rows.column(SLOT), slot)).drop_columns([SLOT])
            is_changed = pc.is_valid(own.column(POSITION))
            changed = _in_plan(own.filter(is_changed), plan)
            positions = Positions(changed.select([FILE_ROW, POS]))
            check_positions(positions)
            if self.arrow is None:
                stream: Any = rewritten_files(plan, self.write.schema, positions)[1]
            else:
                inserted = own.filter(pc.invert(is_changed)).select(self.arrow.names)
                new = changed.select([*self.arrow.names, NEW])
                stream = NewRows(plan, self.write.schema, positions, new, inserted, self.arrow).among_remaining()
            yield _result(plan, positions, _written(self.write, number, stream))


def _in_plan(rows: pa.Table, plan: ScanPlan) -> pa.Table:
    """Return changed rows with the row of their file in a task's plan, in the order of files and positions."""
    file_rows = pc.index_in(rows.column(FILE), value_set=plan.files.column(NUMBER))
    rows = rows.drop_columns([FILE]).append_column(FILE_ROW, file_rows.cast(pa.int32()))
    rows = rows.rename_columns([POS if name == POSITION else name for name in rows.column_names])
    return rows.take(pc.sort_indices(rows, sort_keys=[(FILE_ROW, "ascending"), (POS, "ascending")]))


def _written(write: WriteDataFiles, number: int, rows: Any) -> pa.RecordBatch:
    """Write the rows of a group, of which Spark may give a task several, and return DataFile columns."""
    return write.write_unsorted(rows, (number, task_ids()[1]))


def _result(plan: ScanPlan, removed: Positions, files: pa.RecordBatch) -> pa.RecordBatch:
    numbers = plan.files.column(NUMBER).take(pc.unique(removed.rows.column(FILE_ROW)))
    stated = {_FILES: json.dumps(numbers.to_pylist()), _ROWS: str(removed.rows.num_rows)}
    return task_result(files.replace_schema_metadata(stated))
