"""The join of a merge: pairs of target rows and source rows with equal keys, and the changes that the clauses make.

Only keys are joined. Other columns of the target are fetched afterwards, by position, and only for rows whose clauses read
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.io.pyarrow import schema_to_pyarrow
from icefloe.table.read_context import schema_json
from icefloe.table.row_level.arrow_clauses import BoundClause, bind_clause, fitted, rows_by_clause
from icefloe.table.row_level.clause_expressions import SOURCE, TARGET, JoinedColumns
from icefloe.table.row_level.clauses import Action, Match
from icefloe.table.row_level.key_ranges import key_ranges, storage_of
from icefloe.table.write.rows import FILE_ROW, POS, Positions, located, rows_at
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from icefloe.table.row_level.clauses import Clause, Clauses
    from icefloe.table.row_level.target import Target

SOURCE_ROW = "__source_row"
TARGET_ROW = "__target_row"


@dataclass(frozen=True)
class MergeChanges:
    """The changes of a merge to the table.

    Attributes:
        removed: Positions of target rows that are deleted or replaced.
        rows: Rows to write: replacements, then inserts.
        updated: Number of rows that are replaced.
        deleted: Number of rows that are deleted.
        inserted: Number of rows that are inserted.
    """

    removed: Positions
    rows: list[pa.Table]
    updated: int
    deleted: int
    inserted: int


class MergeJoin:
    """The join of one merge.

    Args:
        target: The table.
        source: Rows of the source.
        on: Key columns of both sides.
        needs_all: Read target rows outside the source's key ranges as well.

    Raises:
        ResolveError: A key column is missing on either side.
        SchemaMismatchError: A source column does not fit the target's type.
    """

    def __init__(self, target: Target, source: pa.Table, on: tuple[str, ...], *, needs_all: bool) -> None:
        self._target = target
        self._on = on
        self.schema = storage_schema(schema_to_pyarrow(target.metadata.schema()))
        self._source = _cast_source(source, self.schema, on)
        self.row_filter = target.filter(AlwaysTrue() if needs_all else key_ranges(self._source, on))
        self.plan = target.plan(self.row_filter)

    def changes(self, clauses: Clauses) -> MergeChanges:
        """Return the changes that the clauses make.

        Raises:
            ValidationError: Several source rows change one target row, or a clause is refused; see `bind_clause`.
        """
        # Bind every clause before any row of the table is read: errors come early.
        of_pairs = self._bound(clauses.of(Match.MATCHED), source=True, target=True)
        of_source_rows = self._bound(clauses.of(Match.NOT_MATCHED), source=True, target=False)
        of_unmatched_target = self._bound(clauses.of(Match.NOT_MATCHED_BY_SOURCE), source=False, target=True)
        outcomes = [
            self._on_target_rows(of_pairs, self._matches),
            self._on_target_rows(of_unmatched_target, self._unmatched_target),
        ]
        inserts = self._inserts(of_source_rows)
        removed = pa.concat_tables([positions for _, positions, _ in outcomes])
        return MergeChanges(
            removed=Positions(removed.sort_by([(FILE_ROW, "ascending"), (POS, "ascending")])),
            rows=[rows for new_rows, _, _ in outcomes for rows in new_rows] + inserts,
            updated=sum(rows.num_rows for new_rows, _, _ in outcomes for rows in new_rows),
            deleted=sum(deleted for _, _, deleted in outcomes),
            inserted=sum(rows.num_rows for rows in inserts),
        )

    # ---- the join

    @cached_property
    def _keys(self) -> pa.Table:
        """Keys and positions of the target's rows, in the order of positions."""
        schema = self._target.metadata.schema().select(*self._on)
        return located(self.plan, schema_json(schema))

    @cached_property
    def _matches(self) -> pa.Table:
        """Pairs of `__target_row` and `__source_row`, ascending by target row."""
        left = _numbered(_join_keys(self._keys, self._on), TARGET_ROW)
        right = _numbered(_join_keys(self._source, self._on), SOURCE_ROW)
        joined = left.join(right, keys=list(self._on), join_type="inner")
        return joined.select([TARGET_ROW, SOURCE_ROW]).sort_by([(TARGET_ROW, "ascending"), (SOURCE_ROW, "ascending")])

    @property
    def _unmatched_target(self) -> pa.Table:
        rows = _row_numbers(self._keys.num_rows)
        unmatched = rows.filter(pc.invert(pc.is_in(rows, self._matches.column(TARGET_ROW).combine_chunks())))
        return pa.table({TARGET_ROW: unmatched})

    def _check_cardinality(self, changed: pa.Array) -> None:
        """Raise ValidationError when several source rows change one target row."""
        counts = pc.value_counts(changed)
        repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        if len(repeated) > 0:
            key = self._keys.select(list(self._on)).slice(repeated[0].as_py(), 1).to_pylist()[0]
            raise ValidationError(
                f"merge: several source rows change the target row with keys {key}; expected one source row for each target "
                f"row, got several for {len(repeated)} of them: make {', '.join(self._on)} unique in the source, or add a "
                "condition that one of the source rows meets"
            )

    # ---- the clauses

    def _bound(self, clauses: list[Clause], *, source: bool, target: bool) -> list[BoundClause]:
        schema = self._target.metadata.schema()
        joined = JoinedColumns(self._source.schema if source else None, schema if target else None, schema)
        return [bind_clause(clause, joined, self.schema) for clause in clauses]

    def _on_target_rows(self, clauses: list[BoundClause], pairs: pa.Table) -> tuple[list[pa.Table], pa.Table, int]:
        """Return the new rows, the positions of replaced and deleted rows, and the number of deleted rows."""
        if not clauses or pairs.num_rows == 0:
            return [], self._positions(pa.array([], pa.int64())), 0
        rows = self._joined(pairs, with_target=any(clause.reads_target() for clause in clauses))
        new_rows, removed, deleted = [], [], 0
        for clause, indices in zip(clauses, rows_by_clause(clauses, rows), strict=True):
            removed.append(pairs.column(TARGET_ROW).combine_chunks().take(indices))
            if clause.clause.action is Action.DELETE:
                deleted += len(indices)
            elif len(indices) > 0:
                new_rows.append(clause.new_rows(rows.take(indices), self.schema))
        changed = pa.concat_arrays(removed)
        self._check_cardinality(changed)
        return new_rows, self._positions(changed), deleted

    def _inserts(self, clauses: list[BoundClause]) -> list[pa.Table]:
        if not clauses:
            return []
        numbers = _row_numbers(self._source.num_rows)
        unmatched = numbers.filter(pc.invert(pc.is_in(numbers, self._matches.column(SOURCE_ROW).combine_chunks())))
        rows = _prefixed(self._source.take(unmatched), SOURCE)
        parts = zip(clauses, rows_by_clause(clauses, rows), strict=True)
        return [clause.new_rows(rows.take(indices), self.schema) for clause, indices in parts if len(indices) > 0]

    def _joined(self, pairs: pa.Table, *, with_target: bool) -> pa.Table:
        """Return the pairs' columns, prefixed by side; `pairs` ascends by target row."""
        columns: dict[str, pa.ChunkedArray] = {}
        if SOURCE_ROW in pairs.column_names:
            source = _prefixed(self._source.take(pairs.column(SOURCE_ROW)), SOURCE)
            columns |= dict(zip(source.column_names, source.columns, strict=True))
        if with_target:
            target_rows = pairs.column(TARGET_ROW).combine_chunks()
            distinct = pc.unique(target_rows)
            positions = Positions(self._positions(distinct))
            found = _prefixed(rows_at(self.plan, schema_json(self._target.metadata.schema()), positions), TARGET)
            if len(distinct) < len(target_rows):
                found = found.take(pc.index_in(target_rows, distinct))
            columns |= dict(zip(found.column_names, found.columns, strict=True))
        if not columns:
            columns[TARGET_ROW] = pairs.column(TARGET_ROW)
        return pa.table(columns)

    def _positions(self, target_rows: pa.Array) -> pa.Table:
        return self._keys.select([FILE_ROW, POS]).take(target_rows)


