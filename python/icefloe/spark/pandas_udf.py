"""Iceberg's partition transforms as pandas UDFs, for pipelines that are built of them.

Each function returns a UDF of one column, whose result is null where the source is null. pandas holds integers with nulls as doubles, so
values from 2**53 beside nulls are refused, and it gets timestamps without their zone, so only ``timestamp_ntz`` columns are accepted, with
``source_type="timestamp"``: otherwise use Arrow UDFs or :mod:`icefloe.spark.functions`.
"""

from __future__ import annotations

from typing import Any

from icefloe.spark.transform_udf import check_parameter, pandas_udf_of


def bucket(num_buckets: int, source_type: str | None = None) -> Any:
    """Return ``bucket[num_buckets]`` as a UDF with a result of type int.

    Args:
        num_buckets: Number of buckets, in 1..=2**31 - 1.
        source_type: Iceberg type of the column; needed for ``uuid`` (text in Spark), else the type of the values.

    Raises:
        ValidationError: ``num_buckets`` is out of range.

    Examples:
        >>> bucket_16 = icefloe.spark.functions.pandas_udf.bucket(16)
        >>> spark.range(34, 35).select(bucket_16("id").alias("bucket")).collect()
        [Row(bucket=3)]
    """
    check_parameter("num_buckets", num_buckets)
    return pandas_udf_of(f"bucket[{num_buckets}]", source_type)


def truncate(width: int, source_type: str) -> Any:
    """Return ``truncate[width]`` as a UDF with a result of the source's type.

    Args:
        width: Width, in 1..=2**31 - 1.
        source_type: Iceberg type of the column.

    Raises:
        ValidationError: ``width`` is out of range.
    """
    check_parameter("width", width)
    return pandas_udf_of(f"truncate[{width}]", source_type)


def years(source_type: str | None = None) -> Any:
    """Return the transform ``year`` as a UDF with a result of type int."""
    return pandas_udf_of("year", source_type)


def months(source_type: str | None = None) -> Any:
    """Return the transform ``month`` as a UDF with a result of type int."""
    return pandas_udf_of("month", source_type)


def days(source_type: str | None = None) -> Any:
    """Return the transform ``day`` as a UDF with a result of type date."""
    return pandas_udf_of("day", source_type)


def hours(source_type: str | None = None) -> Any:
    """Return the transform ``hour`` as a UDF with a result of type int."""
    return pandas_udf_of("hour", source_type)
