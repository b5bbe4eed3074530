"""The columns of a DataFrame: by quoted names, checked against a table, converted to the table's types; no job runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses
from pyspark.sql import types as spark_types

from icefloe.exceptions import SchemaMismatchError
from icefloe.spark.types.nullability import nullable
from icefloe.spark.types.struct_order import in_order_of, pairs_by_name
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


def conform(
    frame: DataFrame, schema: Schema | str, *, check_nullability: bool = False, check_ordering: bool = False
) -> DataFrame:
    """Return a frame with the table's columns, in the table's order and types.

    Columns are matched by name, exactly or else ignoring case, and so are the fields of structs at any depth. Types are widened where no
    value changes (int to long, float to double, decimal precision). A missing optional column is null in every row.

    Args:
        frame: Rows.
        schema: Table schema, or its JSON.
        check_nullability: Refuse nullable columns for required ones. Without it the writer fails at the first null.
        check_ordering: Refuse columns in another order than the table's.

    Raises:
        SchemaMismatchError: A column is unknown, missing, there twice, of another type, or nullable where the table requires values.
            The message has every such column.
    """
    columns = conformed_columns(
        frame.schema, schema, check_nullability=check_nullability, check_ordering=check_ordering
    )
    return frame.select(*columns)


def conformed_columns(
    struct: Any, schema: Schema | str, *, check_nullability: bool = False, check_ordering: bool = False
) -> list[Column]:
    """Return the columns of :func:`conform` for a frame of a ``StructType``.

    Args:
        struct: Schema of the rows.
        schema: Table schema, or its JSON.
        check_nullability: See :func:`conform`.
        check_ordering: See :func:`conform`.

    Raises:
        SchemaMismatchError: See :func:`conform`.
    """
    names = conform_schema(
        struct, schema, check_nullability=check_nullability, check_ordering=check_ordering, fields_by_name=True
    )
    columns = []
    for field in to_spark_schema(schema).fields:
        source = names.get(field.name)
        column = F.lit(None).cast(field.dataType) if source is None else _column(struct[source], field)
        columns.append(column.alias(field.name))
    return columns


def conform_schema(
    struct: Any,
    schema: Schema | str,
    *,
    check_nullability: bool = False,
    check_ordering: bool = False,
    fields_by_name: bool = False,
) -> dict[str, str]:
    """Return a mapping of table columns to the columns of a ``StructType``, without missing columns.

    Args:
        struct: Schema of the rows.
        schema: Table schema, or its JSON.
        check_nullability: See :func:`conform`.
        check_ordering: See :func:`conform`.
        fields_by_name: Accept structs whose fields are in another order, or of narrower types, than the table's. Fields with names
            of another case are always accepted.

    Raises:
        SchemaMismatchError: See :func:`conform`.
    """
    wanted = to_spark_schema(schema)
    names = matched_names([field.name for field in struct.fields], [field.name for field in wanted.fields])
    used = set(names.values())
    problems = [
        f"column {name!r} occurs {count} times; expected it once, got columns of the same name: rename or drop the others"
        for name, count in Counter(struct.names).items()
        if count > 1
    ]
    problems += [
        f"column {field.name!r} is not in the table; drop it, or add it to the table"
        for field in struct.fields
        if field.name not in used
    ]
    for field in wanted.fields:
        problem = (
            _missing(field)
            if field.name not in names
            else _problem(
                struct[names[field.name]], field, check_nullability=check_nullability, fields_by_name=fields_by_name
            )
        )
        if problem is not None:
            problems.append(problem)
    expected = [names[field.name] for field in wanted.fields if field.name in names]
    if check_ordering and expected != [name for name in struct.names if name in used]:
        problems.append(
            f"option check-ordering: expected the columns in the order {', '.join(expected)}, got {', '.join(struct.names)}"
        )
    if problems:
        raise SchemaMismatchError("rows do not fit the table: " + ". ".join(problems))
    return names


def _missing(field: Any) -> str | None:
    return (
        None
        if field.nullable
        else (
            f"required column {field.name!r} is missing; expected {field.dataType.simpleString()}, got no column: add it to the rows"
        )
    )


def fits(given: Any, wanted: Any) -> bool:
    """Return whether every value of one Spark type is a value of another."""
    if (type(given), type(wanted)) in _WIDENINGS:
        return True
    if isinstance(given, spark_types.DecimalType) and isinstance(wanted, spark_types.DecimalType):
        return bool(given.scale == wanted.scale and given.precision <= wanted.precision)
    return bool(_shape(given) == _shape(wanted))


def fits_in_order(given: Any, wanted: Any) -> bool:
    """Return whether every value of one Spark type is a value of another, if the fields of structs may have names of another case."""
    return fits(given, wanted) or bool(_shape(given, ignore_case=True) == _shape(wanted, ignore_case=True))


def fits_by_name(given: Any, wanted: Any) -> bool:
    """Return whether every value of one Spark type is a value of another, if the fields of structs are matched by name."""
    if isinstance(given, spark_types.StructType) and isinstance(wanted, spark_types.StructType):
        if len({name.lower() for name in given.names}) < len(given.names):
            # Names that differ in case alone have no partner in another order that ignores case.
            return fits(given, wanted)
        pairs = pairs_by_name(given, wanted)
        return pairs is not None and all(fits_by_name(one.dataType, two.dataType) for one, two in pairs)
    if isinstance(given, spark_types.ArrayType) and isinstance(wanted, spark_types.ArrayType):
        return fits_by_name(given.elementType, wanted.elementType)
    if isinstance(given, spark_types.MapType) and isinstance(wanted, spark_types.MapType):
        return fits_by_name(given.keyType, wanted.keyType) and fits_by_name(given.valueType, wanted.valueType)
    return fits(given, wanted)


def _column(given: Any, field: Any) -> Column:
    column = column_of(given.name)
    if _shape(given.dataType) == _shape(field.dataType):
        return column
    # Spark casts structs by the positions of their fields. It casts no null to a required field, which the writer checks.
    return in_order_of(column, given.dataType, field.dataType).cast(nullable(field.dataType))


def _problem(given: Any, field: Any, *, check_nullability: bool, fields_by_name: bool) -> str | None:
    if isinstance(given.dataType, spark_types.NullType) and field.nullable:
        return None
    if not fits_in_order(given.dataType, field.dataType) and not (
        fields_by_name and fits_by_name(given.dataType, field.dataType)
    ):
        return (
            f"column {field.name!r} does not fit; expected {field.dataType.simpleString()}, got "
            f"{given.dataType.simpleString()}: cast the column"
        )
    if check_nullability and given.nullable and not field.nullable:
        return (
            f"column {field.name!r} may be null; expected a column that is not nullable: option check-nullability=false checks "
            "the values instead"
        )
    return None


def matched_names(given: list[str], wanted: list[str]) -> dict[str, str]:
    """Return a mapping of table columns to columns of the frame, by exact name or else ignoring case."""
    matches = {name: name for name in wanted if name in given}
    used = set(matches.values())
    for name in wanted:
        if name not in matches:
            similar = [candidate for candidate in given if candidate.lower() == name.lower() and candidate not in used]
            if len(similar) == 1:
                matches[name] = similar[0]
                used.add(similar[0])
    return matches


def _shape(data_type: Any, *, ignore_case: bool = False) -> Any:
    """Return a type without nullability and metadata, for comparisons; names that differ in case alone keep their case."""
    if isinstance(data_type, spark_types.StructType):
        folded = [name.lower() for name in data_type.names]
        names = folded if ignore_case and len(set(folded)) == len(folded) else data_type.names
        inner = [_shape(field.dataType, ignore_case=ignore_case) for field in data_type.fields]
        return ("struct", tuple(zip(names, inner, strict=True)))
    if isinstance(data_type, spark_types.ArrayType):
        return ("array", _shape(data_type.elementType, ignore_case=ignore_case))
    if isinstance(data_type, spark_types.MapType):
        return (
            "map",
            _shape(data_type.keyType, ignore_case=ignore_case),
            _shape(data_type.valueType, ignore_case=ignore_case),
        )
    return data_type.simpleString()


def column_of(*path: str) -> Column:
    """Return the column at a path of names, each quoted: names may have dots and backticks."""
    return F.col(".".join(quoted(part) for part in path))


def quoted(name: str) -> str:
    """Return a column name in backticks."""
    return "`" + name.replace("`", "``") + "`"
