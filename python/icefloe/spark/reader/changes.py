"""What snapshots changed, as a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import InputPartition

from icefloe.spark.reader.read_task import exact
from icefloe.spark.session import active_session
from icefloe.spark.types.to_spark import to_arrow_schema, to_spark_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.scan import ChangeGroup, IncrementalChangelogScan


@dataclass(frozen=True)
class ChangeTask(InputPartition):
    """Changes that one Spark task reads; credentials travel in here and not in options, which show up in plans and logs.

    Args:
        group: The changes.
        schema: Schema JSON of their rows.
    """

    group: ChangeGroup
    schema: str

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in exactly the Arrow schema that Spark demands."""
        schema = to_arrow_schema(self.schema)
        for batch in self.group.read():
            yield exact(batch, schema)


@dataclass(frozen=True)
class ReadChanges:
    """Reads the tasks whose numbers arrive; for ``DataFrame.mapInArrow`` over a range of those numbers."""

    tasks: tuple[ChangeTask, ...]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of each task that is asked for."""
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self.tasks[number].batches()


def change_tasks(scan: IncrementalChangelogScan) -> list[ChangeTask]:
    """Plan a changelog and return what its readers do."""
    schema = scan.changes_json()
    return [ChangeTask(group, schema) for group in scan.plan_tasks()]


def changes(  # noqa: PLR0913  the ways of telling changes are many
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
    """Return the rows that snapshots inserted and deleted, as ``create_changelog_view`` of the Java runtime shows them.

    Beside the table's columns there are ``_change_type`` (``INSERT``, ``DELETE``, ``UPDATE_BEFORE``, ``UPDATE_AFTER``),
    ``_change_ordinal`` (number of the snapshot, from 0) and ``_commit_snapshot_id``; rows that were only moved to other files are
    left out. The changes are planned here. Each snapshot, and in one that rewrites files each partition, is read by a Spark task of its
    own; with ``net_changes`` one task reads all.

    Args:
        table: Table.
        spark: Session; the active one if None.
        start_snapshot_id: The last snapshot that is known already; None for the beginning of the history.
        end_snapshot_id: The last snapshot to read; None for the current one.
        start_timestamp: Instead: read what came after this time, in milliseconds since the epoch.
        end_timestamp: Instead: read up to this time.
        columns: Names of the columns to return; all if None. Those that tell the change come after them.
        filter: Which rows, as text or expression.
        compute_updates: Whether a deletion and an insertion of the same row in one snapshot are told as an update.
        identifier_columns: The columns that tell which row that is; the schema's identifier fields if None.
        net_changes: Whether changes of different snapshots that undo each other are left out.

    Raises:
        ValidationError: No session, a snapshot that is not known, or one that is no ancestor of the other.

    Example:
        >>> changed = icefloe.spark.changes(table, start_snapshot_id=seen, compute_updates=True)      # doctest: +SKIP
        >>> changed.groupBy("_change_type").count().show()                                             # doctest: +SKIP
    """
    session = active_session(spark)
    scan = table.incremental_changelog_scan(
        from_snapshot_id_exclusive=start_snapshot_id,
        to_snapshot_id_inclusive=end_snapshot_id,
        compute_updates=compute_updates,
        identifier_columns=None if identifier_columns is None else tuple(identifier_columns),
        net_changes=net_changes,
    )
    if end_timestamp is not None:
        scan = scan.to_timestamp(end_timestamp)
    if start_timestamp is not None:
        scan = scan.from_timestamp(start_timestamp)
    if columns is not None:
        scan = scan.select(*columns)
    if filter is not None:
        scan = scan.filter(filter)
    return changes_frame(session, scan)


def changes_frame(spark: Any, scan: IncrementalChangelogScan) -> DataFrame:
    """Return the rows of a changelog scan.

    Args:
        spark: Session.
        scan: The scan.
    """
    tasks = tuple(change_tasks(scan))
    struct = to_spark_schema(scan.changes_json())
    if not tasks:
        empty: DataFrame = spark.createDataFrame([], struct)
        return empty
    frame: DataFrame = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(ReadChanges(tasks), struct)
    return frame if scan.limit is None else frame.limit(scan.limit)
