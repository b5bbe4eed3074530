"""Iceberg's partition transforms as Spark columns.

A transform is a built-in Spark expression where one returns Iceberg's values for the source type (80 million values a second on
one core); otherwise the Rust kernels run in an Arrow UDF. Spark's analysis finds integers, dates and timestamps by itself. For
other source types with a built-in expression pass ``source_type``, an Iceberg type name, or use :func:`transform`, which takes
it from a DataFrame's schema.

    >>> from icefloe.spark import functions as ice
    >>> frame = spark.createDataFrame([(34, "iceberg")], "id long, name string")
    >>> frame.select(ice.bucket(16, "id"), ice.transform(frame, "truncate[3]", "name")).collect()
    [Row(bucket(16, id)=3, truncate[3](name)='ice')]

The result of a column given by name is called after its transform: ``bucket(16, id)``. Results do not depend on the session's time
zone. The result is null where the source is null. :func:`register` makes the transforms functions of SQL; ``arrow_udf`` and
``pandas_udf`` make UDFs of them. Spec: Partition Transforms, Appendix B.
"""

from __future__ import annotations

import decimal
import re
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.arguments import checked_text
from icefloe.exceptions import ValidationError
from icefloe.spark.arguments import checked_frame
from icefloe.spark.sql_functions import register
from icefloe.spark.transform_udf import arrow_udf_of, check_parameter, pandas_udf_of, rust_transform
from icefloe.spark.types.to_spark import to_spark_type
from icefloe.spark.udf_factory import TransformUdfs
from icefloe.transforms import parse_transform
from icefloe.types.parsing import type_from_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = [
    "arrow_udf",
    "bucket",
    "days",
    "hours",
    "months",
    "pandas_udf",
    "register",
    "transform",
    "transform_column",
    "truncate",
    "years",
]

arrow_udf = TransformUdfs(arrow_udf_of)
"""The transforms as Arrow UDFs, for Spark 4.1 and newer."""
pandas_udf = TransformUdfs(pandas_udf_of)
"""The transforms as pandas UDFs."""

_PARAMETER = re.compile(r"(bucket|truncate)\[(\d+)\]")
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
# Spark's murmur3 chains seeds: the hash of this int under Spark's fixed seed 42 is 0, the seed that Iceberg uses.
_INT_THAT_HASHES_TO_ZERO = -1693959553
_TEMPORAL = ("year", "month", "day", "hour")
_TIMESTAMPS = ("timestamp", "timestamptz")
_SMALL_INTEGERS = ("tinyint", "smallint", "int")
_SOURCES = {
    "bucket": "a primitive type other than boolean, float and double",
    "truncate": "int, long, decimal, string or binary",
    "hour": "timestamp or timestamptz",
    **dict.fromkeys(("year", "month", "day"), "date, timestamp or timestamptz"),
}
_MICROS_PER_DAY = 86_400_000_000
_MAX_PRECISION = 38


def bucket(num_buckets: int, col: Column | str, *, source_type: str | None = None) -> Column:
    """Return the ``bucket[num_buckets]`` ordinal of each value.

    Args:
        num_buckets: Number of buckets, from 1 to 2**31 - 1.
        col: Source column or its name.
        source_type: Iceberg type of the column. Dates need no Python on executors if it is given; integers and timestamps never
            do.

    Returns:
        int column, each value in ``0..num_buckets``; null where the source is null.

    Raises:
        ValidationError: ``num_buckets`` is out of range.

    Examples:
        >>> spark.range(34, 35).select(bucket(16, "id")).collect()
        [Row(bucket(16, id)=3)]
    """
    check_parameter("num_buckets", num_buckets)
    return _named(f"bucket({num_buckets}, ", col, transform_column(f"bucket[{num_buckets}]", source_type, col))


def truncate(width: int, col: Column | str, *, source_type: str | None = None) -> Column:
    """Return the ``truncate[width]`` value of each value.

    Args:
        width: Width, from 1 to 2**31 - 1: code points of strings, bytes of binaries, a factor of integers, and of decimals in units
            of the last digit.
        col: Source column or its name.
        source_type: Iceberg type of the column, which is the type of the result.

    Returns:
        Column of the source's type; null where the source is null.

    Raises:
        ValidationError: ``width`` is out of range or ``source_type`` is missing.

    Examples:
        >>> spark.sql("SELECT 'iceberg' AS name").select(truncate(3, "name", source_type="string")).collect()
        [Row(truncate(3, name)='ice')]
    """
    check_parameter("width", width)
    if source_type is None:
        raise ValidationError(
            f"truncate({width}, ...): the type of the result is unknown; expected source_type, got None: pass "
            "source_type='string', or use transform(frame, ...)"
        )
    return _named(f"truncate({width}, ", col, transform_column(f"truncate[{width}]", source_type, col))


