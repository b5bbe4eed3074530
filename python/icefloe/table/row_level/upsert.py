"""Upsert: update the rows whose keys exist, insert the others, in one snapshot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from icefloe.arguments import checked_flag, checked_names
from icefloe.exceptions import ResolveError, SchemaMismatchError, ValidationError
from icefloe.table.row_level.clause_expressions import MAX_BATCH_ROWS, SOURCE, TARGET, RowFunction
from icefloe.table.row_level.fitted_columns import fitted
from icefloe.table.row_level.join_keys import JoinKey
from icefloe.table.row_level.memory_limit import MEMORY_LIMIT
from icefloe.table.row_level.merge import Merge
from icefloe.table.row_level.row_difference import rows_differ
from icefloe.table.write.arrow_input import to_reader, to_table, without_nameless_index

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.schema import Schema
    from icefloe.table.row_level.target import Target


@dataclass(frozen=True)
class UpsertResult:
    """The rows that an upsert changed.

    Attributes:
        rows_updated: Number of rows whose key existed and whose values differed.
        rows_inserted: Number of rows whose key did not exist.
    """

    rows_updated: int = 0
    rows_inserted: int = 0


def upsert_rows(  # noqa: PLR0913  the choices that an upsert has
    target: Target,
    data: object,
    join_cols: Sequence[str] | None,
    *,
    update: bool,
    insert: bool,
    case_sensitive: bool = True,
    memory_limit: int = MEMORY_LIMIT,
) -> UpsertResult:
    """Upsert rows by key; rows that equal the table's row are not rewritten (see `row_difference`).

    Args:
        target: The table.
        data: The rows, with all columns of the table.
        join_cols: Key columns; the schema's identifier fields when None.
        update: Update rows whose key exists.
        insert: Insert rows whose key does not exist.
        case_sensitive: Match the names of keys and of the data's columns exactly; False ignores case.
        memory_limit: Most bytes of a stream of rows, and of the hashes of keys, to hold in memory.

    Raises:
        ResolveError: The data lacks a column of the table.
        SchemaMismatchError: The data has a column that the table lacks, or two of one name, or a value does not fit its column.
        ValidationError: There are no key columns, several rows have the same key, a name is ambiguous, or both `update` and
            `insert` are False.
    """
    checked_flag("when_matched_update_all", update)
    checked_flag("when_not_matched_insert_all", insert)
    checked_flag("case_sensitive", case_sensitive)
    schema = target.metadata.schema()
    keys = _keys(schema, join_cols, case_sensitive=case_sensitive)
    _check_keys(schema, keys)
    if not (update or insert):
        raise ValidationError(
            "upsert: nothing to do; expected when_matched_update_all or when_not_matched_insert_all to be True, got False "
            "for both"
        )
    rows = _rows(schema, data, case_sensitive=case_sensitive)
    missing = [key for key in keys if key not in rows.schema.names]
    if missing:
        raise ValidationError(
            f"upsert: the data has no key column {missing[0]!r}; expected one of {', '.join(rows.schema.names)}"
        )
    lacking = [field.name for field in schema.fields if field.name not in rows.schema.names]
    if lacking:
        raise ResolveError(
            f"upsert: the data has no column {lacking[0]!r}; expected every column of the table, got "
            f"{', '.join(rows.schema.names)}: add it, or use merge() to set some columns"
        )
    _check_only_columns_of(schema, rows.schema.names)
    repeated = f"upsert: several rows have the key {{key}}; expected one row for each key: make {', '.join(keys)} unique in the data"
    # The rows are the table's: their keys are compared as they would be stored.
    on = [JoinKey(key, key, cast=True) for key in keys]
    merge = Merge(target, rows, on, memory_limit=memory_limit, unique=repeated)
    if update:
        others = [field.name for field in schema.fields if field.name not in keys]
        merge.when_matched_update(condition=_differs([name for name in others if name in rows.schema.names]))
    if insert:
        merge.when_not_matched_insert()
    result = merge.execute()
    return UpsertResult(result.rows_updated, result.rows_inserted)


def _keys(schema: Schema, join_cols: Sequence[str] | None, *, case_sensitive: bool) -> list[str]:
    if join_cols is not None:
        given = checked_names("join_cols", join_cols)
        if not given:
            raise ValidationError(f"upsert: no key columns; expected join_cols=['id', ...], got {join_cols!r}")
        return list(given) if case_sensitive else _in_table_case(schema, given)
    keys = [schema.find_column_name(field_id) for field_id in schema.identifier_field_ids]
    names = [key for key in keys if key is not None]
    if not names:
        raise ValidationError(
            "upsert: no key columns; expected join_cols=['id', ...] or identifier fields in the schema, got neither"
        )
    return names


def _check_keys(schema: Schema, keys: Sequence[str]) -> None:
    """Raise ValidationError for a key column that is named twice, or that is a field within a struct."""
    repeated = next((key for key, count in Counter(keys).items() if count > 1), None)
    if repeated is not None:
        raise ValidationError(f"upsert: expected each key column once, got {repeated!r} several times in join_cols")
    columns = [field.name for field in schema.fields]
    nested = next((key for key in keys if key not in columns and key in schema.column_names), None)
    if nested is not None:
        raise ValidationError(
            f"upsert: the key {nested!r} is a field within a column; expected join_cols with columns of the table "
            f"({', '.join(columns)}): pass them, or use merge() with on='target.{nested} = source.{nested}'"
        )


def _in_table_case(schema: Schema, names: Sequence[str]) -> list[str]:
    """Return names in the table's spelling, ignoring case; names of no column unchanged."""
    spelled: dict[str, list[str]] = {}
    for field in schema.fields:
        spelled.setdefault(field.name.lower(), []).append(field.name)
    for name in names:
        if len(known := spelled.get(name.lower(), [])) > 1:
            raise ValidationError(
                f"upsert: {name!r} is ambiguous when case is ignored; expected one column, got {', '.join(known)}: pass "
                "case_sensitive=True"
            )
    return [spelled.get(name.lower(), [name])[0] for name in names]


