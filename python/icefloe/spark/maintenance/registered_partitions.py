"""The partitions that Spark's own catalog has of a table of files, which may be fewer than its directories, or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa
from pyspark.errors import AnalysisException

from icefloe.table.write.given_partitions import GivenPartition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from icefloe.io import FileIO

_NULL = "__HIVE_DEFAULT_PARTITION__"
_DETAILS = "# Detailed Partition Information"


@dataclass(frozen=True)
class RegisteredPartition:
    """A partition of a table of files.

    Attributes:
        name: Its name as Spark writes directories, such as `day=2026-11-01/kind=a%2Fb`.
        location: The directory of its files.
    """

    name: str
    location: str

    @property
    def values(self) -> dict[str, str]:
        """Texts of the values by the names of the columns; that of null is Hive's."""
        return _values(self.name)

    def is_within(self, root: str) -> bool:
        """Return whether the directory is that which Spark makes for the partition in the table's directory."""
        return self.location.rstrip("/") == f"{root.rstrip('/')}/{self.name}"

    def files(self, io: FileIO) -> GivenPartition:
        """Return the files in the directory of the partition, without hidden ones and files of directories within it."""
        listed = pa.Table.from_batches([io.core.list(f"{self.location.rstrip('/')}/")]).select(["location", "size"])
        below = len(self.location.rstrip("/")) + 1
        names = [one[below:] for one in listed.column("location").to_pylist()]
        own = pa.array([not name.startswith(("_", ".")) and "/" not in name for name in names], pa.bool_())
        return GivenPartition(self.values, listed.filter(own).sort_by("location"))


def registered_partitions(
    spark: Any, table: str, partition_filter: Mapping[str, str]
) -> tuple[RegisteredPartition, ...] | None:
    """Return the partitions of a partitioned table that a filter chooses; None for a table whose partitions are its directories.

    Args:
        spark: Session.
        table: Name of the table, quoted for SQL.
        partition_filter: Texts of the values of some partition columns, by names in any case; empty for all partitions.
    """
    try:
        names = [row[0] for row in spark.sql(f"SHOW PARTITIONS {table}").collect()]
    except AnalysisException:  # spark.sql.hive.manageFilesourcePartitions=false when the table was created
        return None
    # Each location takes a statement of its own.
    return tuple(
        RegisteredPartition(name, _location(spark, table, name)) for name in names if _meets(name, partition_filter)
    )


def _values(name: str) -> dict[str, str]:
    pairs = (level.split("=", 1) for level in name.split("/"))
    return {unquote(column): unquote(value) for column, value in pairs}


def _meets(name: str, partition_filter: Mapping[str, str]) -> bool:
    values = {column.lower(): value for column, value in _values(name).items()}
    return all(values.get(column.lower()) == value for column, value in partition_filter.items())


def _location(spark: Any, table: str, name: str) -> str:
    levels = _values(name).items()
    spec = ", ".join(f"`{column.replace('`', '``')}` = {_literal(value)}" for column, value in levels)
    rows = spark.sql(f"DESCRIBE TABLE EXTENDED {table} PARTITION ({spec})").collect()
    names = [row[0] for row in rows]
    location: str = rows[names.index("Location", names.index(_DETAILS))][1]
    return location


def _literal(value: str) -> str:
    if value == _NULL:
        return "NULL"
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
