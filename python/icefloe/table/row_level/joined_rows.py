"""Rows of a join as Arrow tables: the columns that clauses read, chunk by chunk in the order of positions."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.io.arrow_values import row_numbers
from icefloe.table.read_context import schema_json
from icefloe.table.row_level.clause_expressions import SOURCE, TARGET
from icefloe.table.scan.metadata_columns import FILE_ROW
from icefloe.table.write.rows import POS, Positions, rows_at

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from icefloe.schema import Schema
    from icefloe.table.scan.plan import ScanPlan

SOURCE_ROW = "__source_row"
CHUNK_ROWS = 1 << 17


@dataclass(frozen=True)
class JoinedRows:
    """Rows of a source, of a table, or pairs of both.

    Attributes:
        plan: The plan of the table's files.
        schema: The table's schema.
        source: The source's rows; None without a source.
        rows: The rows, by position: `__file_row` and `_pos` for rows of the table, `__source_row` for rows of the source.
    """

    plan: ScanPlan
    schema: Schema
    source: pa.Table | None
    rows: pa.Table

    def chunks(self, columns: Collection[str] | None) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Yield parts of the rows, each with its columns `source.<name>` and `target.<name>`.

        Args:
            columns: The columns to return; None for all.
        """
        names = None if columns is None else [name[len(TARGET) :] for name in columns if name.startswith(TARGET)]
        if FILE_ROW in self.rows.column_names and (names is None or names):
            parts = self._with_target(names)
        else:
            starts = range(0, self.rows.num_rows, CHUNK_ROWS)
            parts = ((self.rows.slice(start, CHUNK_ROWS), {}) for start in starts)
        for rows, of_target in parts:
            # A clause that reads no column still needs the number of rows.
            yield rows, pa.table({"__row": rows.column(0), **self._of_source(rows, columns), **of_target})

    def _of_source(self, rows: pa.Table, columns: Collection[str] | None) -> dict[str, pa.ChunkedArray]:
        if self.source is None or SOURCE_ROW not in rows.column_names:
            return {}
        names = [name for name in self.source.column_names if columns is None or SOURCE + name in columns]
        found = rows_of(self.source.select(names), rows.column(SOURCE_ROW))
        return {SOURCE + name: found.column(name) for name in names}

    def _with_target(self, names: list[str] | None) -> Iterator[tuple[pa.Table, dict[str, pa.ChunkedArray]]]:
        """Yield rows with their columns of the table, which is read once."""
        schema = self.schema if names is None else self.schema.select(*names)
        first = first_of_position(self.rows)
        distinct = self.rows.select([FILE_ROW, POS])
        repeated = not pc.all(first).as_py()
        if repeated:
            distinct = distinct.filter(first)
        ordinals = pc.subtract(pc.cumulative_sum(first.cast(pa.int64())), 1)
        read = start = 0
        for found in gathered(rows_at(self.plan, schema_json(schema), Positions(distinct))):
            end = bisect_left(ordinals, read + found.num_rows, key=_value) if repeated else read + found.num_rows
            # A row of the table may be in any number of pairs.
            step = CHUNK_ROWS if repeated else max(1, end - start)
            for at in range(start, end, step):
                count = min(step, end - at)
                of_target = found.take(pc.subtract(ordinals.slice(at, count), read)) if repeated else found
                yield self.rows.slice(at, count), {TARGET + name: of_target.column(name) for name in found.column_names}
            read, start = read + found.num_rows, end


def first_of_position(rows: pa.Table) -> pa.Array:
    """Return for each row, sorted by position, whether no row before it has the same position."""
    if rows.num_rows == 0:
        return pa.array([], pa.bool_())
    changes = [pc.not_equal(column.slice(1), column.slice(0, len(column) - 1)) for column in _columns(rows)]
    return pa.concat_arrays([pa.array([True]), pc.or_(*changes)])


def _columns(rows: pa.Table) -> list[pa.Array]:
    return [rows.column(name).combine_chunks() for name in (FILE_ROW, POS)]


def rows_of(source: pa.Table, numbers: pa.ChunkedArray) -> pa.Table:
    """Return the rows with some numbers in their order; consecutive rows share the memory of the source.

    Args:
        source: The rows.
        numbers: Row numbers without nulls.

    Examples:
        >>> rows_of(pa.table({"n": [5, 6, 7]}), pa.chunked_array([[1, 2]])).to_pydict()
        {'n': [6, 7]}
    """
    count = len(numbers)
    if count > 0:
        first, last = numbers[0], numbers[count - 1]
        if _value(last) - _value(first) + 1 == count and _is_consecutive(numbers):
            return source.slice(_value(first), count)
    return source.take(numbers)


def _is_consecutive(numbers: pa.ChunkedArray) -> bool:
    distances = pc.subtract(numbers, numbers[0])
    return bool(pc.all(pc.equal(distances, row_numbers(len(numbers)).cast(numbers.type))).as_py())


def gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield batches in tables of at least `CHUNK_ROWS` rows."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= CHUNK_ROWS:
            yield pa.Table.from_batches(held)
            held, count = [], 0
    if count > 0:
        yield pa.Table.from_batches(held)


def _value(scalar: pa.Scalar) -> int:
    value: int = scalar.as_py()
    return value
