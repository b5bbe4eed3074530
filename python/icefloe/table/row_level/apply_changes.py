"""Change data capture: a batch of changes by key becomes equality deletes and new rows in one snapshot, once per batch id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.arguments import checked_names, checked_text
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.io.arrow_values import int_scalar, row_numbers, text_array
from icefloe.io.pyarrow import schema_to_pyarrow
from icefloe.table.commit.snapshot_producer import check_delete_files
from icefloe.table.row_level.batch_delta import BATCH_ID, BatchAppliedError, BatchDelta, has_batch
from icefloe.table.row_level.fitted_columns import decoded, fitted, without_dictionary
from icefloe.table.row_level.unfolded_files import with_unfolded_files
from icefloe.table.write.arrow_input import to_table
from icefloe.transforms import VoidTransform
from icefloe.types.arrow import storage_schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from icefloe.partitioning import PartitionField, PartitionSpec
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.row_level.target import Target

UPSERTS = ("I", "U", "INSERT", "UPDATE")
DELETES = ("D", "DELETE")


@dataclass(frozen=True)
class ApplyChangesResult:
    """The outcome of a batch of changes.

    Attributes:
        applied: False if the table has the changes of this batch id already; nothing was changed then.
        rows_upserted: Number of keys whose last change is an insert or an update.
        rows_deleted: Number of keys whose last change is a delete, whether the table had their rows or not.
    """

    applied: bool
    rows_upserted: int = 0
    rows_deleted: int = 0


def apply_change_rows(  # noqa: PLR0913 - what a batch of changes has
    target: Target,
    changes: object,
    keys: Sequence[str],
    op_column: str,
    sequence_column: str | None,
    *,
    batch_id: str | None,
) -> ApplyChangesResult:
    """Apply the last change of each key; see `TableChanges.apply_changes`."""
    metadata = target.metadata
    check_delete_files(metadata)
    keys = checked_names("apply_changes: keys", keys)
    if batch_id is not None and has_batch(metadata, target.branch, checked_text("batch_id", batch_id)):
        return ApplyChangesResult(applied=False)
    last = _last_changes(_checked_rows(metadata, changes, keys, op_column, sequence_column), keys, sequence_column)
    upserts = _upserts(metadata, last, op_column, sequence_column)
    properties = (
        target.snapshot_properties if batch_id is None else {**(target.snapshot_properties or {}), BATCH_ID: batch_id}
    )
    change = BatchDelta(target.transaction, target.branch, properties)
    change.batch_id = batch_id
    try:
        with target:
            _commit_files(target, change, upserts, last.select(list(keys)))
    except BatchAppliedError:
        return ApplyChangesResult(applied=False)
    return ApplyChangesResult(True, upserts.num_rows, last.num_rows - upserts.num_rows)


def _checked_rows(
    metadata: TableMetadata, changes: object, keys: Sequence[str], op_column: str, sequence_column: str | None
) -> pa.Table:
    """Return the changes as rows whose keys have the table's types; raise for rows that no batch can have."""
    rows = to_table(changes)
    columns = (decoded(column) for column in rows.columns)
    named = zip(rows.column_names, columns, strict=True)
    # Arrow sorts no dictionaries, and counts no null among their values.
    plain = [without_dictionary(column) if name == sequence_column else column for name, column in named]
    rows = pa.table(plain, names=rows.column_names)
    _check_columns(metadata, rows, keys, op_column, sequence_column)
    rows = _typed(metadata, _with_sorted_decimals(rows, sequence_column), keys, op_column)
    _check_operations(rows.column(op_column), op_column)
    return rows


def _upserts(metadata: TableMetadata, last: pa.Table, op_column: str, sequence_column: str | None) -> pa.Table:
    """Return the rows to write: the last changes that are no deletes, without columns that only describe a change."""
    names = [field.name for field in metadata.schema().fields]
    deleted = pc.is_in(pc.utf8_upper(last.column(op_column)), value_set=text_array(DELETES))
    written = [name for name in last.column_names if name in names or name not in (op_column, sequence_column)]
    return last.filter(pc.invert(deleted)).select(written)


