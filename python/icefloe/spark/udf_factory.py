"""Factories of UDFs for Iceberg's partition transforms: all Arrow UDFs, or all pandas UDFs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.spark.transform_udf import check_parameter

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class TransformUdfs:
    """A factory of Arrow UDFs, or of pandas UDFs: ``functions.arrow_udf`` and ``functions.pandas_udf``.

    Each method returns a UDF of one column, whose result is null where the source is null. Spark has Arrow UDFs since 4.1. pandas
    holds integers with nulls as doubles, so pandas UDFs refuse values from 2**53 beside nulls, and it gets timestamps without their
    zone, so they accept only ``timestamp_ntz`` columns, with ``source_type="timestamp"``.

    Attributes:
        make: Returns a UDF for the text of a transform and the Iceberg type of its source, None for the type of the values.
    """

    make: Callable[[str, str | None], Any]

    def bucket(self, num_buckets: int, source_type: str | None = None) -> Any:
        """Return ``bucket[num_buckets]`` as a UDF with a result of type int.

        Args:
            num_buckets: Number of buckets, from 1 to 2**31 - 1.
            source_type: Iceberg type of the column; needed for ``uuid`` (text in Spark), else the type of the values.

        Raises:
            ValidationError: ``num_buckets`` is out of range.
            FeatureUnsupportedError: An Arrow UDF with a Spark older than 4.1.

        Examples:
            >>> bucket_16 = icefloe.spark.functions.pandas_udf.bucket(16)
            >>> spark.range(34, 35).select(bucket_16("id").alias("bucket")).collect()
            [Row(bucket=3)]
        """
        check_parameter("num_buckets", num_buckets)
        return self.make(f"bucket[{num_buckets}]", source_type)

    def truncate(self, width: int, source_type: str) -> Any:
        """Return ``truncate[width]`` as a UDF with a result of the source's type.

        Args:
            width: Width, from 1 to 2**31 - 1.
            source_type: Iceberg type of the column.

        Raises:
            ValidationError: ``width`` is out of range.
        """
        check_parameter("width", width)
        return self.make(f"truncate[{width}]", source_type)

    def years(self, source_type: str | None = None) -> Any:
        """Return the transform ``year`` as a UDF with a result of type int."""
        return self.make("year", source_type)

    def months(self, source_type: str | None = None) -> Any:
        """Return the transform ``month`` as a UDF with a result of type int."""
        return self.make("month", source_type)

    def days(self, source_type: str | None = None) -> Any:
        """Return the transform ``day`` as a UDF with a result of type date."""
        return self.make("day", source_type)

    def hours(self, source_type: str | None = None) -> Any:
        """Return the transform ``hour`` as a UDF with a result of type int."""
        return self.make("hour", source_type)
