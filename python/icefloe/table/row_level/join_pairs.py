"""The pairs of a join that meet conditions beside equal keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ValidationError
from icefloe.io.arrow_values import int_scalar, row_numbers
from icefloe.table.row_level.candidate_pairs import candidate_pairs
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.joined_rows import SOURCE_ROW, first_of_position
from icefloe.table.write.rows import POSITIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from icefloe.table.row_level.bound_join import BoundJoin
    from icefloe.table.row_level.clause_expressions import RowFunction
    from icefloe.table.row_level.joined_rows import JoinedRows

PAIRS = pa.schema([*POSITIONS, (SOURCE_ROW, pa.uint32())])


@dataclass(frozen=True)
class JoinPairs:
    """The result of a join, by position and number.

    Attributes:
        pairs: Columns `__file_row`, `_pos` and `__source_row` of the rows that match, sorted by all three.
        of_target: Columns `__file_row` and `_pos` of the table's rows without a source row, sorted; empty unless requested.
        of_source: Column `__source_row` of the source's rows without a row of the table, ascending.
    """

    pairs: pa.Table
    of_target: pa.Table
    of_source: pa.Table

    def renumbered(self, selected: pa.Array, count: int) -> JoinPairs:
        """Return the join of a source of which only some rows were joined.

        Args:
            selected: Numbers of the joined rows, in their order.
            count: Number of all rows; the others have no row of the table.
        """
        index = self.pairs.schema.get_field_index(SOURCE_ROW)
        numbers = pa.chunked_array([selected]).take(self.pairs.column(SOURCE_ROW))
        return replace(self, pairs=self.pairs.set_column(index, PAIRS.field(SOURCE_ROW), numbers)).completed(count)

    def completed(self, count: int) -> JoinPairs:
        """Return the join with all of `count` source rows that are in no pair."""
        numbers = row_numbers(count).cast(pa.uint32())
        paired = pc.is_in(numbers, value_set=pc.unique(self.pairs.column(SOURCE_ROW)))
        return replace(self, of_source=pa.table({SOURCE_ROW: numbers.filter(pc.invert(paired))}))


def columns_of(conditions: Sequence[RowFunction]) -> frozenset[str] | None:
    """Return the columns that conditions read; None if they may read any."""
    if any(condition.columns is None for condition in conditions):
        return None
    return frozenset().union(*(condition.columns or () for condition in conditions))


def restricted(found: JoinPairs, on: BoundJoin, joined: JoinedRows) -> JoinPairs:
    """Return a join without the pairs that do not meet all conditions on pairs.

    Args:
        found: The join; its rows without a match are completed.
        on: The conditions.
        joined: The pairs with their columns.

    Raises:
        ValidationError: A condition fails for a pair, or is not boolean.
    """
    if found.pairs.num_rows == 0:
        return found
    meets = pa.concat_arrays([_all_true(on, rows) for _, rows in joined.chunks(columns_of(on.of_pairs))])
    pairs = found.pairs.filter(meets)
    lost = pc.unique(found.pairs.column(SOURCE_ROW).filter(pc.invert(meets)))
    lost = lost.filter(pc.invert(pc.is_in(lost, value_set=pc.unique(pairs.column(SOURCE_ROW)))))
    of_source = pa.concat_arrays([*found.of_source.column(SOURCE_ROW).chunks, lost])
    of_target = pa.concat_tables([found.of_target.cast(POSITIONS), _without_pair(found.pairs, meets)])
    return JoinPairs(pairs, _sorted(of_target), _sorted(pa.table({SOURCE_ROW: of_source})))


def joined_blocks(target: Iterable[pa.Table], source: pa.Table, on: BoundJoin, *, unmatched: bool) -> JoinPairs:
    """Join a table with a source without keys, a bounded number of pairs at a time.

    Rows with equal values of the condition's block key are compared; without one, every row is compared with every row.

    Args:
        target: Parts of the table's rows: `__file_row`, `_pos` and columns `target.<name>`.
        source: The source's rows: `__source_row` and columns `source.<name>`.
        on: The conditions.
        unmatched: Return the table's rows without a source row.

    Returns:
        The pairs; `of_source` has rows of `source` alone.

    Raises:
        ValidationError: A condition fails for a pair, or is not boolean.
    """
    source = source.combine_chunks()
    candidates = candidate_pairs(source, on.block_key)
    pairs, others = [PAIRS.empty_table()], [POSITIONS.empty_table()]
    for part in (part for rows in target for part in _slices(rows, candidates.part_rows)):
        matched = [pa.array([], pa.int64())]
        for left, right in candidates.pairs(part):
            meets = pc.indices_nonzero(_all_true(on, _pairs_of(part, left, source, right, columns_of(on.of_pairs))))
            positions = part.select(POSITIONS.names).take(left.take(meets))
            numbers = source.column(SOURCE_ROW).take(right.take(meets))
            pairs.append(positions.append_column(SOURCE_ROW, numbers).cast(PAIRS))
            matched.append(left.take(meets))
        if unmatched:
            found = pc.is_in(row_numbers(part.num_rows), value_set=pa.concat_arrays(matched))
            others.append(part.select(POSITIONS.names).filter(pc.invert(found)).cast(POSITIONS))
    found_pairs, numbers = pa.concat_tables(pairs), source.column(SOURCE_ROW)
    of_source = numbers.filter(pc.invert(pc.is_in(numbers, value_set=pc.unique(found_pairs.column(SOURCE_ROW)))))
    return JoinPairs(_sorted(found_pairs), _sorted(pa.concat_tables(others)), pa.table({SOURCE_ROW: of_source}))


def _pairs_of(
    part: pa.Table, left: pa.Array, source: pa.Table, right: pa.Array, read: frozenset[str] | None
) -> pa.Table:
    """Return the columns of pairs of rows, by their indices on both sides."""
    columns = {"__row": left}
    for rows, indices in ((part, left), (source, right)):
        names = [name for name in rows.column_names if read is None or name in read]
        taken = rows.select(names).take(indices)
        columns |= {name: taken.column(name) for name in names}
    return pa.table(columns)


def _all_true(on: BoundJoin, rows: pa.Table) -> pa.Array:
    """Return the pairs for which all conditions are true; a condition is evaluated where the conditions before it are true."""
    true = pa.repeat(pa.scalar(value=True), rows.num_rows)
    for number, condition in enumerate(on.of_pairs):
        # A condition that reads no column still needs the number of rows.
        names = rows.column_names if condition.columns is None else ["__row", *sorted(condition.columns)]
        selected = rows.select(names)
        found = condition.evaluate(selected if number == 0 else selected.filter(true))
        if not pa.types.is_boolean(found.type):
            raise ValidationError(
                f"{on.label}: expected a boolean, got {kinds.name_of(found.type)}; compare it with a value"
            )
        true = pc.replace_with_mask(true, true, pc.fill_null(found, False).combine_chunks())
    return true


def _without_pair(pairs: pa.Table, meets: pa.Array) -> pa.Table:
    """Return the positions of pairs, sorted by position, of which no pair meets the conditions."""
    first = first_of_position(pairs)
    ordinals = pc.subtract(pc.cumulative_sum(first.cast(pa.int64())), int_scalar(1, pa.int64()))
    positions = pairs.select(POSITIONS.names).filter(first)
    found = pc.is_in(row_numbers(positions.num_rows), value_set=pc.unique(ordinals.filter(meets)))
    return positions.filter(pc.invert(found)).cast(POSITIONS)


def _slices(rows: pa.Table, size: int) -> Iterator[pa.Table]:
    return (rows.slice(start, size) for start in range(0, rows.num_rows, size))


def _sorted(rows: pa.Table) -> pa.Table:
    return rows.sort_by([(name, "ascending") for name in rows.column_names])
