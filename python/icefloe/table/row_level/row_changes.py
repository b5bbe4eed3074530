"""The changes of a merge, an update or a delete: new rows as a stream, and the positions of the rows that go."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.table.write.rows import Positions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.row_level.clause_run import ClauseRun


@dataclass(frozen=True)
class RowChanges:
    """The changes of an operation to the table; counts and positions are complete when all rows have been read.

    Attributes:
        schema: The table's Arrow schema, in storage types.
        runs: The clauses of each kind over their rows.
    """

    schema: pa.Schema
    runs: tuple[ClauseRun, ...]

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows to write: replacements, then inserts."""
        return itertools.chain.from_iterable(run.new_rows() for run in self.runs)

    @cached_property
    def removed(self) -> Positions:
        """Positions of target rows that are deleted or replaced."""
        parts = [run.removed() for run in self.runs]
        rows = pa.concat_tables(parts)
        if sum(part.num_rows > 0 for part in parts) > 1:
            rows = rows.sort_by([(name, "ascending") for name in rows.column_names])
        return Positions(rows)

    @property
    def updated(self) -> int:
        """Number of rows that are replaced."""
        return sum(run.updated for run in self.runs)

    @property
    def deleted(self) -> int:
        """Number of rows that are deleted."""
        return sum(run.deleted for run in self.runs)

    @property
    def inserted(self) -> int:
        """Number of rows that are inserted."""
        return sum(run.inserted for run in self.runs)
