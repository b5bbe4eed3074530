"""Rows of data files addressed by file and position: finding, reading and excluding them.

A position is the ordinal of a physical row in its file. Rows are returned in the order of (file, position), with files in the order
of the plan.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.scan.metadata_columns import FILE_ROW, with_metadata_columns
from icefloe.table.scan.plan import with_own_deletes

if TYPE_CHECKING:
    from icefloe import _core
    from icefloe.table.scan.plan import ScanPlan

FILE = "_file"
POS = "_pos"
POSITIONS = pa.schema([(FILE_ROW, pa.int32()), (POS, pa.int64())])


@dataclass(frozen=True)
class Positions:
    """Positions of rows in a plan's files.

    Attributes:
        rows: Columns `__file_row` int32 (the file's row in the plan) and `_pos` int64, sorted by both.
    """

    rows: pa.Table

    def renumbered(self, keep: pa.Array) -> Positions:
        """Return the same rows for a plan with the files of the mask `keep`, which must include the files of all rows."""
        numbers = pc.subtract(pc.cumulative_sum(keep.cast(pa.int32())), pa.scalar(1, pa.int32()))
        rows = numbers.take(self.rows.column(FILE_ROW).combine_chunks())
        return Positions(self.rows.set_column(0, FILE_ROW, rows))

    def runs(self) -> dict[int, tuple[int, int]]:
        """Return the first row and the number of rows of each file, by its row in the plan."""
        column = self.rows.column(FILE_ROW).combine_chunks()
        if len(column) == 0:
            return {}
        encoded = pc.run_end_encode(column, run_end_type=pa.int64())
        found: dict[int, tuple[int, int]] = {}
        start = 0
        for file_row, end in zip(encoded.values.to_pylist(), encoded.run_ends.to_pylist(), strict=True):
            found[file_row] = (start, end - start)
            start = end
        return found


@dataclass(frozen=True)
class RowRuns:
    """Runs of rows in a plan's files.

    Attributes:
        rows: Columns `__file_row` int32 (the file's row in the plan), `first` int64 and `count` int64, sorted by the first two.
    """

    rows: pa.Table


def with_files(plan: ScanPlan, keep: pa.Array) -> ScanPlan:
    """Return the plan of the files that the mask `keep` selects."""
    files, deletes = with_own_deletes(plan.files.filter(keep), plan.deletes)
    return replace(plan, files=files, deletes=deletes, limit=None)


def unfiltered(plan: ScanPlan) -> ScanPlan:
    """Return the plan without its filter: it reads every live row of its files."""
    position = plan.files.schema.get_field_index("residual")
    field = plan.files.schema.field(position)
    none = pa.nulls(plan.files.num_rows, field.type)
    return replace(plan, files=plan.files.set_column(position, field, none), limit=None)


def located(plan: ScanPlan, schema: str) -> _core.ScanStream:
    """Return the rows that match the plan's filter as a stream: columns of `schema`, then `__file_row` and `_pos`.

    Args:
        plan: A plan of whole files; tasks that are parts of files would repeat a path.
        schema: Schema JSON of the columns to read.
    """
    return replace(plan, projection=with_metadata_columns(schema, [FILE_ROW, POS])).stream()


def matching(plan: ScanPlan) -> Positions:
    """Return the positions of the rows that match the plan's filter."""
    rows = located(plan, '{"type":"struct","schema-id":0,"fields":[]}')
    return Positions(pa.Table.from_batches(rows, rows.schema).cast(POSITIONS))


def other_rows(plan: ScanPlan, schema: str, without: Positions) -> _core.ScanStream:
    """Return the live rows of the plan's files except the rows at some positions, as a stream.

    Args:
        plan: A plan of whole files.
        schema: Schema JSON of the columns to read.
        without: Positions to exclude.
    """
    return replace(unfiltered(plan), projection=schema).stream(rows=without.rows, keep=False)


def rows_at(plan: ScanPlan, schema: str, at: Positions | RowRuns) -> _core.ScanStream:
    """Return the rows at some positions as a stream, in order; every position must be of a live row."""
    return replace(unfiltered(plan), projection=schema).stream(rows=at.rows)


def position_stream(plan: ScanPlan, positions: Positions) -> pa.Table:
    """Return positions as input of `_core.write_position_deletes`: columns `file_path`, a dictionary, and `pos`."""
    file_rows, pos = (positions.rows.column(name).combine_chunks() for name in (FILE_ROW, POS))
    paths = pa.DictionaryArray.from_arrays(file_rows, plan.files.column("file_path"))
    return pa.table({"file_path": paths, "pos": pos})


def changed_files(plan: ScanPlan, positions: Positions) -> pa.Array:
    """Return the paths of the plan's files that hold any of the positions, in the order of the plan."""
    return plan.files.column("file_path").take(pc.unique(positions.rows.column(FILE_ROW)))


def targets(plan: ScanPlan) -> pa.Table:
    """Return the plan's files as input of `_core.write_position_deletes`."""
    return pa.table({name: plan.files.column(name) for name in ("file_path", "spec_id", "partition")})


def rewritten_files(plan: ScanPlan, schema: str, without: Positions) -> tuple[pa.Array, _core.ScanStream]:
    """Return the paths of the files that hold any of the positions, and the stream of their other live rows.

    Args:
        plan: A plan of whole files.
        schema: Schema JSON of the columns to read.
        without: Positions to exclude.
    """
    touched, positions = touched_files(plan, without)
    return touched.files.column("file_path"), other_rows(touched, schema, positions)


def touched_files(plan: ScanPlan, positions: Positions) -> tuple[ScanPlan, Positions]:
    """Return the plan of the files that hold any of the positions, and the positions by the files of this plan."""
    runs = positions.runs()
    keep = pa.array([row in runs for row in range(plan.files.num_rows)], pa.bool_())
    return with_files(plan, keep), positions.renumbered(keep)