def years(col: Column | str, *, source_type: str | None = None) -> Column:
    """Return the years from 1970 to each date or timestamp, as an int column; null where the source is null."""
    return _named("years(", col, transform_column("year", source_type, col))


def months(col: Column | str, *, source_type: str | None = None) -> Column:
    """Return the months from January 1970 to each date or timestamp, as an int column; null where the source is null."""
    return _named("months(", col, transform_column("month", source_type, col))


def days(col: Column | str, *, source_type: str | None = None) -> Column:
    """Return the day of each date or timestamp, as a date column; null where the source is null."""
    return _named("days(", col, transform_column("day", source_type, col))


def hours(col: Column | str, *, source_type: str | None = None) -> Column:
    """Return the hours from 1970-01-01 00:00 UTC to each timestamp, as an int column; null where the source is null."""
    return _named("hours(", col, transform_column("hour", source_type, col))


def transform(frame: DataFrame, name: str, column: str) -> Column:
    """Return a transform of a top-level column of a DataFrame, whose schema has the source type.

    Args:
        frame: DataFrame.
        name: ``identity``, ``bucket[N]``, ``truncate[W]``, ``year``, ``month``, ``day``, ``hour`` or ``void``.
        column: Name of the column.

    Returns:
        Column of the transform's result type; null where the source is null.

    Raises:
        ValidationError: There is no such transform.
        FeatureUnsupportedError: Iceberg has no type for the column.
    """
    from icefloe.spark.types.from_spark import schema_from_spark

    field = schema_from_spark(checked_frame("transform, frame", frame).select(column).schema).fields[0]
    return _named(f"{name}(", column, transform_column(name, str(field.field_type), column))


def transform_column(name: str, source_type: str | None, col: Column | str) -> Column:
    """Return a transform of a column, as a built-in expression where one returns the same values.

    Args:
        name: ``identity``, ``bucket[N]``, ``truncate[W]``, ``year``, ``month``, ``day``, ``hour`` or ``void``.
        source_type: Iceberg type name; None if only Spark's analysis has the type.
        col: Source column or its name.

    Raises:
        ValidationError: There is no such transform.
    """
    source = F.col(col) if isinstance(col, str) else col
    parameter = _PARAMETER.fullmatch(checked_text("transform", name))
    if parameter is not None:
        check_parameter(name, int(parameter[2]))
    if name == "identity":
        return source
    if name == "void":
        return F.lit(None).cast("int" if source_type is None else to_spark_type(source_type))
    if name not in _TEMPORAL and parameter is None:
        raise ValidationError(
            f"transform: unknown transform; expected identity, bucket[N], truncate[W], year, month, day, hour or void, got {name!r}"
        )
    if source_type is None:
        return _of_any_type(name, source)
    _check_type(name, source_type)
    builtin = _built_in(name, source_type, source)
    return rust_transform(name, source_type, source) if builtin is None else builtin


def _check_type(name: str, source_type: str) -> None:
    """Raise ValidationError if a transform does not apply to a type, which executors would refuse with a long error."""
    nested = source_type.startswith(("struct<", "list<", "map<"))
    if nested or not parse_transform(name).can_transform(type_from_text(source_type)):
        raise ValidationError(
            f"{name}: the transform does not apply to type {source_type}; expected {_SOURCES[name.partition('[')[0]]}, got "
            f"{source_type}: cast the column, or pass its type as source_type"
        )


def _named(call: str, col: Column | str, result: Column) -> Column:
    """Name the result of a column given by name after its call; results of expressions have Spark's name."""
    return result.alias(f"{call}{col})") if isinstance(col, str) else result


