"""A DataFrame made to fit a table, or a clear refusal before any job starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as spark_types

from icefloe.exceptions import SchemaMismatchError
from icefloe.spark.types.columns import column_of
from icefloe.spark.types.to_spark import to_spark_schema

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from icefloe.schema import Schema

_WIDENINGS = {
    (spark_types.ByteType, spark_types.IntegerType),
    (spark_types.ByteType, spark_types.LongType),
    (spark_types.ShortType, spark_types.IntegerType),
    (spark_types.ShortType, spark_types.LongType),
    (spark_types.IntegerType, spark_types.LongType),
    (spark_types.FloatType, spark_types.DoubleType),
    (spark_types.CharType, spark_types.StringType),
    (spark_types.VarcharType, spark_types.StringType),
}


def conform(frame: DataFrame, schema: Schema | str, *, check_nullability: bool = False) -> DataFrame:
    """Return a frame with exactly the table's columns, in the table's order and types.

    Columns are matched by name, exactly or else ignoring case. Types are widened where no value changes (int to long, float to
    double, decimal precision); an optional column that is missing is null.

    Args:
        frame: Rows.
        schema: Table schema, or its JSON.
        check_nullability: Refuse nullable columns for required ones. Without it the writer refuses the first null that it meets.

    Raises:
        SchemaMismatchError: A column is unknown, missing, of another type, or nullable where the table requires values. The
            message names every such column.
    """
    names = conform_schema(frame.schema, schema, check_nullability=check_nullability)
    columns = []
    for field in to_spark_schema(schema).fields:
        source = names.get(field.name)
        column = F.lit(None).cast(field.dataType) if source is None else _column(frame.schema[source], field)
        columns.append(column.alias(field.name))
    return frame.select(*columns)


def conform_schema(struct: Any, schema: Schema | str, *, check_nullability: bool = False) -> dict[str, str]:
    """Return which column of a ``StructType`` each of the table's columns is, those that are there.

    Raises:
        SchemaMismatchError: See :func:`conform`.
    """
    wanted = to_spark_schema(schema)
    names = _matched([field.name for field in struct.fields], [field.name for field in wanted.fields])
    taken = set(names.values())
    problems = [f"column {field.name!r} is not in the table" for field in struct.fields if field.name not in taken]
    for field in wanted.fields:
        problem = (
            _missing(field)
            if field.name not in names
            else _problem(struct[names[field.name]], field, check_nullability=check_nullability)
        )
        if problem is not None:
            problems.append(problem)
    if problems:
        raise SchemaMismatchError("The rows do not fit the table: " + "; ".join(problems))
    return names


def _missing(field: Any) -> str | None:
    return None if field.nullable else f"required column {field.name!r} is missing"


def fits(given: Any, wanted: Any) -> bool:
    """Return whether values of one Spark type can be stored as another without changing any."""
    if (type(given), type(wanted)) in _WIDENINGS:
        return True
    if isinstance(given, spark_types.DecimalType) and isinstance(wanted, spark_types.DecimalType):
        return bool(given.scale == wanted.scale and given.precision <= wanted.precision)
    return bool(_shape(given) == _shape(wanted))


def _column(given: Any, field: Any) -> Column:
    column = column_of(given.name)
    same = _shape(given.dataType) == _shape(field.dataType)
    return column if same else column.cast(field.dataType)


def _problem(given: Any, field: Any, *, check_nullability: bool) -> str | None:
    if isinstance(given.dataType, spark_types.NullType) and field.nullable:
        return None
    if not fits(given.dataType, field.dataType):
        return (
            f"column {field.name!r} is {given.dataType.simpleString()}, the table has {field.dataType.simpleString()}"
        )
    if check_nullability and given.nullable and not field.nullable:
        return (
            f"column {field.name!r} may be null, the table requires values "
            "(option check-nullability=false leaves that to the rows)"
        )
    return None


def _matched(given: list[str], wanted: list[str]) -> dict[str, str]:
    """Return the frame's column for each of the table's."""
    exact = {name: name for name in wanted if name in given}
    taken = set(exact.values())
    for name in wanted:
        if name not in exact:
            similar = [candidate for candidate in given if candidate.lower() == name.lower() and candidate not in taken]
            if len(similar) == 1:
                exact[name] = similar[0]
                taken.add(similar[0])
    return exact


def _shape(data_type: Any) -> Any:
    """Return a type without nullability and metadata, which values do not have."""
    if isinstance(data_type, spark_types.StructType):
        return ("struct", tuple((field.name, _shape(field.dataType)) for field in data_type.fields))
    if isinstance(data_type, spark_types.ArrayType):
        return ("array", _shape(data_type.elementType))
    if isinstance(data_type, spark_types.MapType):
        return ("map", _shape(data_type.keyType), _shape(data_type.valueType))
    return data_type.simpleString()
