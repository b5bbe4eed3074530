"""The join of a merge: pairs of target rows and source rows with equal keys, and the changes that the clauses make.

The core joins hashes of keys and returns positions. Other columns of the target are read afterwards, by position, and only for
rows whose clauses read them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe import _core
from icefloe.exceptions import ValidationError
from icefloe.expressions import AlwaysTrue
from icefloe.io.pyarrow import schema_to_pyarrow
from icefloe.table.read_context import schema_json
from icefloe.table.row_level.arrow_clauses import BoundClause, bind_clause, fitted
from icefloe.table.row_level.clause_expressions import JoinedColumns
from icefloe.table.row_level.clause_run import ClauseRun, check_cardinality
from icefloe.table.row_level.clauses import Match
from icefloe.table.row_level.join_keys import JoinKey, resolved_keys
from icefloe.table.row_level.joined_rows import SOURCE_ROW, JoinedRows
from icefloe.table.row_level.key_ranges import key_ranges, storage_of
from icefloe.table.row_level.row_changes import RowChanges
from icefloe.table.row_level.source_rows import source_table
from icefloe.table.scan.metadata_columns import with_metadata_columns
from icefloe.table.write.arrow_input import to_stream
from icefloe.table.write.rows import FILE, POS
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.table.row_level.clauses import Clause, Clauses
    from icefloe.table.row_level.target import Target


class MergeJoin:
    """The join of one merge.

    Args:
        target: The table.
        source: Rows of the source, anything that exports Arrow; read once.
        on: Key columns of both sides.
        needs_all: Read target rows outside the source's key ranges as well.
        memory_limit: Most bytes of a source stream, and of the hashes of keys, to hold in memory.

    Raises:
        ResolveError: A key column is missing on either side.
        SchemaMismatchError: A source column does not fit the target's type.
    """

    def __init__(
        self, target: Target, source: object, on: Sequence[JoinKey], *, needs_all: bool, memory_limit: int
    ) -> None:
        self._target = target
        self._needs_all = needs_all
        self._memory_limit = memory_limit
        self.schema = storage_schema(schema_to_pyarrow(target.metadata.schema()))
        stream = source if isinstance(source, pa.Table) else pa.RecordBatchReader.from_stream(to_stream(source))
        self._on = resolved_keys(on, stream.schema, self.schema)
        self._source = source_table(stream, self._cast, memory_limit)
        keys = self._source_keys(self._source)
        safe = [key.target for key in self._on if key.null_safe]
        ranges = AlwaysTrue() if needs_all else key_ranges(keys, keys.column_names, safe)
        self.row_filter = target.filter(ranges)
        self.plan = target.plan(self.row_filter)

    def changes(self, clauses: Clauses) -> RowChanges:
        """Return the changes that the clauses make.

        Raises:
            ValidationError: Several source rows change one target row, or a clause is refused; see `bind_clause`.
        """
        # Bind every clause before any row of the table is read: errors come early.
        of_pairs = self._bound(clauses.of(Match.MATCHED), source=True, target=True)
        of_source_rows = self._bound(clauses.of(Match.NOT_MATCHED), source=True, target=False)
        of_unmatched_target = self._bound(clauses.of(Match.NOT_MATCHED_BY_SOURCE), source=False, target=True)
        pairs, unmatched_target, unmatched_source = self._joined
        matched = self._run(of_pairs, pairs)
        check_cardinality(matched, self._rows(pairs), [key.source for key in self._on])
        others = self._run(of_unmatched_target, unmatched_target, with_source=False)
        return RowChanges(self.schema, (matched, others, self._run(of_source_rows, unmatched_source)))

    def require_unique(self, message: str) -> None:
        """Raise ValidationError when several source rows have the same keys; nulls count as equal.

        Args:
            message: The message, with `{key}` for the keys of such a row.
        """
        repeated = self._keys.repeated()
        if repeated is not None:
            names = [key.source for key in self._on]
            key = self._source.select(names).slice(repeated[0], 1).to_pylist()[0]
            raise ValidationError(message.replace("{key}", str(key)))

    # ---- the join

    @cached_property
    def _keys(self) -> _core.SourceKeys:
        keys = _core.SourceKeys([key.null_safe for key in self._on], budget=self._memory_limit)
        for batch in self._source_keys(self._source).to_batches():
            keys.add(batch)
        return keys

    @cached_property
    def _joined(self) -> tuple[pa.Table, pa.Table, pa.Table]:
        """Pairs of rows with equal keys, the target's rows without a source row, the source's rows without a target row."""
        schema = self._target.metadata.schema().select(*[key.target for key in self._on])
        fields = {field.name: field for field in schema.fields}
        ordered = type(schema)(*[fields[key.target] for key in self._on])
        located = replace(self.plan, projection=with_metadata_columns(schema_json(ordered), [FILE, POS]))
        paths = self.plan.files.column("file_path").to_pylist()
        pairs, others, of_source = self._keys.join(located.stream(string_views=True), paths, unmatched=self._needs_all)
        return (
            pa.Table.from_batches([pairs]),
            pa.Table.from_batches([others]),
            pa.table({SOURCE_ROW: of_source}),
        )

    def _source_keys(self, source: pa.Table) -> pa.Table:
        """Return the key columns in the order of the keys, by the names of the target's columns."""
        return pa.table({key.target: storage_of(source.column(key.source)) for key in self._on})

    def _cast(self, source: pa.Table) -> pa.Table:
        """Return the source with columns that the target has in the target's types; other columns unchanged."""
        targets = {key.source: key.target for key in self._on}
        columns = []
        for name, column in zip(source.column_names, source.columns, strict=True):
            index = self.schema.get_field_index(targets.get(name, name))
            columns.append(_without_views(column) if index < 0 else fitted(column, self.schema.field(index)))
        return pa.table(columns, names=source.column_names)

    # ---- the clauses

    def _bound(self, clauses: list[Clause], *, source: bool, target: bool) -> list[BoundClause]:
        schema = self._target.metadata.schema()
        joined = JoinedColumns(self._source.schema if source else None, schema if target else None, schema)
        return [bind_clause(clause, joined, self.schema) for clause in clauses]

    def _run(self, clauses: list[BoundClause], rows: pa.Table, *, with_source: bool = True) -> ClauseRun:
        return ClauseRun(clauses, self._rows(rows, with_source=with_source), self.schema)

    def _rows(self, rows: pa.Table, *, with_source: bool = True) -> JoinedRows:
        return JoinedRows(self.plan, self._target.metadata.schema(), self._source if with_source else None, rows)


def _without_views(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return views as plain strings or binaries: pyarrow cannot take rows of views."""
    if column.type == pa.string_view():
        return column.cast(pa.string())
    return column.cast(pa.binary()) if column.type == pa.binary_view() else column
