"""Iceberg's partition transforms as Spark columns.

Where a built-in Spark expression gives exactly Iceberg's value it is used (it runs at some 80 million values a second);
otherwise the Rust kernels run in an Arrow UDF. Which of the two depends on the source type. Spark's analysis finds integers, dates and
timestamps by itself; for other built-in ones give ``source_type``, an Iceberg type name, or use :func:`transform`, which finds it in
a DataFrame's schema.

    >>> from icefloe.spark import functions as ice
    >>> frame.select(ice.bucket(16, "id"))                               # doctest: +SKIP
    >>> frame.select(ice.transform(frame, "truncate[4]", "name"))        # doctest: +SKIP

A column given by name is called after its transform: ``bucket(16, id)``. Results do not depend on the session's time zone.
Null in, null out. Spec: Partition Transforms, Appendix B.
"""

from __future__ import annotations

import decimal
import re
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from icefloe.exceptions import ValidationError
from icefloe.spark.transform_udf import rust_transform
from icefloe.spark.types.to_spark import to_spark_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_PARAMETER = re.compile(r"(bucket|truncate)\[(\d+)\]")
_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")
# Spark's murmur3 chains seeds: the hash of this int under Spark's fixed seed 42 is 0, the seed that Iceberg uses.
_INT_THAT_HASHES_TO_ZERO = -1693959553
_TEMPORAL = ("year", "month", "day", "hour")
_TIMESTAMPS = ("timestamp", "timestamptz")
_SMALL_INTEGERS = ("tinyint", "smallint", "int")
_MICROS_PER_DAY = 86_400_000_000
_MAX_PRECISION = 38


def bucket(num_buckets: int, col: Column | str, *, source_type: str | None = None) -> Column:
    """Return ``bucket[num_buckets]``: int in ``0..num_buckets``.

    Args:
        num_buckets: Number of buckets, in 1..=2**31 - 1.
        col: Source column.
        source_type: Iceberg type of the column; dates need no Python on executors if it is given, integers and timestamps
            never do.

    Raises:
        ValidationError: ``num_buckets`` is out of range.
    """
    _check_positive("num_buckets", num_buckets)
    return _named(f"bucket({num_buckets}, ", col, transform_column(f"bucket[{num_buckets}]", source_type, col))


def truncate(width: int, col: Column | str, *, source_type: str | None = None) -> Column:
    """Return ``truncate[width]``, of the source's type: code points of strings, bytes of binaries, multiples of numbers.

    Args:
        width: Width, in 1..=2**31 - 1; for decimals in units of the last digit.
        col: Source column.
        source_type: Iceberg type of the column, which the result shares.

    Raises:
        ValidationError: ``width`` is out of range or ``source_type`` is missing.
    """
    _check_positive("width", width)
    if source_type is None:
        raise ValidationError(
            f"truncate({width}, ...) returns its source's type: pass source_type=, or use transform(frame, ...)"
        )
    return _named(f"truncate({width}, ", col, transform_column(f"truncate[{width}]", source_type, col))


def years(col: Column | str, *, source_type: str | None = None) -> Column:
    """Return years from 1970 of a date or timestamp: int."""
    return _named("years(", col, transform_column("year", source_type, col))


def months(col: Column | str, *, source_type: str | None = None) -> Column:
    """Return months from January 1970 of a date or timestamp: int."""
    return _named("months(", col, transform_column("month", source_type, col))


def days(col: Column | str, *, source_type: str | None = None) -> Column:
    """Return the day of a date or timestamp: date."""
    return _named("days(", col, transform_column("day", source_type, col))


def hours(col: Column | str, *, source_type: str | None = None) -> Column:
    """Return hours from 1970-01-01 00:00 of a timestamp: int."""
    return _named("hours(", col, transform_column("hour", source_type, col))


def transform(frame: DataFrame, name: str, column: str) -> Column:
    """Return a transform, by its text, of a top-level column of a DataFrame; the source type is taken from its schema."""
    from icefloe.spark.types.from_spark import schema_from_spark

    field = schema_from_spark(frame.select(column).schema).fields[0]
    return _named(f"{name}(", column, transform_column(name, str(field.field_type), column))


def transform_column(name: str, source_type: str | None, col: Column | str) -> Column:
    """Return a transform of a column, built-in where that is exact.

    Args:
        name: ``identity``, ``bucket[N]``, ``truncate[W]``, ``year``, ``month``, ``day``, ``hour`` or ``void``.
        source_type: Iceberg type name; None for Spark to find out.
        col: Source column.

    Raises:
        ValidationError: No such transform.
    """
    source = F.col(col) if isinstance(col, str) else col
    if name == "identity":
        return source
    if name == "void":
        return F.lit(None).cast("int" if source_type is None else to_spark_type(source_type))
    if name not in _TEMPORAL and _PARAMETER.fullmatch(name) is None:
        raise ValidationError(f"{name!r} is no transform that Spark columns can be put through")
    if source_type is None:
        return _of_any_type(name, source)
    builtin = _built_in(name, source_type, source)
    return rust_transform(name, source_type, source) if builtin is None else builtin


def _named(call: str, col: Column | str, result: Column) -> Column:
    """Name a result as its call reads; a column that is itself an expression gives nothing short to go by."""
    return result.alias(f"{call}{col})") if isinstance(col, str) else result


def _of_any_type(name: str, source: Column) -> Column:
    """Return the built-in expression for the types where it passes analysis whatever the type is, else the Rust kernel.

    What a column's type is folds to a constant, so that one of the branches remains in the plan.
    """
    column = rust_transform(name, None, source)
    for source_type in ("date", *_TIMESTAMPS) if name in _TEMPORAL else ("long", *_TIMESTAMPS):
        spark_type = to_spark_type(source_type)
        # The cast changes nothing in the branch that remains, and has the others pass analysis.
        builtin = _built_in(name, source_type, source.cast(spark_type) if name in _TEMPORAL else source)
        if builtin is not None:
            column = F.when(F.typeof(source) == F.lit(spark_type.simpleString()), builtin).otherwise(column)
    if name.startswith("bucket["):
        # Every type has a cast to text, and text one to int; so ints pass analysis whatever the type is, and Spark 4.0 need not
        # hand those with nulls to pandas, which makes doubles of them.
        builtin = _built_in(name, "int", source.cast("string").cast("int"))
        column = F.when(F.typeof(source).isin(*_SMALL_INTEGERS), builtin).otherwise(column)
    return column


def _built_in(name: str, source_type: str, source: Column) -> Column | None:
    """Return the equal Spark expression, None if there is none."""
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
        date = source.cast("date")  # the local date: a timestamp without zone has no other
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
    """Return the floor of a division as int; Spark's ``div`` rounds towards zero."""
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


def _check_positive(argument: str, value: int) -> None:
    if not 1 <= value < 2**31:
        raise ValidationError(f"{argument} must be in 1..=2147483647, got {value}")
