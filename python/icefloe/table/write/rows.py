"""Rows of data files, addressed by file and position: finding, fetching, and leaving out.

Positions count the physical rows of a file. A plan's files keep their order and rows keep theirs within a file, so rows
come back in the order of (file, position).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.table.scan.table_scan import METADATA_COLUMNS
from icefloe.table.scan.task import with_own_deletes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from icefloe.table.scan.plan import ScanPlan

    Masker = Callable[[int, pa.Array], pa.Array]

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


def projection_json(schema: str, *metadata_columns: str) -> str:
    """Return a schema's JSON with metadata columns added at its end."""
    rows = json.loads(schema)
    for name in metadata_columns:
        field_id, kind = METADATA_COLUMNS[name]
        rows["fields"].append({"id": field_id, "name": name, "required": True, "type": kind})
    return json.dumps(rows)


def with_files(plan: ScanPlan, keep: pa.Array) -> ScanPlan:
    """Return a plan of some of its files, `keep` being a mask over them."""
    files, deletes = with_own_deletes(plan.files.filter(keep), plan.deletes)
    return replace(plan, files=files, deletes=deletes, limit=None)


def unfiltered(plan: ScanPlan) -> ScanPlan:
    """Return a plan that reads every live row of its files, its filter forgotten."""
    position = plan.files.schema.get_field_index("residual")
    none = pa.nulls(plan.files.num_rows, pa.string())
    return replace(plan, files=plan.files.set_column(position, plan.files.schema.field(position), none), limit=None)


def located(plan: ScanPlan, schema: str) -> pa.Table:
    """Return the plan's rows that pass its filter: columns of `schema`, then `__file_row` and `_pos`.

    File names are replaced by row numbers of the plan's files, batch by batch: a path per row would dwarf narrow rows.

    Args:
        plan: Whole files; tasks that are parts of files would repeat a path.
        schema: Schema JSON of the wanted columns.
    """
    stream = replace(plan, projection=projection_json(schema, FILE, POS)).stream()
    paths = plan.files.column("file_path")
    batches = []
    for batch in stream:
        file_row = pc.index_in(batch.column(FILE).cast(pa.string()), paths)
        columns = {name: batch.column(name) for name in batch.schema.names if name not in (FILE, POS)}
        batches.append(pa.record_batch({**columns, FILE_ROW: file_row, POS: batch.column(POS)}))
    if batches:
        return pa.Table.from_batches(batches)
    names = [field for field in stream.schema if field.name not in (FILE, POS)]
    return pa.schema([*names, (FILE_ROW, pa.int32()), (POS, pa.int64())]).empty_table()


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
    runs = without.runs()

    def mask(file_row: int, positions: pa.Array) -> pa.Array:
        return pc.invert(pc.is_in(positions, without.of_file(file_row, runs)))

    return _masked(plan, schema, mask)


def rows_at(plan: ScanPlan, schema: str, at: Positions) -> pa.Table:
    """Return the rows at some positions, in their order; every position must be live."""
    runs = at.runs()
    keep = pa.array([row in runs for row in range(plan.files.num_rows)], pa.bool_())
    own = at.renumbered(keep)
    own_runs = own.runs()

    def mask(file_row: int, positions: pa.Array) -> pa.Array:
        return pc.is_in(positions, own.of_file(file_row, own_runs))

    return _masked(with_files(plan, keep), schema, mask).read_all()


def _masked(plan: ScanPlan, schema: str, mask: Masker) -> pa.RecordBatchReader:
    """Read file by file, so that each file's positions are looked up once per batch and no batch spans files."""
    whole = replace(unfiltered(plan), projection=projection_json(schema, POS))
    row_schema = pa.schema([field for field in whole.stream().schema if field.name != POS])

    def batches() -> Iterator[pa.RecordBatch]:
        for file_row in range(whole.files.num_rows):
            files, deletes = with_own_deletes(whole.files.slice(file_row, 1), whole.deletes)
            for batch in replace(whole, files=files, deletes=deletes).stream():
                kept = batch.filter(mask(file_row, batch.column(POS)))
                yield pa.RecordBatch.from_arrays([kept.column(name) for name in row_schema.names], schema=row_schema)

    return pa.RecordBatchReader.from_batches(row_schema, batches())


def position_stream(plan: ScanPlan, positions: Positions) -> pa.Table:
    """Return positions as the core's delete writer takes them: `file_path` and `pos`."""
    paths = plan.files.column("file_path").take(positions.rows.column(FILE_ROW).combine_chunks())
    return pa.table({"file_path": paths, "pos": positions.rows.column(POS)})


def targets(plan: ScanPlan) -> pa.Table:
    """Return the plan's files as the core's delete writer takes them."""
    return pa.table({name: plan.files.column(name) for name in ("file_path", "spec_id", "partition")})