def _cast_source(source: pa.Table, schema: pa.Schema, on: tuple[str, ...]) -> pa.Table:
    """Return the source with columns that the target has in the target's types; other columns unchanged."""
    for key in on:
        for side, names in (("source", source.column_names), ("table", schema.names)):
            if key not in names:
                raise ResolveError(f"merge: the {side} has no key column {key!r}; expected one of {', '.join(names)}")
    columns = {}
    for name in source.column_names:
        index = schema.get_field_index(name)
        columns[name] = source.column(name) if index < 0 else fitted(source.column(name), schema.field(index))
    return pa.table(columns)


def _join_keys(table: pa.Table, on: tuple[str, ...]) -> pa.Table:
    """Return key columns with all NaN values alike and -0.0 as 0.0, which Spark's joins treat as equal."""
    columns = {}
    for name in on:
        column = storage_of(table.column(name))
        if pa.types.is_floating(column.type):
            nan = pa.scalar(float("nan"), column.type)
            column = pc.if_else(pc.is_nan(column), nan, pc.add(column, pa.scalar(0.0, column.type)))
        columns[name] = column
    return pa.table(columns)


def _prefixed(table: pa.Table, prefix: str) -> pa.Table:
    return table.rename_columns([prefix + name for name in table.column_names])


def _row_numbers(count: int) -> pa.Array:
    if count == 0:
        return pa.array([], pa.int64())
    return pc.subtract(pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count)), 1)


def _numbered(table: pa.Table, name: str) -> pa.Table:
    return table.append_column(name, _row_numbers(table.num_rows))
