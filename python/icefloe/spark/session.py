"""The active session, and session settings for the duration of a block.

This package works over Spark Connect: it uses neither ``sparkContext`` nor RDDs, and the JVM gateway only where there is one.
"""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

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
_KEYS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""The id of each Python object of a session; asking the JVM takes a round trip."""


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
    key = _KEYS.get(spark)
    if key is None:
        remote = getattr(spark, "session_id", None)
        key = str(spark._jsparkSession.sessionUUID() if remote is None else remote)  # noqa: SLF001 - it has no public name
        _KEYS[spark] = key
    return key


def default_parallelism(spark: Any) -> int:
    """Return the number of tasks that Spark divides rows of its own into: its cores, or `spark.sql.leafNodeDefaultParallelism`."""
    count: int = spark.sql(_PARTITIONS_OF_A_RANGE).first()[0]
    return count


class _Overrides:
    """The settings of one session that blocks have set, in all threads that use the session."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._before: dict[str, str | None] = {}
        self._blocks: dict[object, dict[str, str]] = {}

    def enter(self, spark: Any, block: object, values: dict[str, str]) -> None:
        """Set the values of a block."""
        with self._lock:
            self._before.update({key: spark.conf.get(key, None) for key in values if key not in self._before})
            self._blocks[block] = values
            for key, value in values.items():
                spark.conf.set(key, value)

    def lasting(self, spark: Any, key: str, default: str) -> str | None:
        """Return the value of a setting that no block has set; None if a block has set it."""
        with self._lock:
            return None if key in self._before else str(spark.conf.get(key, default))

    def leave(self, spark: Any, block: object) -> None:
        """Give each setting of a block the value of the block that last set it and has not ended, else the value before all blocks."""
        with self._lock:
            ended = self._blocks.pop(block, {})
            restored = {}
            for key in ended:
                others = [values[key] for values in self._blocks.values() if key in values]
                restored[key] = others[-1] if others else self._before.pop(key)
            for key, value in restored.items():
                if value is None:
                    spark.conf.unset(key)
                else:
                    spark.conf.set(key, value)


_OVERRIDES: WeakValueDictionary[str, _Overrides] = WeakValueDictionary()
_OVERRIDES_LOCK = Lock()


def _overrides_of(spark: Any) -> _Overrides:
    with _OVERRIDES_LOCK:
        return _OVERRIDES.setdefault(session_key(spark), _Overrides())


def lasting_setting(spark: Any, key: str, default: str) -> str | None:
    """Return the value of a session setting; None within a block of :func:`settings` for it, which may end at any moment in another thread.

    Args:
        spark: Session.
        key: Key of the setting.
        default: Result where the session has no value.
    """
    return _overrides_of(spark).lasting(spark, key, default)


@contextmanager
def settings(spark: Any, values: dict[str, str]) -> Iterator[None]:
    """Set session settings for the duration of a block, and restore the old values afterwards, also after an error.

    Blocks of several threads may overlap: a setting has the value of the block that set it last and has not ended, and its old value
    after the last of them. So a block may run under the value of another block: different values of a setting must lead to the same
    rows, as sizes of shuffle partitions do, or all blocks must set the same value. A value that other code sets during a block is lost
    at the end of the block.

    Examples:
        >>> with settings(spark, {"spark.sql.shuffle.partitions": "3"}):
        ...     spark.conf.get("spark.sql.shuffle.partitions")
        '3'
    """
    overrides, block = _overrides_of(spark), object()
    try:
        overrides.enter(spark, block, values)
        yield
    finally:
        overrides.leave(spark, block)
