"""The clauses of one kind over joined rows: new rows as a stream, and the positions of rows that they replace or delete."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.table.row_level.arrow_clauses import rows_by_clause
from icefloe.table.row_level.clauses import Action
from icefloe.table.row_level.joined_rows import SOURCE_ROW, first_of_position
from icefloe.table.write.rows import POSITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.row_level.arrow_clauses import BoundClause
    from icefloe.table.row_level.joined_rows import JoinedRows


class ChangedRows(Protocol):
    """Rows that clauses apply to."""

    def chunks(self, columns: frozenset[str] | None) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Yield parts of the rows, and for each the columns `source.<name>` and `target.<name>`; None stands for all columns.

        The parts have the columns `__file_row` and `_pos`, unless their rows are not in the table.
        """


@dataclass
class ClauseRun:
    """Clauses and the rows that they apply to. The counts and positions are complete when all new rows have been read.

    Attributes:
        clauses: The clauses, in order.
        joined: The rows.
        schema: The table's Arrow schema.
        updated: Number of replaced rows.
        deleted: Number of deleted rows.
        inserted: Number of inserted rows.
    """

    clauses: list[BoundClause]
    joined: ChangedRows
    schema: pa.Schema
    updated: int = 0
    deleted: int = 0
    inserted: int = 0
    _removed: list[pa.Table] = field(default_factory=list)

    def new_rows(self) -> Iterator[pa.RecordBatch]:
        """Yield replacements and inserted rows.

        Raises:
            ValidationError: A condition or value fails for a row.
            SchemaMismatchError: A value does not fit its column.
        """
        if not self.clauses:
            return
        for pairs, rows in self.joined.chunks(columns_read(self.clauses)):
            for clause, indices in zip(self.clauses, rows_by_clause(self.clauses, rows), strict=True):
                if len(indices) == 0:
                    continue
                action, everything = clause.clause.action, len(indices) == rows.num_rows
                if action is not Action.INSERT:
                    positions = pairs.select(POSITIONS.names)
                    self._removed.append(positions if everything else positions.take(indices))
                self._count(action, len(indices))
                if action is not Action.DELETE:
                    yield from clause.new_rows(rows if everything else rows.take(indices), self.schema).to_batches()

    def removed(self) -> pa.Table:
        """Return the positions of replaced and deleted rows."""
        return pa.concat_tables([POSITIONS.empty_table(), *(part.cast(POSITIONS) for part in self._removed)])

    def _count(self, action: Action, rows: int) -> None:
        if action is Action.UPDATE:
            self.updated += rows
        elif action is Action.DELETE:
            self.deleted += rows
        else:
            self.inserted += rows


def check_cardinality(run: ClauseRun, joined: JoinedRows, columns: list[str], *, only_keys: bool) -> None:
    """Evaluate the clauses for the target rows that several source rows match.

    Args:
        run: The clauses of matched rows.
        joined: The pairs of rows.
        columns: The source's columns that the join reads, for messages.
        only_keys: The rows are joined by equal columns alone.

    Raises:
        ValidationError: Several source rows change one target row.
    """
    first = first_of_position(joined.rows)
    if not run.clauses or pc.all(first).as_py() is not False:
        return
    follows = pc.invert(first)
    shared = pc.or_(follows, pa.concat_arrays([follows.slice(1), pa.array([False])]))
    several = replace(joined, rows=joined.rows.filter(shared))
    parts = []
    for pairs, rows in several.chunks(columns_read(run.clauses)):
        applied = pa.concat_arrays(rows_by_clause(run.clauses, rows))
        parts.append(pairs.take(applied.take(pc.array_sort_indices(applied))))
    changed = pa.concat_tables(parts)
    again = changed.filter(pc.invert(first_of_position(changed)))
    if again.num_rows > 0:
        raise ValidationError(_message(joined, again.filter(first_of_position(again)), columns, only_keys=only_keys))


def _message(joined: JoinedRows, pairs: pa.Table, columns: list[str], *, only_keys: bool) -> str:
    assert joined.source is not None
    row = pairs.column(SOURCE_ROW).slice(0, 1)
    values = joined.source.select(columns).take(row).to_pylist()[0] if columns else {}
    which = f"the target row with keys {values}" if only_keys else "one target row"
    example = "" if only_keys or not columns else f", such as the row of {values},"
    way_out = f"make {', '.join(columns)} unique in the source" if only_keys else "narrow the condition of the join"
    return (
        f"merge: several source rows{example} change {which}; expected one source row for each target row, got several for "
        f"{pairs.num_rows} of them: {way_out}, or add a condition to the clause that one of the source rows meets"
    )


def columns_read(clauses: list[BoundClause]) -> frozenset[str] | None:
    """Return the columns that clauses read; None if they may read any."""
    functions = [one for clause in clauses for one in (*clause.values, clause.condition) if one is not None]
    if any(function.columns is None for function in functions):
        return None
    return frozenset().union(*(function.columns or () for function in functions))
