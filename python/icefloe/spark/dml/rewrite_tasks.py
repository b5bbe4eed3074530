"""Tasks that rewrite data files without some of their rows: the unchanged rows do not cross to the JVM."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.spark.dml.new_rows import NEW, NewRows, check_positions
from icefloe.spark.dml.rewrite_groups import NUMBER
from icefloe.spark.reader.row_location import FILE, POSITION
from icefloe.spark.worker_process import reduce_fixed_costs
from icefloe.spark.writer.write_task import row_count, task_ids, task_result
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

_REMOVED, _UPDATED, _INSERTED = b"removed_rows", b"updated_rows", b"inserted_rows"
_OTHER_FILE = -1
"""The number that stands for files without a slot: a task cannot rewrite them."""
_NO_FILES = pa.record_batch({"record_count": pa.array([], pa.int64())})


@dataclass(frozen=True, kw_only=True)
class Rewritten:
    """What tasks have rewritten.

    Args:
        removed: Number of rows that the new files lack, for each rewritten file by its number, a row of the plan.
        updated_rows: Number of new versions of these rows.
        inserted_rows: Number of other new rows.
    """

    removed: dict[int, int]
    updated_rows: int
    inserted_rows: int

    @staticmethod
    def of(results: Sequence[bytes]) -> Rewritten:
        """Return what the tasks of some results have rewritten; tasks that rewrite no file have inserted their rows."""
        removed: dict[int, int] = {}
        updated = inserted = 0
        for batch in map(batch_from_ipc, results):
            stated = batch.schema.metadata or {}
            if _REMOVED in stated:
                removed.update(json.loads(stated[_REMOVED]))
                updated += int(stated[_UPDATED])
                inserted += int(stated[_INSERTED])
            else:
                inserted += row_count(batch)
        return Rewritten(removed=removed, updated_rows=updated, inserted_rows=inserted)

    def __str__(self) -> str:
        """Return the numbers in words."""
        return f"{self.removed_rows} rows to remove from {len(self.removed)} data files and {self.inserted_rows} rows to insert"

    @property
    def removed_rows(self) -> int:
        """The number of rows that the new files lack."""
        return sum(self.removed.values())


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
        for slot in pc.unique(rows.column(SLOT)).drop_null().to_pylist():
            number = self.slots[slot]
            plan = ScanPlan.of_group(self.groups[number])
            own = rows.filter(pc.equal(rows.column(SLOT), slot)).drop_columns([SLOT])
            is_changed = pc.is_valid(own.column(POSITION))
            changed = _in_plan(own.filter(is_changed), plan)
            positions = Positions(changed.select([FILE_ROW, POS]))
            check_positions(positions)
            updated_rows = 0
            if self.arrow is None:
                stream: Any = rewritten_files(plan, self.write.schema, positions)[1]
            else:
                inserted = own.filter(pc.invert(is_changed)).select(self.arrow.names)
                new = changed.select([*self.arrow.names, NEW])
                updated_rows = new.num_rows - new.column(NEW).null_count
                stream = NewRows(plan, self.write.schema, positions, new, inserted, self.arrow).among_remaining()
            written = _written(self.write, number, stream)
            yield _result(plan, positions, written, updated=updated_rows, inserted=own.num_rows - changed.num_rows)
        if rows.column(SLOT).null_count > 0:
            yield _stated(_NO_FILES, [(_OTHER_FILE, rows.column(SLOT).null_count)])


def _in_plan(rows: pa.Table, plan: ScanPlan) -> pa.Table:
    """Return changed rows with the row of their file in a task's plan, in the order of files and positions."""
    file_rows = pc.index_in(rows.column(FILE), value_set=plan.files.column(NUMBER))
    rows = rows.drop_columns([FILE]).append_column(FILE_ROW, file_rows.cast(pa.int32()))
    rows = rows.rename_columns([POS if name == POSITION else name for name in rows.column_names])
    return rows.take(pc.sort_indices(rows, sort_keys=[(FILE_ROW, "ascending"), (POS, "ascending")]))


def _written(write: WriteDataFiles, number: int, rows: Any) -> pa.RecordBatch:
    """Write the rows of a group, of which Spark may give a task several, and return DataFile columns."""
    return write.write_unsorted(rows, (number, task_ids()[1]))


def _result(
    plan: ScanPlan, removed: Positions, files: pa.RecordBatch, *, updated: int = 0, inserted: int = 0
) -> pa.RecordBatch:
    numbers = plan.files.column(NUMBER).to_pylist()
    # Pairs: keys of a JSON object are strings.
    pairs = [(numbers[file_row], count) for file_row, (_, count) in removed.runs().items()]
    return _stated(files, pairs, updated, inserted)


def _stated(
    files: pa.RecordBatch, removed: list[tuple[int, int]], updated: int = 0, inserted: int = 0
) -> pa.RecordBatch:
    """Return the result of a task, with the number of removed rows of each file."""
    stated = {_REMOVED: json.dumps(removed), _UPDATED: str(updated), _INSERTED: str(inserted)}
    return task_result(files.replace_schema_metadata(stated))
