"""The join of a merge: pairs of target rows and source rows that match, and the changes that the clauses make.

The core joins hashes of keys and returns positions. Other columns of the target are read afterwards, by position, and only for
rows whose conditions and clauses read them. Without a key to hash, blocks of pairs are compared.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysFalse, AlwaysTrue, And
from icefloe.io.arrow_values import row_numbers
from icefloe.io.pyarrow import schema_to_pyarrow
from icefloe.table.read_context import schema_json
from icefloe.table.row_level.arrow_clauses import BoundClause, bind_clauses
from icefloe.table.row_level.bound_join import bind_join
from icefloe.table.row_level.clause_expressions import SOURCE, TARGET, JoinedColumns
from icefloe.table.row_level.clause_run import ClauseRun, check_cardinality
from icefloe.table.row_level.clause_sql import kinds
from icefloe.table.row_level.clauses import Match
from icefloe.table.row_level.filtered_rows import FilteredRows
from icefloe.table.row_level.fitted_columns import decoded, fitted
from icefloe.table.row_level.join_keys import resolved_keys
from icefloe.table.row_level.join_pairs import JoinPairs, columns_of, joined_blocks, restricted
from icefloe.table.row_level.joined_rows import SOURCE_ROW, JoinedRows, first_of_position
from icefloe.table.row_level.key_ranges import key_ranges, storage_of
from icefloe.table.row_level.nested_types import converts_nested
from icefloe.table.row_level.row_changes import RowChanges
from icefloe.table.row_level.source_rows import source_table
from icefloe.table.scan.metadata_columns import with_metadata_columns
from icefloe.table.write.arrow_input import to_reader
from icefloe.table.write.rows import FILE, POS
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.table.row_level.clauses import Clause, Clauses
    from icefloe.table.row_level.join_condition import JoinCondition
    from icefloe.table.row_level.target import Target


class MergeJoin:
    """The join of one merge.

    Args:
        target: The table.
        source: Rows of the source, anything that exports Arrow; read once.
        on: The condition under which rows match.
        needs_all: Read target rows that cannot match as well.
        memory_limit: Most bytes of a source stream, and of the hashes of keys, to hold in memory.

    Raises:
        ResolveError: A column is missing on either side.
        SchemaMismatchError: A source column does not fit the target's type.
        ValidationError: The condition is not understood.
    """

    def __init__(
        self, target: Target, source: object, on: JoinCondition, *, needs_all: bool, memory_limit: int
    ) -> None:
        self._target = target
        self._needs_all = needs_all
        self._memory_limit = memory_limit
        self.schema = storage_schema(schema_to_pyarrow(target.metadata.schema()))
        stream = source if isinstance(source, pa.Table) else to_reader(source)
        names = [SOURCE + name for name in stream.schema.names] + [TARGET + name for name in self.schema.names]
        keys, terms = on.terms(names)
        self._keys_by_name = resolved_keys(keys, stream.schema, self.schema)
        self._source = source_table(stream, self._cast, memory_limit)
        label = "merge, on" if on.text is None else f"merge, on {on.text!r}"
        self._on = bind_join(
            self._keys_by_name,
            (*terms, *on.expressions),
            self._columns(source=True, target=True),
            self.schema,
            label,
        )
        self.row_filter = target.filter(AlwaysTrue() if needs_all else self._matching())
        self.plan = target.plan(self.row_filter)

    def changes(self, clauses: Clauses) -> RowChanges:
        """Return the changes that the clauses make.

        Raises:
            ValidationError: Several source rows change one target row, or a clause is refused; see `bind_clauses`.
        """
        # Bind every clause before any row of the table is read: errors come early.
        of_pairs = self._bound(clauses.of(Match.MATCHED), source=True, target=True)
        of_source_rows = self._bound(clauses.of(Match.NOT_MATCHED), source=True, target=False)
        of_unmatched_target = self._bound(clauses.of(Match.NOT_MATCHED_BY_SOURCE), source=False, target=True)
        if of_source_rows and self._selected is not None:
            for values in self._on.fallible:
                values.evaluate(self._source_side())
        found = self._joined
        pairs = found.pairs.filter(first_of_position(found.pairs)) if clauses.delete_all_matched else found.pairs
        matched = self._run(of_pairs, pairs)
        only_keys = not self._on.of_pairs and len(self._keys_by_name) == len(self._on.keys)
        check_cardinality(matched, self._rows(pairs), list(self._on.source_columns), only_keys=only_keys)
        others = self._run(of_unmatched_target, found.of_target, with_source=False)
        return RowChanges(self.schema, (matched, others, self._run(of_source_rows, found.of_source)))

    def require_unique(self, message: str) -> None:
        """Raise ValidationError when several source rows have the same keys; nulls count as equal.

        Args:
            message: The message, with `{key}` for the keys of such a row.
        """
        repeated = self._keys.repeated()
        if repeated is not None:
            names = [key.source for key in self._keys_by_name]
            key = self._source.select(names).slice(repeated[0], 1).to_pylist()[0]
            raise ValidationError(message.replace("{key}", str(key)))

    # ---- the source

    @cached_property
    def _selected(self) -> pa.Array | None:
        """The numbers of the source rows that meet the condition on the source alone; None for all rows."""
        if self._on.of_source is None:
            return None
        meets = self._on.of_source.evaluate(self._source_side()).combine_chunks()
        return pc.indices_nonzero(meets).cast(pa.uint32())

    def _source_side(self) -> pa.Table:
        """Return all rows of the source with the columns of a join."""
        return self._source.rename_columns([SOURCE + name for name in self._source.column_names])

    @cached_property
    def _source_keys(self) -> pa.Table:
        """The keys of the source rows that may match, by the names of the target's columns."""
        columns = {}
        for key in self._on.keys:
            rows = self._source_side()
            if key.values.columns is not None:
                rows = rows.select(sorted(key.values.columns))
            if self._selected is not None:
                rows = rows.take(self._selected)
            columns[key.target] = fitted(storage_of(key.values.evaluate(rows)), self.schema.field(key.target))
        return pa.table(columns)

    def _matching(self) -> BooleanExpression:
        """Return a filter that is true for every target row that is in a pair."""
        if self._source.num_rows == 0 or (self._selected is not None and len(self._selected) == 0):
            return AlwaysFalse()
        if not self._on.keys:
            return self._on.of_target
        names = [key.target for key in self._on.keys]
        return And(
            key_ranges(self._source_keys, names, [key.target for key in self._on.keys if key.null_safe]),
            self._on.of_target,
        )

    # ---- the join

    @cached_property
    def _keys(self) -> _core.SourceKeys:
        keys = _core.SourceKeys([key.null_safe for key in self._on.keys], budget=self._memory_limit)
        for batch in self._source_keys.to_batches():
            keys.add(batch)
        return keys

    @cached_property
    def _joined(self) -> JoinPairs:
        if not self._on.keys:
            return self._joined_by_blocks()
        found = self._joined_by_keys()
        if not self._on.of_pairs:
            return found
        return restricted(found, self._on, self._rows(found.pairs))

    def _joined_by_keys(self) -> JoinPairs:
        schema = self._target.metadata.schema().select(*[key.target for key in self._on.keys])
        fields = {field.name: field for field in schema.fields}
        ordered = type(schema)(*[fields[key.target] for key in self._on.keys])
        located = replace(self.plan, projection=with_metadata_columns(schema_json(ordered), [FILE, POS]))
        paths = self.plan.files.column("file_path").to_pylist()
        batches = self._keys.join(located.stream(string_views=True), paths, unmatched=self._needs_all)
        pairs, of_target = (pa.Table.from_batches([batch]) for batch in batches[:2])
        found = JoinPairs(pairs, of_target, pa.table({SOURCE_ROW: batches[2]}))
        return found if self._selected is None else found.renumbered(self._selected, self._source.num_rows)

    def _joined_by_blocks(self) -> JoinPairs:
        read = columns_of(self._on.of_pairs)
        source = self._source_side()
        if read is not None:
            source = source.select(sorted(read.intersection(source.column_names)))
        numbers = row_numbers(self._source.num_rows).cast(pa.uint32())
        source = source.append_column(SOURCE_ROW, numbers)
        if self._selected is not None:
            source = source.take(self._selected)
        rows = FilteredRows(self.plan, self._target.metadata.schema())
        target = (pa.table({**_columns(positions), **_columns(part)}) for positions, part in rows.chunks(read))
        found = joined_blocks(target, source, self._on, unmatched=self._needs_all)
        return found if self._selected is None else found.completed(self._source.num_rows)

    def _cast(self, source: pa.Table) -> pa.Table:
        """Return the source with columns of the target's SQL types in its Arrow types; other columns keep their types.

        Spark compares and computes with the types of the source as well: a bigint beside an int does not overflow.
        """
        columns = []
        for name, encoded in zip(source.column_names, source.columns, strict=True):
            column = decoded(encoded)
            index = self.schema.get_field_index(name)
            field = None if index < 0 else self.schema.field(index)
            is_same = field is not None and kinds.canonical(column.type) == kinds.canonical(field.type)
            fits = field is not None and (is_same or converts_nested(column.type, field.type))
            columns.append(fitted(column, field) if fits else column)
        return pa.table(columns, names=source.column_names)

    # ---- the clauses

    def _bound(self, clauses: list[Clause], *, source: bool, target: bool) -> list[BoundClause]:
        return bind_clauses(clauses, self._columns(source=source, target=target), self.schema)

    def _columns(self, *, source: bool, target: bool) -> JoinedColumns:
        schema = self._target.metadata.schema()
        return JoinedColumns(self._source.schema if source else None, schema if target else None, schema)

    def _run(self, clauses: list[BoundClause], rows: pa.Table, *, with_source: bool = True) -> ClauseRun:
        return ClauseRun(clauses, self._rows(rows, with_source=with_source), self.schema)

    def _rows(self, rows: pa.Table, *, with_source: bool = True) -> JoinedRows:
        return JoinedRows(self.plan, self._target.metadata.schema(), self._source if with_source else None, rows)


def _columns(rows: pa.Table) -> dict[str, pa.ChunkedArray]:
    return {name: rows.column(name) for name in rows.column_names}
