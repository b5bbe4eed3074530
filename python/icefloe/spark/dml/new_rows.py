"""New versions of changed rows among the remaining rows of the files that a task rewrites."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.spark.reader.read_task import exact
from icefloe.spark.types.stored_types import to_stored_types
from icefloe.spark.writer.write_task import SEVERAL_MATCHES
from icefloe.table.scan.metadata_columns import FILE_ROW, with_metadata_columns
from icefloe.table.write.rows import POS, Positions, unfiltered, with_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.scan.plan import ScanPlan

NEW = "__icefloe_new"
"""Column of changed rows: true for rows that have the table's columns, null for rows that are only removed."""


@dataclass(frozen=True)
class NewRows:
    """New versions of rows of some files.

    Args:
        plan: The files, all rows of them.
        schema: Table schema JSON.
        positions: The rows that are changed or removed, in the order of files and positions.
        rows: A row for each position: the table's columns from Spark, and whether they are a new version.
        inserted: Rows to add behind them, with the table's columns.
        arrow: Arrow schema of the table's columns in Spark.
    """

    plan: ScanPlan
    schema: str
    positions: Positions
    rows: pa.Table
    inserted: pa.Table
    arrow: pa.Schema

    def among_remaining(self) -> pa.RecordBatchReader:
        """Return the remaining rows in their order, each batch followed by the new versions of rows before its end.

        So the new version of a row is in the neighbourhood of the old one, where statistics still prune.
        """
        batches = self._batches()
        first = next(batches, pa.RecordBatch.from_pylist([], self.arrow))
        return to_stored_types(first, batches, self.schema)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        new = self.rows.drop_columns([NEW]).cast(self.arrow)
        is_new = pc.is_valid(self.rows.column(NEW).combine_chunks())
        places = self.positions.rows.column(POS).to_numpy()
        runs = self.positions.runs()
        for number in range(self.plan.files.num_rows):
            first, count = runs.get(number, (0, 0))
            at, end = first, first + count
            for batch in self._remaining(number, first, count):
                yield exact(batch, self.arrow)
                last = batch.column(POS)[batch.num_rows - 1].as_py()
                following = at + int(np.searchsorted(places[at:end], last))
                yield from _true_rows(new, is_new, at, following)
                at = following
            yield from _true_rows(new, is_new, at, end)
        yield from self.inserted.cast(self.arrow).to_batches()

    def _remaining(self, number: int, first: int, count: int) -> Iterator[pa.RecordBatch]:
        """Yield the remaining rows of one file, with their positions."""
        only = pa.array(np.arange(self.plan.files.num_rows) == number)
        plan = replace(unfiltered(with_files(self.plan, only)), projection=with_metadata_columns(self.schema, [POS]))
        removed = self.positions.rows.slice(first, count)
        removed = removed.set_column(0, FILE_ROW, pa.array(np.zeros(count, dtype=np.int32)))
        yield from (batch for batch in plan.stream(rows=removed, keep=False) if batch.num_rows > 0)


def check_positions(positions: Positions) -> None:
    """Check that a row is changed once.

    Raises:
        ValidationError: A position occurs twice.
    """
    files, places = (positions.rows.column(name).to_numpy() for name in (FILE_ROW, POS))
    if bool(np.any((files[1:] == files[:-1]) & (places[1:] == places[:-1]))):
        raise ValidationError(SEVERAL_MATCHES)


def _true_rows(rows: pa.Table, is_true: pa.BooleanArray, start: int, end: int) -> Iterator[pa.RecordBatch]:
    found = rows.slice(start, end - start).filter(is_true.slice(start, end - start))
    yield from found.to_batches()
