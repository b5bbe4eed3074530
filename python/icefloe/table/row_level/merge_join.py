"""The join of a merge: which target rows match which source rows, and what the clauses make of them.

Only keys are joined. Other columns of the target are fetched afterwards, by position, and only for the rows whose clauses
look at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.exceptions import ResolveError, ValidationError
from icefloe.expressions import AlwaysFalse, AlwaysTrue, And, GreaterThanOrEqual, LessThanOrEqual
from icefloe.expressions.literals import DateLiteral, LongLiteral, TimeLiteral, TimestampLiteral
from icefloe.io.pyarrow import schema_to_pyarrow
from icefloe.table.read_context import schema_json
from icefloe.table.row_level.clause_expressions import SOURCE, TARGET, JoinedColumns
from icefloe.table.row_level.clauses import Action, BoundClause, Clause, apply_in_order, fitted
from icefloe.table.write.rows import FILE_ROW, POS, Positions, located, rows_at
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.table.row_level.target import Target

SOURCE_ROW = "__source_row"
TARGET_ROW = "__target_row"


@dataclass(frozen=True)
class MergeChanges:
    """What a merge does to the table.

    Attributes:
        gone: Positions of target rows that are deleted or replaced.
        rows: Rows to write: replacements, then inserts.
        updated: How many rows are replaced.
        deleted: How many rows are deleted.
        inserted: How many rows are inserted.
    """

    gone: Positions
    rows: list[pa.Table]
    updated: int
    deleted: int
    inserted: int


class MergeJoin:
    """The join of one merge.

    Args:
        target: The table.
        source: The source's rows.
        on: Key columns, in both.
        needs_all: Whether target rows outside the source's key ranges matter.

    Raises:
        ResolveError: A key is missing on either side.
        SchemaMismatchError: A source column does not fit the target's type.
    """

    def __init__(self, target: Target, source: pa.Table, on: tuple[str, ...], *, needs_all: bool) -> None:
        self._target = target
        self._on = on
        self.schema = storage_schema(schema_to_pyarrow(target.metadata.schema()))
        self._source = _cast_source(source, self.schema, on)
        self.row_filter = target.filter(AlwaysTrue() if needs_all else _key_ranges(self._source, on))
        self.plan = target.plan(self.row_filter)

    def changes(self, matched: list[Clause], not_matched: list[Clause], by_source: list[Clause]) -> MergeChanges:
        """Return what the clauses do.

        Raises:
            ValidationError: Several source rows match one target row, or a clause is refused; see `Clause.bound`.
        """
        # Every clause is checked before any row of the table is read.
        on_matches = self._bound(matched, source=True, target=True)
        on_source_rows = self._bound(not_matched, source=True, target=False)
        on_rest = self._bound(by_source, source=False, target=True)
        outcomes = [
            self._on_target_rows(on_matches, self._matches),
            self._on_target_rows(on_rest, self._unmatched_target),
        ]
        inserts = self._inserts(on_source_rows)
        gone = pa.concat_tables([positions for _, positions, _ in outcomes])
        return MergeChanges(
            gone=Positions(gone.sort_by([(FILE_ROW, "ascending"), (POS, "ascending")])),
            rows=[rows for made, _, _ in outcomes for rows in made] + inserts,
            updated=sum(rows.num_rows for made, _, _ in outcomes for rows in made),
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
        alone = rows.filter(pc.invert(pc.is_in(rows, self._matches.column(TARGET_ROW).combine_chunks())))
        return pa.table({TARGET_ROW: alone})

    def _check_cardinality(self, changed: pa.Array) -> None:
        """Check that no target row is changed twice; ValidationError if one is."""
        counts = pc.value_counts(changed)
        repeated = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
        if len(repeated) > 0:
            key = self._keys.select(list(self._on)).slice(repeated[0].as_py(), 1).to_pylist()[0]
            raise ValidationError(
                f"merge: several source rows match one target row that they change ({len(repeated)} such rows, first {key}); "
                f"make {', '.join(self._on)} unique in the source, or add a condition that one of them meets"
            )

    # ---- the clauses

    def _bound(self, clauses: list[Clause], *, source: bool, target: bool) -> list[BoundClause]:
        schema = self._target.metadata.schema()
        joined = JoinedColumns(self._source.schema if source else None, schema if target else None, schema)
        return [clause.bound(joined, schema, self.schema) for clause in clauses]

    def _on_target_rows(self, clauses: list[BoundClause], pairs: pa.Table) -> tuple[list[pa.Table], pa.Table, int]:
        """Return new rows, positions that are gone, and how many of these are deletions."""
        if not clauses or pairs.num_rows == 0:
            return [], self._positions(pa.array([], pa.int64())), 0
        rows = self._joined(pairs, with_target=any(clause.reads_target() for clause in clauses))
        made, gone, deleted = [], [], 0
        for clause, indices in zip(clauses, apply_in_order(clauses, rows), strict=True):
            gone.append(pairs.column(TARGET_ROW).combine_chunks().take(indices))
            if clause.clause.action is Action.DELETE:
                deleted += len(indices)
            elif len(indices) > 0:
                made.append(clause.new_rows(rows.take(indices), self.schema))
        changed = pa.concat_arrays(gone)
        self._check_cardinality(changed)
        return made, self._positions(changed), deleted

    def _inserts(self, clauses: list[BoundClause]) -> list[pa.Table]:
        if not clauses:
            return []
        numbers = _row_numbers(self._source.num_rows)
        alone = numbers.filter(pc.invert(pc.is_in(numbers, self._matches.column(SOURCE_ROW).combine_chunks())))
        rows = _prefixed(self._source.take(alone), SOURCE)
        parts = zip(clauses, apply_in_order(clauses, rows), strict=True)
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
            at = Positions(self._positions(distinct))
            found = _prefixed(rows_at(self.plan, schema_json(self._target.metadata.schema()), at), TARGET)
            if len(distinct) < len(target_rows):
                found = found.take(pc.index_in(target_rows, distinct))
            columns |= dict(zip(found.column_names, found.columns, strict=True))
        if not columns:
            columns[TARGET_ROW] = pairs.column(TARGET_ROW)
        return pa.table(columns)

    def _positions(self, target_rows: pa.Array) -> pa.Table:
        return self._keys.select([FILE_ROW, POS]).take(target_rows)


def _cast_source(source: pa.Table, schema: pa.Schema, on: tuple[str, ...]) -> pa.Table:
    """Return the source with the columns it shares with the target in the target's types; others as they are."""
    for key in on:
        for side, names in (("source", source.column_names), ("table", schema.names)):
            if key not in names:
                raise ResolveError(f"merge: the {side} has no key column {key!r}; it has {', '.join(names)}")
    columns = {}
    for name in source.column_names:
        index = schema.get_field_index(name)
        columns[name] = source.column(name) if index < 0 else fitted(source.column(name), schema.field(index))
    return pa.table(columns)