def _commit_files(target: Target, change: BatchDelta, upserts: pa.Table, keys: pa.Table) -> None:
    """Write the new rows and the deletes of all keys, and commit both as one change."""
    metadata = target.metadata
    added = [target.writer.data_files(upserts)] if upserts.num_rows > 0 else []
    for files in added:
        change.add_rows(files)
    ids = [metadata.schema().find_field(key).field_id for key in keys.column_names]
    change.keys = dict(zip(ids, keys.column_names, strict=True))
    for spec in _delete_specs(metadata, keys.column_names) if keys.num_rows > 0 else ():
        added.append(target.writer.equality_deletes(keys, ids, spec.spec_id))
        change.add_deletes(added[-1])
    for key, value in with_unfolded_files(metadata, target.branch, added).items():
        change.set_summary(key, value)
    change.commit()


def _check_columns(
    metadata: TableMetadata, rows: pa.Table, keys: Sequence[str], op_column: str, sequence_column: str | None
) -> None:
    """Raise for columns that are missing, and for nulls and operations that no change can have."""
    if not keys:
        raise ValidationError(f"apply_changes: no key columns; expected keys=['id', ...], got {keys!r}")
    _check_key_names(metadata, keys)
    if op_column in keys:
        raise ValidationError(
            f"apply_changes: op_column {op_column!r} is a key column; expected the column of operations: give one of its own"
        )
    repeated = next((name for name in rows.column_names if rows.column_names.count(name) > 1), None)
    required = [*keys, op_column, *([] if sequence_column is None else [sequence_column])]
    for name in required:
        if rows.column_names.count(name) != 1:
            count = rows.column_names.count(name)
            raise ResolveError(
                f"apply_changes: expected one column {name!r} in the changes, got {count}; the changes have "
                f"{', '.join(rows.column_names)}"
            )
    if repeated is not None:
        raise ValidationError(
            f"apply_changes: the changes have several columns {repeated!r}; expected one: rename the others"
        )
    _check_types(metadata, rows, keys, sequence_column)
    for name in required:
        if rows.column(name).null_count > 0:
            raise ValidationError(
                f"apply_changes: column {name!r} is null in {rows.column(name).null_count} changes; expected values in keys, "
                "operations and sequence numbers"
            )
    _check_order(rows, sequence_column)


def _check_order(rows: pa.Table, sequence_column: str | None) -> None:
    """Raise for sequence numbers that are NaN, which are neither before nor after another number."""
    if sequence_column is None or not pa.types.is_floating(rows.column(sequence_column).type):
        return
    count = pc.sum(pc.is_nan(rows.column(sequence_column))).as_py() or 0
    if count > 0:
        raise ValidationError(
            f"apply_changes: sequence column {sequence_column!r} is NaN in {count} changes; expected values that have an order"
        )


def _check_key_names(metadata: TableMetadata, keys: Sequence[str]) -> None:
    """Raise for keys that are no columns of the table."""
    table_names = [field.name for field in metadata.schema().fields]
    for key in keys:
        if key not in table_names:
            if key in metadata.schema().column_names:
                raise ValidationError(
                    f"apply_changes: the key {key!r} is a field within a column; expected columns of the table "
                    f"({', '.join(table_names)}): pass them, or use merge() with on='target.{key} = source.{key}'"
                )
            raise ResolveError(
                f"apply_changes: the table has no key column {key!r}; expected one of {', '.join(table_names)}"
            )


def _check_types(metadata: TableMetadata, rows: pa.Table, keys: Sequence[str], sequence_column: str | None) -> None:
    """Raise for keys that equality deletes cannot have, and for sequence numbers without an order."""
    for key in keys:
        kind = metadata.schema().find_type(key)
        if not kind.is_primitive:
            raise ValidationError(f"apply_changes: key column {key!r} has type {kind}; expected a primitive type")
    if sequence_column is not None and not _has_order(rows.column(sequence_column).type):
        raise ValidationError(
            f"apply_changes: sequence column {sequence_column!r} has type {rows.column(sequence_column).type}; expected a type with "
            "an order, such as int64"
        )


def _has_order(kind: pa.DataType) -> bool:
    """Return whether Arrow sorts values of a type."""
    return not (pa.types.is_nested(kind) or pa.types.is_float16(kind) or pa.types.is_interval(kind))


