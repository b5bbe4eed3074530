"""The changes of snapshots as a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import InputPartition

from icefloe.arguments import checked_names, checked_snapshot_id, checked_time_ms
from icefloe.spark.arguments import checked_table
from icefloe.spark.reader.numbered_tasks import frame_of_tasks
from icefloe.spark.reader.read_task import exact
from icefloe.spark.session import active_session
from icefloe.spark.types.to_spark import read_schema
from icefloe.spark.worker_process import reduce_fixed_costs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.scan import ChangeGroup, IncrementalChangelogScan


@dataclass(frozen=True)
class ChangeTask(InputPartition):
    """The changes that one Spark task reads.

    Credentials are in the task instead of in options because plans and logs show options.

    Args:
        group: The changes.
    """

    group: ChangeGroup

    def batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the rows.

        Args:
            schema: Arrow schema of the columns that Spark expects, in any order; their types are those of the changes.
        """
        reduce_fixed_costs()
        for batch in self.group.read():
            yield exact(batch, schema)


def change_tasks(scan: IncrementalChangelogScan) -> list[ChangeTask]:
    """Plan a changelog scan and return its tasks."""
    return [ChangeTask(group) for group in scan.plan_tasks()]


def changes(  # noqa: PLR0913  all but the first have defaults
    table: Table,
    *,
    spark: Any = None,
    start_snapshot_id: int | None = None,
    end_snapshot_id: int | None = None,
    start_timestamp: int | None = None,
    end_timestamp: int | None = None,
    columns: Sequence[str] | None = None,
    filter: str | BooleanExpression | None = None,  # noqa: A002  what everyone calls it
    compute_updates: bool = False,
    identifier_columns: Sequence[str] | None = None,
    net_changes: bool = False,
) -> DataFrame:
    """Return the rows that snapshots inserted and deleted, as ``create_changelog_view`` of the Java runtime does.

    After the table's columns come ``_change_type`` (``INSERT``, ``DELETE``, ``UPDATE_BEFORE``, ``UPDATE_AFTER``),
    ``_change_ordinal`` (number of the snapshot, from 0) and ``_commit_snapshot_id``. Rows that a rewrite moved to other files are
    no changes. The changes are planned here. One Spark task reads a snapshot, or a partition of a snapshot that rewrites files;
    with ``net_changes`` one task reads all.

    Args:
        table: Table.
        spark: Session; the active one if None.
        start_snapshot_id: Read the snapshots after this one; None for the beginning of the history.
        end_snapshot_id: Last snapshot to read; None for the current one.
        start_timestamp: In place of ``start_snapshot_id``: read the snapshots after this time, in milliseconds since the epoch.
        end_timestamp: In place of ``end_snapshot_id``: read the snapshots up to this time.
        columns: Names of the table's columns to return; all if None.
        filter: Filter of the change rows, as text or expression. Rows for which it is null are left out.
        compute_updates: Report a delete and an insert of the same row in one snapshot as an update.
        identifier_columns: Columns that identify a row for ``compute_updates``; the schema's identifier fields if None.
        net_changes: Leave out changes of different snapshots that cancel each other.

    Raises:
        ValidationError: There is no session, a snapshot does not exist, or the start is no ancestor of the end, or an argument has
            another type.
        ResolveError: A column does not exist.

    Examples:
        >>> changed = icefloe.spark.changes(table, columns=["id"], compute_updates=True, identifier_columns=["id"])
        >>> changed.groupBy("_change_type").count().collect()
        [Row(_change_type='INSERT', count=3)]
    """
    checked_table("changes", table)
    session = active_session(spark)
    scan = table.incremental_changelog_scan(
        from_snapshot_id_exclusive=(
            None if start_snapshot_id is None else checked_snapshot_id(start_snapshot_id, "start_snapshot_id")
        ),
        to_snapshot_id_inclusive=(
            None if end_snapshot_id is None else checked_snapshot_id(end_snapshot_id, "end_snapshot_id")
        ),
        compute_updates=compute_updates,
        identifier_columns=(
            None if identifier_columns is None else checked_names("identifier_columns", identifier_columns)
        ),
        net_changes=net_changes,
    )
    if end_timestamp is not None:
        scan = scan.to_timestamp(int(checked_time_ms("end_timestamp", end_timestamp)))
    if start_timestamp is not None:
        scan = scan.from_timestamp(int(checked_time_ms("start_timestamp", start_timestamp)))
    if columns is not None:
        scan = scan.select(*checked_names("columns", columns))
    if filter is not None:
        scan = scan.filter(filter)
    return changes_frame(session, scan)


def changes_frame(spark: Any, scan: IncrementalChangelogScan) -> DataFrame:
    """Return the rows of a changelog scan.

    Args:
        spark: Session.
        scan: The scan.
    """
    frame = frame_of_tasks(spark, change_tasks(scan), read_schema(scan.changes_json()))
    return frame if scan.limit is None else frame.limit(scan.limit)