def _key_ranges(source: pa.Table, on: tuple[str, ...]) -> BooleanExpression:
    """Return a filter that every target row passes which might match: each key between the source's least and greatest."""
    ranges: BooleanExpression = AlwaysTrue()
    for key in on:
        column = _storage(source.column(key))
        if pa.types.is_nested(column.type) or pa.types.is_boolean(column.type) or _is_bytes(column.type):
            continue
        bounds = pc.min_max(column)
        if not bounds["min"].is_valid:
            return AlwaysFalse()
        if pa.types.is_floating(column.type):
            continue
        least, greatest = _literal(bounds["min"]), _literal(bounds["max"])
        ranges = And(ranges, And(GreaterThanOrEqual(key, least), LessThanOrEqual(key, greatest)))
    return ranges


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _literal(bound: pa.Scalar) -> Any:
    """Return a bound as a literal; moments as numbers, as Python's calendar ends in the year 9999."""
    kind = bound.type
    if pa.types.is_date(kind):
        return DateLiteral(bound.cast(pa.int32()).as_py())
    if pa.types.is_time(kind):
        return TimeLiteral(bound.cast(pa.int64()).as_py())
    if pa.types.is_timestamp(kind):
        count = bound.cast(pa.int64()).as_py()
        return LongLiteral(count) if kind.unit == "ns" else TimestampLiteral(count, kind.tz is not None)
    return bound.as_py()


def _join_keys(table: pa.Table, on: tuple[str, ...]) -> pa.Table:
    """Return key columns in a form whose equality is a join's: all NaN are one, and -0.0 is 0.0, as in Spark."""
    columns = {}
    for name in on:
        column = _storage(table.column(name))
        if pa.types.is_floating(column.type):
            nan = pa.scalar(float("nan"), column.type)
            column = pc.if_else(pc.is_nan(column), nan, pc.add(column, pa.scalar(0.0, column.type)))
        columns[name] = column
    return pa.table(columns)


def _storage(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not isinstance(column.type, pa.BaseExtensionType):
        return column
    return pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)


def _prefixed(table: pa.Table, prefix: str) -> pa.Table:
    return table.rename_columns([prefix + name for name in table.column_names])


def _row_numbers(count: int) -> pa.Array:
    if count == 0:
        return pa.array([], pa.int64())
    return pc.subtract(pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count)), 1)


def _numbered(table: pa.Table, name: str) -> pa.Table:
    return table.append_column(name, _row_numbers(table.num_rows))