def _of_any_type(name: str, source: Column) -> Column:
    """Return a CASE over the column's type: built-in expressions for integers, dates and timestamps, else the Rust kernel.

    Spark folds the type to a constant, so that one branch remains in the plan. All branches must pass analysis for any type.
    """
    column = rust_transform(name, None, source)
    for source_type in ("date", *_TIMESTAMPS) if name in _TEMPORAL else ("long", *_TIMESTAMPS):
        spark_type = to_spark_type(source_type)
        # The cast lets the other branches pass analysis; it changes nothing in the branch that remains.
        builtin = _built_in(name, source_type, source.cast(spark_type) if name in _TEMPORAL else source)
        if builtin is not None:
            column = F.when(F.typeof(source) == F.lit(spark_type.simpleString()), builtin).otherwise(column)
    if name.startswith("bucket["):
        # Casts to string and from there to int pass analysis for any type. Without this branch Spark 4.0 gives ints with nulls
        # to pandas, which turns them into doubles.
        builtin = _built_in(name, "int", source.cast("string").cast("int"))
        column = F.when(F.typeof(source).isin(*_SMALL_INTEGERS), builtin).otherwise(column)
    return column


def _built_in(name: str, source_type: str, source: Column) -> Column | None:
    """Return the Spark expression with the same values; None if there is none."""
    parameter = _PARAMETER.fullmatch(name)
    if parameter is None:
        return _temporal(name, source_type, source)
    if parameter[1] == "bucket":
        return _bucket(int(parameter[2]), source_type, source)
    return _truncate(int(parameter[2]), source_type, source)


def _temporal(name: str, source_type: str, source: Column) -> Column | None:
    if source_type != "date" and source_type not in _TIMESTAMPS:
        return None
    date = source
    if source_type == "timestamp":
        date = source.cast("date")  # a timestamp without a zone has one date only
    elif source_type == "timestamptz":
        date = F.date_from_unix_date(_floor_div(F.unix_micros(source), _MICROS_PER_DAY))
    if name == "day":
        return date
    if name == "year":
        return (F.year(date) - F.lit(1970)).cast("int")
    if name == "month":
        return ((F.year(date) - F.lit(1970)) * F.lit(12) + F.month(date) - F.lit(1)).cast("int")
    if source_type == "timestamp":
        return (F.unix_date(date) * F.lit(24) + F.hour(source)).cast("int")
    if source_type == "timestamptz":
        return _floor_div(F.unix_micros(source), _MICROS_PER_DAY // 24)
    return None


def _floor_div(value: Column, divisor: int) -> Column:
    """Return the floor of a quotient as int; Spark's ``div`` rounds towards zero."""
    whole = value - F.pmod(value, F.lit(divisor))
    return F.call_function("div", whole, F.lit(divisor)).cast("int")


def _bucket(num_buckets: int, source_type: str, source: Column) -> Column | None:
    if source_type == "int":
        source = source.cast("bigint")
    elif source_type == "date":
        source = F.unix_date(source).cast("bigint")
    elif source_type != "long" and source_type not in _TIMESTAMPS:
        return None
    murmur3 = F.hash(F.lit(_INT_THAT_HASHES_TO_ZERO), source)
    ordinal = murmur3.bitwiseAND(F.lit(2**31 - 1)) % F.lit(num_buckets)
    return F.when(source.isNotNull(), ordinal.cast("int"))


def _truncate(width: int, source_type: str, source: Column) -> Column | None:
    if source_type in ("string", "binary"):
        return F.substring(source, 1, width)
    if source_type == "int":
        whole = source.cast("bigint")
        rounded = whole - F.pmod(whole, F.lit(width).cast("bigint"))
        return F.when(rounded >= F.lit(-(2**31)), rounded).otherwise(rounded + F.lit(2**32)).cast("int")
    if source_type == "long":
        rest, least = F.pmod(source, F.lit(width).cast("bigint")), F.lit(-(2**63))
        wrapped = (source - least) + (F.lit(2**63 - 1) - (rest - F.lit(1)))
        return F.when(source >= least + rest, source - rest).when(source.isNotNull(), wrapped)
    decimal_type = _DECIMAL.fullmatch(source_type)
    if decimal_type is None or int(decimal_type[1]) + 1 > _MAX_PRECISION or len(str(width)) >= int(decimal_type[1]):
        return None
    precision, scale = int(decimal_type[1]), int(decimal_type[2])
    step = F.lit(decimal.Decimal(width).scaleb(-scale)).cast(f"decimal({precision},{scale})")
    return (source - F.pmod(source, step)).cast(f"decimal({precision},{scale})")
