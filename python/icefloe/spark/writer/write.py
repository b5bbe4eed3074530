"""Write a DataFrame to a table: executors write data files, the driver makes one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.spark.session import UNLIMITED_BATCH_BYTES, settings
from icefloe.spark.types.conform import conform
from icefloe.spark.writer.arrow_map import map_in_arrow
from icefloe.spark.writer.commit import SNAPSHOT_PROPERTY, WriteMode, commit_files, overwrite_isolation
from icefloe.spark.writer.distribution import SHUFFLE_SETTINGS, distribute
from icefloe.spark.writer.wap import staged_as
from icefloe.spark.writer.worker_errors import worker_errors
from icefloe.spark.writer.write_task import ANSWER_SCHEMA, collected, data_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from icefloe.table import Table

_OVERWRITE_OPTIONS = ("overwrite-filter", "isolation-level", "validate-from-snapshot-id")
_OPTIONS = ("check-nullability", "distribution-mode", *_OVERWRITE_OPTIONS, "case-sensitive", "branch")


def write(frame: DataFrame, table: Table, mode: WriteMode = "append", options: Mapping[str, str] | None = None) -> None:
    """Write a DataFrame's rows to a table in one snapshot.

    The rows are checked against the table's schema before anything runs, brought together by partition and sorted as the table
    asks, written by the executors as Parquet, and committed here. If any task fails nothing is committed. An empty frame appends
    nothing and makes no snapshot. Where the table has `write.wap.enabled` and the session `spark.wap.id`, the snapshot is staged.

    Args:
        frame: Rows; columns are matched by name, missing optional ones are null.
        table: Target, at the version that an overwrite replaces rows of. It shows the new version after the commit.
        mode: ``append``; ``overwrite`` replaces all rows, or those that match the option ``overwrite-filter``;
            ``overwrite-partitions`` replaces the partitions that the rows fall into.
        options: ``check-nullability`` (``false``: rows are checked for nulls in required columns while they are written, and
            nothing is committed if there is one; ``true``: a nullable column is refused for a required one before that),
            ``distribution-mode`` (``none``, ``hash``, ``range``, instead of ``write.distribution-mode``), ``overwrite-filter`` (a
            predicate as text) and ``case-sensitive`` (whether its names must match exactly, ``true``), ``isolation-level``
            (``serializable``: fail if others add rows among those that are replaced; ``snapshot``: do not; instead of
            ``write.delete.isolation-level``), ``validate-from-snapshot-id`` (others' commits after it count, instead of those after
            the version of ``table``), ``branch``, ``snapshot-property.<key>`` (goes to the snapshot's summary).

    Raises:
        SchemaMismatchError: The rows do not fit the table.
        ValidationError: Unknown mode or option.
        CommitFailedException: Others kept committing; nothing was changed and the new files are removed.
        ValidationException: Others changed what an overwrite replaces since ``table`` was loaded; likewise.

    Example:
        >>> icefloe.spark.write(spark.range(10), table)                              # doctest: +SKIP
        >>> icefloe.spark.write(frame, table, "overwrite", {"overwrite-filter": "day = '2026-01-01'"})  # doctest: +SKIP
    """
    settled = checked_options(mode, options)
    staged_as(frame.sparkSession, table, settled.get("branch"))
    isolation = overwrite_isolation(table, settled)
    files = write_files(frame, table, settled)
    commit_files(table, files, mode, settled, isolation=isolation, spark=frame.sparkSession)


def write_files(frame: DataFrame, table: Table, options: Mapping[str, str]) -> pa.RecordBatch | None:
    """Write a frame's rows as data files, uncommitted; return their DataFile columns, None if there are no rows."""
    spark = frame.sparkSession
    checked = conform(frame, table.schema(), check_nullability=options.get("check-nullability", "false") == "true")
    rows = distribute(checked, table, options.get("distribution-mode"))
    task = data_task(table, presorted=rows.presorted)
    with settings(spark, {**UNLIMITED_BATCH_BYTES, **SHUFFLE_SETTINGS}), worker_errors():
        answers = map_in_arrow(rows.frame, task, ANSWER_SCHEMA).collect()
    return collected([row["files"] for row in answers])


def checked_options(mode: str, options: Mapping[str, str] | None) -> dict[str, str]:
    """Return write options with lower-case keys.

    Raises:
        ValidationError: Unknown mode or option.
    """
    if mode not in ("append", "overwrite", "overwrite-partitions"):
        raise ValidationError(f"mode is append, overwrite or overwrite-partitions, not {mode!r}")
    settled = {key.lower(): str(value) for key, value in (options or {}).items()}
    unknown = [key for key in settled if key not in _OPTIONS and not key.startswith(SNAPSHOT_PROPERTY)]
    if unknown:
        raise ValidationError(
            f"Unknown write option {unknown[0]!r}; there are: {', '.join(_OPTIONS)}, {SNAPSHOT_PROPERTY}<key>"
        )
    if "overwrite-filter" in settled and mode != "overwrite":
        raise ValidationError("overwrite-filter needs mode overwrite")
    misplaced = [key for key in _OVERWRITE_OPTIONS if key in settled and mode == "append"]
    if misplaced:
        raise ValidationError(
            f"{misplaced[0]} needs mode overwrite or overwrite-partitions: an append replaces no rows"
        )
    return settled
