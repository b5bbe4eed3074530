"""Rows of a query under the names and types of a table's columns, by the rules of Spark for stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as spark_types

from icefloe.exceptions import SchemaMismatchError
from icefloe.spark.statements.column_names import column_named
from icefloe.spark.types.conform import fits
from icefloe.spark.types.nullability import nullable
from icefloe.spark.types.struct_order import in_order_of, names_match, type_in_order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

_NUMBERS = (spark_types.NumericType,)
_MOMENTS = (spark_types.DateType, spark_types.TimestampType, spark_types.TimestampNTZType)
_ATOMIC = (*_NUMBERS, *_MOMENTS, spark_types.StringType, spark_types.BooleanType)


def assigned(  # noqa: PLR0913 - the parts of one assignment
    frame: DataFrame,
    struct: Any,
    columns: Sequence[str],
    label: str,
    *,
    by_name: bool = False,
    case_sensitive: bool = False,
) -> DataFrame:
    """Return the columns of a frame, in order, as columns of a table; the table's other columns are left out.

    Args:
        frame: Rows.
        struct: Spark schema of the table.
        columns: Column of the table for each column of the frame.
        label: The statement, for errors.
        by_name: Match the fields of structs by name, as Spark does in all statements but INSERT by position.
        case_sensitive: Match names of columns in their case.

    Raises:
        SchemaMismatchError: There are more or fewer columns, a column does not exist, or its values cannot be stored.
    """
    if len(frame.columns) != len(columns):
        raise SchemaMismatchError(
            f"{label}: expected {len(columns)} values for {', '.join(columns)}, got {len(frame.columns)} values"
        )
    names = [column_named(name, struct.names, case_sensitive=case_sensitive) for name in columns]
    unknown = [name for name, known in zip(columns, names, strict=True) if known is None]
    if unknown:
        raise SchemaMismatchError(
            f"{label}: the table has no column {unknown[0]!r}; expected one of {', '.join(struct.names)}"
        )
    if len(set(names)) != len(columns):
        raise SchemaMismatchError(f"{label}: expected each column once, got {', '.join(columns)}")
    fields = [struct[name] for name in names]
    positional = frame.toDF(*[f"c{index}" for index in range(len(columns))])
    values = [
        stored(F.col(f"c{index}"), one.dataType, field, label, by_name=by_name)
        for index, (one, field) in enumerate(zip(frame.schema.fields, fields, strict=True))
    ]
    return positional.select(*[value.alias(field.name) for value, field in zip(values, fields, strict=True)])


def stored(value: Column, found: Any, field: Any, label: str, *, by_name: bool = True) -> Column:
    """Return a value in the type of a table's column; a number that the type cannot hold, at any depth, fails the query.

    The type of the value allows nulls at every depth: Spark casts no optional field to a required one, and the writer refuses the nulls.

    Raises:
        SchemaMismatchError: Spark stores no such values in the type.
    """
    check_stored(found, field, label, by_name=by_name)
    if by_name:
        value, found = in_order_of(value, found, field.dataType), type_in_order_of(found, field.dataType)
    return _in_range(value, nullable(found), nullable(field.dataType), _overflow(field, label))


def _in_range(value: Column, found: Any, expected: Any, message: str) -> Column:
    """Return a value in another type; a number out of the range of its type raises an error that begins with a message."""
    if not can_overflow(found, expected):
        return value if found == expected else value.cast(expected)
    if isinstance(found, spark_types.StructType):
        fields = [
            _in_range(value.getField(one.name), one.dataType, two.dataType, message).alias(two.name)
            for one, two in zip(found, expected, strict=True)
        ]
        return F.when(value.isNotNull(), F.struct(*fields))
    if isinstance(found, spark_types.ArrayType):
        return F.transform(value, lambda one: _in_range(one, found.elementType, expected.elementType, message))
    if isinstance(found, spark_types.MapType):
        value = F.transform_keys(value, lambda key, _: _in_range(key, found.keyType, expected.keyType, message))
        return F.transform_values(value, lambda _, one: _in_range(one, found.valueType, expected.valueType, message))
    kept = value.try_cast(expected)
    failed = F.raise_error(F.concat(F.lit(message), value.cast("string"), F.lit("\n")))
    return F.when(value.isNull() | kept.isNotNull(), kept).otherwise(failed.cast(expected))


def check_stored(found: Any, field: Any, label: str, *, by_name: bool = True) -> None:
    """Check that Spark stores values of a type in a table's column.

    Raises:
        SchemaMismatchError: It does not.
    """
    named = not by_name or names_match(found, field.dataType)
    kind = type_in_order_of(found, field.dataType) if by_name and named else found
    if not (named and (_assignable(kind, field.dataType) or fits(kind, field.dataType))):
        raise SchemaMismatchError(
            f"{label}: the value of column {field.name!r} does not fit; expected {field.dataType.simpleString()}, got "
            f"{found.simpleString()}: cast it"
        )


def can_overflow(found: Any, expected: Any) -> bool:
    """Return whether a number, at any depth, may be out of the range of its new type: Spark reports that in ANSI mode alone."""
    if isinstance(found, spark_types.StructType):
        return any(can_overflow(one.dataType, two.dataType) for one, two in zip(found, expected, strict=True))
    if isinstance(found, spark_types.ArrayType):
        return can_overflow(found.elementType, expected.elementType)
    if isinstance(found, spark_types.MapType):
        return can_overflow(found.keyType, expected.keyType) or can_overflow(found.valueType, expected.valueType)
    if not (isinstance(found, _NUMBERS) and isinstance(expected, _NUMBERS)) or fits(found, expected):
        return False
    return not isinstance(expected, spark_types.FloatType | spark_types.DoubleType)


def _overflow(field: Any, label: str) -> str:
    # The errors of workers have this form, in which they are raised again by their class.
    return (
        f"\nicefloe.exceptions.SchemaMismatchError: {label}: a value is out of the range of column {field.name!r}; expected "
        f"{field.dataType.simpleString()}, got "
    )


def _assignable(found: Any, expected: Any) -> bool:
    """Return whether Spark stores values of a type in another one, as its ANSI policy for assignments says."""
    if isinstance(found, spark_types.NullType) or found == expected:
        return True
    if isinstance(expected, spark_types.StringType):
        return isinstance(found, _ATOMIC)
    if isinstance(expected, _NUMBERS):
        return isinstance(found, _NUMBERS)
    if isinstance(expected, _MOMENTS):
        return isinstance(found, _MOMENTS)
    if isinstance(expected, spark_types.ArrayType):
        return isinstance(found, spark_types.ArrayType) and _assignable(found.elementType, expected.elementType)
    if isinstance(expected, spark_types.MapType):
        return (
            isinstance(found, spark_types.MapType)
            and _assignable(found.keyType, expected.keyType)
            and _assignable(found.valueType, expected.valueType)
        )
    if isinstance(expected, spark_types.StructType):
        return (
            isinstance(found, spark_types.StructType)
            and len(found) == len(expected)
            and all(_assignable(one.dataType, two.dataType) for one, two in zip(found, expected, strict=True))
        )
    return False
