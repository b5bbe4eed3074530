"""Columns by which Spark's Parquet reader must prune no row group, page or dictionary, because it would skip rows that match.

Spark pushes conditions on columns and on fields of structs down, but none on expressions, so an expression with the same value takes
the place of such a column. These are:

- floating-point numbers: bounds leave NaN out, which is above all numbers in Spark, and dictionaries distinguish -0.0 from 0.0;
- integers and decimals that an earlier schema has in fewer bytes: Spark cuts literals to the bytes of the file's values, of integers
  all literals of a list but the first;
- columns whose name another column had: Spark reads the columns of a file by id, and finds the columns of a condition by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as T  # noqa: N812  likewise

from icefloe.spark.types.conform import column_of, quoted
from icefloe.spark.types.to_spark import FIELD_ID
from icefloe.types import DecimalType, IntegerType, LongType, StructType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Column, DataFrame

    from icefloe.schema import Schema
    from icefloe.types import IcebergType, NestedField

# Most digits of decimals that Parquet stores as 32-bit and as 64-bit integers.
_INT32_DIGITS, _INT64_DIGITS = 9, 18


def misread_fields(schema: Schema, schemas: Sequence[Schema]) -> frozenset[int]:
    """Return the ids of the fields whose conditions Spark's Parquet reader cuts, or compares with another column of a file.

    Args:
        schema: The columns to read.
        schemas: All schemas of the table's metadata.
    """
    ids_of: dict[str, set[int]] = {}
    sizes_of: dict[int, set[int]] = {}
    for one in [*schemas, schema]:
        for name, field in _fields(one.fields):
            ids_of.setdefault(name.lower(), set()).add(field.field_id)
            sizes_of.setdefault(field.field_id, set()).add(_bytes_of(field.field_type))
    return frozenset(
        field.field_id
        for name, field in _fields(schema.fields)
        if len(ids_of[name.lower()]) > 1 or len(sizes_of[field.field_id]) > 1
    )


def without_wrong_pruning(rows: DataFrame, struct: Any, misread: frozenset[int]) -> DataFrame:
    """Return rows by whose misread and floating-point columns and struct fields Spark prunes nothing.

    Args:
        rows: The rows, which may have further columns.
        struct: ``StructType`` of the columns of the table, with field ids.
        misread: The ids of :func:`misread_fields`.
    """
    replaced = {field.name: list(_replaced_paths(field, misread)) for field in struct.fields}
    if not any(replaced.values()):
        return rows
    fields = {field.name: field for field in struct.fields}
    columns = []
    for name in rows.columns:
        column = column_of(name)
        for path, field in replaced.get(name, ()):
            value = _unpruned(column_of(name, *path), field, misread)
            column = column.withField(".".join(map(quoted, path)), value) if path else value
        columns.append(column.alias(name, metadata=fields[name].metadata) if replaced.get(name) else column)
    return rows.select(*columns)


def _fields(fields: Sequence[NestedField], outer: str = "") -> Iterator[tuple[str, NestedField]]:
    """Yield the dotted name of every field outside of lists and maps, and the field."""
    for field in fields:
        yield f"{outer}{field.name}", field
        if isinstance(field.field_type, StructType):
            yield from _fields(field.field_type.fields, f"{outer}{field.name}.")


def _bytes_of(kind: IcebergType) -> int:
    """Return the number of bytes of an integer or a decimal in Parquet; 0 for other types."""
    if isinstance(kind, (IntegerType, LongType)):
        return 4 if isinstance(kind, IntegerType) else 8
    if not isinstance(kind, DecimalType):
        return 0
    if kind.precision <= _INT64_DIGITS:
        return 4 if kind.precision <= _INT32_DIGITS else 8
    largest: int = 10**kind.precision
    return (largest.bit_length() + 8) // 8


def _replaced_paths(field: Any, misread: frozenset[int]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path within a column to each value to replace outside of lists and maps, and the field of the value."""
    if isinstance(field.dataType, T.StructType):
        for inner in field.dataType.fields:
            for path, one in _replaced_paths(inner, misread):
                yield (inner.name, *path), one
    elif isinstance(field.dataType, (T.FloatType, T.DoubleType)) or _is_misread(field, misread):
        yield (), field


def _is_misread(field: Any, misread: frozenset[int]) -> bool:
    """Return whether Spark misreads conditions on a field; it pushes none on lists and maps down."""
    return field.metadata[FIELD_ID] in misread and not isinstance(field.dataType, (T.ArrayType, T.MapType))


def _unpruned(column: Column, field: Any, misread: frozenset[int]) -> Column:
    """Return a column as an expression with the same value, also of -0.0, NaN and null."""
    if _is_misread(field, misread):
        # The product below is null where the column is, so Spark would prune by the nulls of the column.
        return F.greatest(column, column)
    return column * F.lit(1.0).cast(field.dataType)
