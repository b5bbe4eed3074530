"""The active session, and session settings for the duration of a block.

This package works over Spark Connect: it uses neither ``sparkContext`` nor RDDs, and the JVM gateway only where there is one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTITIONS_OF_A_RANGE = "SELECT count(DISTINCT id) FROM (SELECT spark_partition_id() AS id FROM range(65536))"
"""The range has more rows than a cluster has cores. In classic sessions, DataFrames of `range` disregard the setting of parallelism."""

CASE_SENSITIVE = "spark.sql.caseSensitive"
"""The setting under which names that differ in case alone are different names."""
UNLIMITED_BATCH_BYTES = {"spark.sql.execution.arrow.maxBytesPerBatch": "2147483647"}
"""With this limit Spark omits a size check for each row, which takes half of the time of a write."""


def active_session(spark: Any = None) -> Any:
    """Return the given session, else the active one of this thread, else the default one of the process.

    Raises:
        ValidationError: No session is given and there is none, or the value is no session.
    """
    if spark is not None:
        if not (hasattr(spark, "sql") and hasattr(spark, "conf")):
            raise ValidationError(f"spark: expected a SparkSession, got {spark!r}")
        return spark
    try:
        # Only the thread that made a session has it as the active one.
        return SparkSession.active()
    except PySparkRuntimeError as error:
        raise ValidationError(
            "spark: no session is active; expected an active SparkSession or spark=session, got None"
        ) from error


def is_connect(spark: Any) -> bool:
    """Return whether a session is one of Spark Connect."""
    return getattr(spark, "session_id", None) is not None


def is_case_sensitive(spark: Any) -> bool:
    """Return whether a session distinguishes names of columns by case."""
    return bool(spark.conf.get(CASE_SENSITIVE, "false") == "true")


def current_user(spark: Any) -> str:
    """Return the name of the user who runs the statements of a session."""
    name: str = spark.sql("SELECT current_user()").first()[0]
    return name


def session_key(spark: Any) -> str:
    """Return the id of a session, the same for all Python objects of the session."""
    remote = getattr(spark, "session_id", None)
    return str(spark._jsparkSession.sessionUUID() if remote is None else remote)  # noqa: SLF001 - it has no public name


def default_parallelism(spark: Any) -> int:
    """Return the number of tasks that Spark divides rows of its own into: its cores, or `spark.sql.leafNodeDefaultParallelism`."""
    count: int = spark.sql(_PARTITIONS_OF_A_RANGE).first()[0]
    return count


@contextmanager
def settings(spark: Any, values: dict[str, str]) -> Iterator[None]:
    """Set session settings for the duration of a block, and restore the old values afterwards, also after an error.

    Examples:
        >>> with settings(spark, {"spark.sql.shuffle.partitions": "3"}):
        ...     spark.conf.get("spark.sql.shuffle.partitions")
        '3'
    """
    before = {key: spark.conf.get(key, None) for key in values}
    try:
        for key, value in values.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)
