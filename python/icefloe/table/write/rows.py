"""Rows of data files, addressed by file and position: finding, fetching, and leaving out.

Positions count the physical rows of a file. A plan's files keep their order and rows keep theirs within a file, so rows
come back in the order of (file, position).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.scan.metadata_columns import with_metadata_columns
from icefloe.table.scan.plan import with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.plan import ScanPlan

FILE = "_file"
POS = "_pos"
FILE_ROW = "__file_row"


@dataclass(frozen=True)
class Positions:
    """Rows of a plan's files.

    Attributes:
        rows: `__file_row` int32 (row of the plan's files) and `_pos` int64, ascending by both.
    """

    rows: pa.Table

    def of_file(self, file_row: int, runs: dict[int, tuple[int, int]]) -> pa.Array:
        """Return the positions in one file."""
        start, length = runs.get(file_row, (0, 0))
        return self.rows.column(POS).slice(start, length).combine_chunks()

    def renumbered(self, keep: pa.Array) -> Positions:
        """Return the same rows for a plan that has only the files of the mask `keep`, all rows' files among them."""
        numbers = pc.subtract(pc.cumulative_sum(keep.cast(pa.int32())), 1)
        rows = numbers.take(self.rows.column(FILE_ROW).combine_chunks())
        return Positions(self.rows.set_column(0, FILE_ROW, rows))

    def runs(self) -> dict[int, tuple[int, int]]:
        """Return where each file's rows start, and how many there are."""
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


def with_files(plan: ScanPlan, keep: pa.Array) -> ScanPlan:
    """Return a plan of some of its files, `keep` being a mask over them."""
    files, deletes = with_own_deletes(plan.files.filter(keep), plan.deletes)
    return replace(plan, files=files, deletes=deletes, limit=None)


def unfiltered(plan: ScanPlan) -> ScanPlan:
    """Return a plan that reads every live row of its files, its filter forgotten."""
    position = plan.files.schema.get_field_index("residual")
    field = plan.files.schema.field(position)
    none = pa.nulls(plan.files.num_rows, field.type)
    return replace(plan, files=plan.files.set_column(position, field, none), limit=None)


def located(plan: ScanPlan, schema: str) -> pa.Table:
    """Return the plan's rows that pass its filter: columns of `schema`, then `__file_row` and `_pos`.

    File names are replaced by row numbers of the plan's files, batch by batch: a path per row would dwarf narrow rows.

    Args:
        plan: Whole files; tasks that are parts of files would repeat a path.
        schema: Schema JSON of the wanted columns.
    """
    # A view of a path is 16 bytes a row where the path itself may be a hundred.
    stream = replace(plan, projection=with_metadata_columns(schema, [FILE, POS])).stream(string_views=True)
    paths = plan.files.column("file_path")
    names = [name for name in stream.schema.names if name not in (FILE, POS)]
    batches = []
    for batch in stream:
        columns = {name: _plain(batch.column(name)) for name in names}
        batches.append(
            pa.record_batch({**columns, FILE_ROW: _file_rows(batch.column(FILE), paths), POS: batch.column(POS)})
        )
    if batches:
        return pa.Table.from_batches(batches)
    fields = [(name, _plain(pa.nulls(0, stream.schema.field(name).type)).type) for name in names]
    return pa.schema([*fields, (FILE_ROW, pa.int32()), (POS, pa.int64())]).empty_table()


def _file_rows(names: pa.Array, paths: pa.Array) -> pa.Array:
    """Return the row of `paths` that each name is. Files are read in order, so equal ends mean that all are equal."""
    if len(names) > 0 and names[0].as_py() == names[-1].as_py():
        return pa.repeat(pc.index(paths, names[0].as_py()).cast(pa.int32()), len(names))
    return pc.index_in(names.cast(pa.string()), paths)


def _plain(column: pa.Array) -> pa.Array:
    """Return views as plain strings or binaries, which joins take."""
    if column.type == pa.string_view():
        return column.cast(pa.string())
    return column.cast(pa.binary()) if column.type == pa.binary_view() else column


def matching(plan: ScanPlan) -> Positions:
    """Return where the rows are that pass the plan's filter."""
    return Positions(located(plan, '{"type":"struct","schema-id":0,"fields":[]}'))


def kept_rows(plan: ScanPlan, schema: str, without: Positions) -> pa.RecordBatchReader:
    """Return the live rows of the plan's files except those at some positions, as a stream.

    Args:
        plan: Whole files.
        schema: Schema JSON of the wanted columns.
        without: Positions to leave out.
    """
    return _masked(plan, schema, without, keep=False)


def rows_at(plan: ScanPlan, schema: str, at: Positions) -> pa.Table:
    """Return the rows at some positions, in their order; every position must be live."""
    runs = at.runs()
    keep = pa.array([row in runs for row in range(plan.files.num_rows)], pa.bool_())
    return _masked(with_files(plan, keep), schema, at.renumbered(keep), keep=True).read_all()


def _masked(plan: ScanPlan, schema: str, positions: Positions, *, keep: bool) -> pa.RecordBatchReader:
    """Return the live rows of the plan's files that are at the positions, or all others, as a stream.

    Read file by file, so that no batch spans two. Rows and positions both ascend within a file: each batch looks at the
    positions in its own range only.
    """
    whole = replace(unfiltered(plan), projection=with_metadata_columns(schema, [POS]))
    row_schema = pa.schema([field for field in whole.stream().schema if field.name != POS])
    runs = positions.runs()

    def batches() -> Iterator[pa.RecordBatch]:
        for file_row in range(whole.files.num_rows):
            files, deletes = with_own_deletes(whole.files.slice(file_row, 1), whole.deletes)
            wanted = positions.of_file(file_row, runs)
            for batch in replace(whole, files=files, deletes=deletes).stream():
                if batch.num_rows == 0:
                    continue
                ordinals = batch.column(POS)
                end = bisect_right(wanted, ordinals[-1].as_py(), key=_value)
                found = pc.is_in(ordinals, wanted.slice(0, end))
                wanted = wanted.slice(end)
                kept = batch.filter(found if keep else pc.invert(found))
                yield pa.RecordBatch.from_arrays([kept.column(name) for name in row_schema.names], schema=row_schema)

    return pa.RecordBatchReader.from_batches(row_schema, batches())


def _value(scalar: pa.Scalar) -> int:
    value: int = scalar.as_py()
    return value


def position_stream(plan: ScanPlan, positions: Positions) -> pa.Table:
    """Return positions as the core's delete writer takes them: `file_path` and `pos`."""
    paths = plan.files.column("file_path").take(positions.rows.column(FILE_ROW).combine_chunks())
    return pa.table({"file_path": paths, "pos": positions.rows.column(POS)})


def targets(plan: ScanPlan) -> pa.Table:
    """Return the plan's files as the core's delete writer takes them."""
    return pa.table({name: plan.files.column(name) for name in ("file_path", "spec_id", "partition")})


def rewritten_files(plan: ScanPlan, schema: str, without: Positions) -> tuple[pa.Array, pa.RecordBatchReader]:
    """Return the paths of the files that hold any of the positions, and the stream of their other live rows.

    Args:
        plan: Whole files.
        schema: Schema JSON of the wanted columns.
        without: Positions to leave out.
    """
    runs = without.runs()
    keep = pa.array([row in runs for row in range(plan.files.num_rows)], pa.bool_())
    touched = with_files(plan, keep)
    return touched.files.column("file_path"), kept_rows(touched, schema, without.renumbered(keep))


def paths_of(plan: ScanPlan, positions: Positions) -> pa.Array:
    """Return the paths of the files that hold any of the positions."""
    return plan.files.column("file_path").take(pa.array(sorted(positions.runs()), pa.int64()))
