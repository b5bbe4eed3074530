"""Writing a DataFrame to a table: executors write data files, the driver makes one commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.spark.session import UNLIMITED_BATCH_BYTES, settings
from icefloe.spark.types.conform import conform
from icefloe.spark.writer.arrow_map import map_in_arrow, worker_errors
from icefloe.spark.writer.commit import (
    SNAPSHOT_PROPERTY,
    WriteMode,
    commit_files,
    overwrite_isolation,
    summary_properties,
)
from icefloe.spark.writer.distribution import SHUFFLE_SETTINGS, distribute
from icefloe.spark.writer.wap import snapshot_destination
from icefloe.spark.writer.write_task import RESULT_SCHEMA, collected, data_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from icefloe.table import Table

_MODES = ("append", "overwrite", "overwrite-partitions")
_OVERWRITE_OPTIONS = ("overwrite-filter", "isolation-level", "validate-from-snapshot-id")
_OPTIONS = ("check-nullability", "distribution-mode", *_OVERWRITE_OPTIONS, "case-sensitive", "branch")


def write(frame: DataFrame, table: Table, mode: WriteMode = "append", options: Mapping[str, str] | None = None) -> None:
    """Write a DataFrame's rows to a table in one snapshot.

    The rows are checked against the table's schema before a job runs, clustered by partition and sorted as the table's properties
    say, written by executors as Parquet, and committed here. If a task fails nothing is committed. An empty frame appends
    nothing and makes no snapshot. Where the table has ``write.wap.enabled`` and the session ``spark.wap.id``, the snapshot is
    staged.

    Args:
        frame: Rows. Columns are matched by name; a missing optional column is null in every row.
        table: Table, at the version that an overwrite replaces rows of. It shows the new version after the commit.
        mode: ``append``; ``overwrite`` replaces all rows, or the rows that match the option ``overwrite-filter``;
            ``overwrite-partitions`` replaces the partitions that the rows belong to.
        options: Write options:

            - ``check-nullability``: ``true`` refuses a nullable column for a required one before a job runs. With ``false``, the
              default, rows are checked while they are written, and nothing is committed if a required value is null.
            - ``distribution-mode``: ``none``, ``hash`` or ``range``, in place of ``write.distribution-mode``.
            - ``overwrite-filter``: filter of the rows to replace, as text; ``case-sensitive``: ``false`` ignores case in its names.
            - ``isolation-level``: ``serializable`` fails if a concurrent commit added rows among the replaced ones, ``snapshot``
              does not; in place of ``write.delete.isolation-level``.
            - ``validate-from-snapshot-id``: check the commits after this snapshot instead of those after the version of ``table``.
            - ``branch``: branch to commit to.
            - ``snapshot-property.<key>``: additional key of the snapshot's summary.

    Raises:
        SchemaMismatchError: The rows do not fit the table.
        ValidationError: Unknown mode or option.
        CommitFailedException: Concurrent commits won every retry; the table is unchanged and the new files are deleted.
        ValidationException: A concurrent commit changed rows that an overwrite replaces; likewise.

    Examples:
        >>> frame = spark.createDataFrame([(4, "d"), (5, "e")], "id long, name string")
        >>> icefloe.spark.write(frame, table)
        >>> icefloe.spark.write(frame.where("id = 4"), table, "overwrite", {"overwrite-filter": "id > 3"})
        >>> icefloe.spark.read(table).count()
        4
    """
    checked = checked_options(mode, options)
    destination = snapshot_destination(frame.sparkSession, table, checked.get("branch"), summary_properties(checked))
    isolation = overwrite_isolation(table, checked)
    files = write_files(frame, table, checked)
    commit_files(table, files, mode, checked, destination=destination, isolation=isolation)


def write_files(frame: DataFrame, table: Table, options: Mapping[str, str]) -> pa.RecordBatch | None:
    """Write a frame's rows as data files without a commit; return their DataFile columns, None if there are no rows."""
    check_nullability = options.get("check-nullability", "false") == "true"
    rows = distribute(
        conform(frame, table.schema(), check_nullability=check_nullability), table, options.get("distribution-mode")
    )
    task = data_task(table, presorted=rows.presorted)
    with settings(frame.sparkSession, {**UNLIMITED_BATCH_BYTES, **SHUFFLE_SETTINGS}), worker_errors():
        results = map_in_arrow(rows.frame, task, RESULT_SCHEMA).collect()
    return collected([row["files"] for row in results])


def checked_options(mode: str, options: Mapping[str, str] | None) -> dict[str, str]:
    """Return write options with lower-case keys.

    Raises:
        ValidationError: The mode or an option is unknown, or an option does not apply to the mode.
    """
    if mode not in _MODES:
        raise ValidationError(f"write: unknown mode; expected {', '.join(_MODES[:-1])} or {_MODES[-1]}, got {mode!r}")
    checked = {key.lower(): str(value) for key, value in (options or {}).items()}
    unknown = [key for key in checked if key not in _OPTIONS and not key.startswith(SNAPSHOT_PROPERTY)]
    if unknown:
        raise ValidationError(
            f"write: unknown option; expected {', '.join(_OPTIONS)} or {SNAPSHOT_PROPERTY}<key>, got {unknown[0]!r}"
        )
    if "overwrite-filter" in checked and mode != "overwrite":
        raise ValidationError(f"option overwrite-filter: expected mode overwrite, got mode {mode}")
    misplaced = [key for key in _OVERWRITE_OPTIONS if key in checked and mode == "append"]
    if misplaced:
        raise ValidationError(
            f"option {misplaced[0]}: expected mode overwrite or overwrite-partitions, got mode append, which replaces no rows"
        )
    return checked
