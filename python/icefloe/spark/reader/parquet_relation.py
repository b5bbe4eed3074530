"""A relation of given files in Spark's own Parquet reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.spark.session import is_connect, lasting_setting, settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

_SOURCES = "spark.sql.sources.useV1SourceList"
_PARALLELISM = {"spark.sql.sources.parallelPartitionDiscovery.parallelism": "4"}
# Spark lists up to this number of paths without a job, unless a session sets another one.
_PATHS_WITHOUT_JOB = 32
# Without the first two options Spark takes pattern characters in paths for patterns, and reads such files several times. Settings of
# the session, which the others override, would skip rows or shift days before 1582.
_OPTIONS = {
    "__globPaths__": "false",
    "recursiveFileLookup": "true",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
}
# Up to this number of paths, one call for each takes no longer than the calls that divide a text.
_MOST_CALLS = 4
_SEPARATOR = "\n"


def parquet_relation(spark: Any, struct: Any, paths: Sequence[str]) -> DataFrame:
    """Return the rows of Parquet files.

    Args:
        spark: Session.
        struct: ``StructType`` of the rows.
        paths: Locations of the files; without any, the relation is empty.
    """
    if not paths:
        empty: DataFrame = spark.createDataFrame([], struct)
        return empty
    with settings(spark, _discovery(spark, len(paths))):
        reader = spark.read.schema(struct).options(**_OPTIONS)
        if not is_connect(spark):
            return _classic_relation(spark, reader, paths)
        frame: DataFrame = reader.parquet(*paths)
        frame.schema  # noqa: B018  Spark Connect lists the files here, while the settings apply
    return frame


def _discovery(spark: Any, count: int) -> dict[str, str]:
    """Return the settings under which Spark lists files, without the ones that hold already.

    A value that the relation of another thread has set does not hold: it may end before Spark has listed the files.
    """
    sources = lasting_setting(spark, _SOURCES, "") or ""
    # Spark's other reader of Parquet has no _metadata column.
    is_listed = "parquet" in (name.strip().lower() for name in sources.split(","))
    return {**({} if is_listed else {_SOURCES: "parquet"}), **(_PARALLELISM if count > _PATHS_WITHOUT_JOB else {})}


def _classic_relation(spark: Any, reader: Any, paths: Sequence[str]) -> DataFrame:
    """Return a relation in a JVM that takes all paths in one call: PySpark takes one call for each."""
    if len(paths) <= _MOST_CALLS or any(_SEPARATOR in path for path in paths):
        few: DataFrame = reader.parquet(*paths)
        return few
    separator = getattr(spark._jvm, "java.util.regex.Pattern").compile(_SEPARATOR)  # noqa: SLF001 - no public name
    frame: DataFrame = reader._df(reader._jreader.parquet(separator.split(_SEPARATOR.join(paths))))  # noqa: SLF001
    return frame