def _with_sorted_decimals(rows: pa.Table, sequence_column: str | None) -> pa.Table:
    """Return changes whose sequence numbers Arrow sorts: it sorts decimals of at least 128 bits."""
    kind = None if sequence_column is None else rows.schema.field(sequence_column).type
    if kind is None or not pa.types.is_decimal(kind) or kind.bit_width >= 128:
        return rows
    position = rows.column_names.index(sequence_column)
    wide = rows.column(position).cast(pa.decimal128(kind.precision, kind.scale))
    return rows.set_column(position, sequence_column, wide)


def _typed(metadata: TableMetadata, rows: pa.Table, keys: Sequence[str], op_column: str) -> pa.Table:
    """Return changes with keys in the table's types and operations as strings."""
    schema = storage_schema(schema_to_pyarrow(metadata.schema()))
    for name in dict.fromkeys([*keys, op_column]):
        field = schema.field(name) if name in keys else pa.field(name, pa.string())
        if name not in keys and not _is_text(rows.column(name).type):
            raise ValidationError(
                f"apply_changes: operation column {name!r} has type {rows.column(name).type}; expected string"
            )
        column = fitted(rows.column(name), field, "apply_changes")
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return rows


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _check_operations(operations: pa.ChunkedArray, name: str) -> None:
    known = pc.is_in(pc.utf8_upper(operations), value_set=text_array([*UPSERTS, *DELETES]))
    unknown = pc.unique(operations.filter(pc.invert(known)))
    if len(unknown) > 0:
        raise ValidationError(
            f"apply_changes: unknown operation {unknown[0].as_py()!r} in column {name!r}; expected one of "
            f"{', '.join((*UPSERTS, *DELETES))}, in any case"
        )


def _last_changes(rows: pa.Table, keys: Sequence[str], sequence_column: str | None) -> pa.Table:
    """Return the last change of each key: of the greatest sequence number, and among equal numbers the last row."""
    if rows.num_rows == 0:
        return rows
    if sequence_column is not None:
        # The sort is stable: changes of equal numbers keep their order.
        rows = rows.take(pc.sort_indices(rows, sort_keys=[(sequence_column, "ascending")]))
    numbers = row_numbers(rows.num_rows)
    backwards = pc.subtract(int_scalar(rows.num_rows - 1, pa.int64()), numbers)
    codes = _key_codes(rows, keys).take(backwards)
    # The index of a value is that of its first place, here of the last change.
    is_last = pc.equal(pc.index_in(codes, value_set=codes).cast(pa.int64()), numbers)
    return rows.filter(is_last.take(backwards))


def _key_codes(rows: pa.Table, keys: Sequence[str]) -> pa.Array:
    """Return an int64 for each row, equal for equal keys."""
    # Grouping a table would load pandas.
    codes = pa.repeat(int_scalar(0, pa.int64()), rows.num_rows)
    for key in keys:
        encoded = rows.column(key).combine_chunks().dictionary_encode()
        size = int_scalar(len(encoded.dictionary), pa.int64())
        combined = pc.add(pc.multiply(codes, size), encoded.indices.cast(pa.int64()))
        codes = combined.dictionary_encode().indices.cast(pa.int64())
    return codes


def _delete_specs(metadata: TableMetadata, keys: Sequence[str]) -> list[PartitionSpec]:
    """Return the partition specs whose equality deletes reach every row of a key.

    Raises:
        ValidationError: A row of a key may be in any partition, and the table has no unpartitioned spec.
    """
    specs = list(metadata.specs().values())
    ids = {metadata.schema().find_field(key).field_id for key in keys}
    by_key = [spec for spec in specs if not _fields_outside(spec, ids)]
    everywhere = [spec for spec in specs if spec.is_unpartitioned()][:1]
    if len(by_key) == len(specs):
        return everywhere or specs
    if everywhere:
        return everywhere
    spec = next(one for one in specs if one not in by_key)
    field = _fields_outside(spec, ids)[0]
    raise ValidationError(
        f"apply_changes: partition field {field.name!r} of spec {spec.spec_id} is not of a key; expected its source column among the keys "
        f"({', '.join(keys)}), or rows of a key may be in any partition: add the column to the keys, or use merge()"
    )


def _fields_outside(spec: PartitionSpec, ids: set[int]) -> list[PartitionField]:
    """Return the fields of a spec that depend on a column outside of a key; a void field depends on none."""
    return [one for one in spec.fields if one.source_id not in ids and not isinstance(one.transform, VoidTransform)]