def _renamed(schema: Schema, rows: pa.Table) -> pa.Table:
    """Return rows with column names in the table's spelling."""
    names = _in_table_case(schema, rows.column_names)
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ValidationError(
            f"upsert: the data has several columns {', '.join(repeated)} when case is ignored; expected one of each: rename "
            "them, or pass case_sensitive=True"
        )
    return rows.rename_columns(names)


def _rows(schema: Schema, data: object, *, case_sensitive: bool) -> pa.Table | pa.RecordBatchReader:
    """Return the data as a table, or as a reader that is not read yet, without the index of a pandas frame that has no name."""
    stream = data if isinstance(data, pa.Table) else to_reader(data)
    rows = without_nameless_index(stream, [field.name for field in schema.fields])
    assert isinstance(rows, pa.Table | pa.RecordBatchReader)
    return rows if case_sensitive else _renamed(schema, to_table(rows))


def _check_only_columns_of(schema: Schema, names: Sequence[str]) -> None:
    """Raise SchemaMismatchError for a column that an append refuses: the table does not have it, or the data has it twice."""
    own = dict.fromkeys(field.name for field in schema.fields)
    counts = Counter(names)
    other = next((name for name in counts if name not in own), None)
    if other is not None:
        raise SchemaMismatchError(
            f"column {other}: the data does not fit; expected only columns of the table ({', '.join(own)}), got a column that the "
            "table does not have"
        )
    repeated = next((name for name, count in counts.items() if count > 1), None)
    if repeated is not None:
        raise SchemaMismatchError(
            f"column {repeated}: the data does not fit; expected one column, got two columns of this name"
        )


def _differs(names: list[str]) -> RowFunction:
    """Return the condition that source and target differ in at least one of these columns."""
    source, target = [SOURCE + name for name in names], [TARGET + name for name in names]

    def evaluate(rows: pa.Table) -> pa.ChunkedArray:
        parts = []
        for batch in rows.select([*source, *target]).to_batches(MAX_BATCH_ROWS):
            right = [batch.column(name) for name in target]
            left = [
                fitted(pa.chunked_array([batch.column(name)]), pa.field(other, column.type), "upsert").combine_chunks()
                for name, other, column in zip(source, names, right, strict=True)
            ]
            parts.append(rows_differ(left, right) if names else pa.repeat(pa.scalar(value=False), batch.num_rows))
        return pa.chunked_array(parts, pa.bool_())

    return RowFunction(evaluate, frozenset([*source, *target]))
