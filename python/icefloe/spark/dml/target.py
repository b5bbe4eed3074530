"""The rows of a table that a MERGE, UPDATE or DELETE may change, planned for Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.expressions import AlwaysTrue
from icefloe.spark.reader.scan_choice import PlannedScan, plan_scan
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.wap import snapshot_destination
from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.table.row_level.row_commit import RowLevelOperation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.row_level.target import Target


@dataclass(frozen=True, kw_only=True)
class PlannedTarget:
    """The target of an operation at one snapshot, and the scan of the rows that the operation may change.

    Args:
        table: The table.
        target: The table's branch within the transaction of the operation.
        operation: ``merge``, ``update`` or ``delete``: the operation whose table properties apply.
        spark: Session.
        planned: Scan of the rows that may change.
    """

    table: Table
    target: Target
    operation: str
    spark: Any
    planned: PlannedScan

    @property
    def struct(self) -> Any:
        """The table's current schema as a Spark ``StructType``."""
        return to_spark_schema(self.table.schema())

    @property
    def merges_on_read(self) -> bool:
        """Whether the operation writes position deletes; it rewrites data files otherwise.

        Raises:
            ValidationError: The mode is unknown, or the table's format version has no delete files.
        """
        return self.target.merges_on_read(self.operation)

    def row_level_operation(self) -> RowLevelOperation:
        """Return the operation for the commit of its files."""
        row_filter = self.planned.scan.resolved_filter()
        return RowLevelOperation(target=self.target, name=self.operation, row_filter=row_filter)

    def plan_files(self, paths: pa.Array) -> PlannedScan:
        """Plan a scan of all rows and columns of some of the files."""
        scan = self.planned.scan.update(row_filter=AlwaysTrue(), selected_fields=("*",))
        return plan_scan(self.spark, scan, located=True, only=paths)


def plan_target(  # noqa: PLR0913  all but the first three have defaults
    spark: Any,
    table: Table,
    operation: str,
    *,
    branch: str | None = None,
    snapshot_properties: Mapping[str, str] | None = None,
    row_filter: str | BooleanExpression | None = None,
    columns: Sequence[str] | None = None,
    refresh: bool = True,
    filters_again: bool = False,
) -> PlannedTarget:
    """Refresh a table and plan the rows that an operation may change.

    Args:
        spark: Session.
        table: Table.
        operation: ``merge``, ``update`` or ``delete``.
        branch: Branch to read and commit to; main if None.
        snapshot_properties: Additional keys of the snapshot's summary.
        row_filter: Rows that may change; all rows if None.
        columns: Columns that the operation reads; all columns if None.
        refresh: Load the current version of the table; the loaded one is planned otherwise.
        filters_again: The operation evaluates the whole filter on the rows of the scan.

    Raises:
        ValidationError: The branch is a tag, or contradicts the session's settings for staging.
    """
    if refresh:
        table.refresh()
    destination = snapshot_destination(spark, table, branch, snapshot_properties or {})
    target = table.transaction().target(destination.branch, destination.snapshot_properties)
    scan = table.scan()
    read_branch = destination.branch
    if read_branch is not None and read_branch != MAIN and read_branch in table.metadata.refs:
        scan = scan.use_ref(read_branch)
    if row_filter is not None:
        scan = scan.filter(row_filter)
    if columns is not None:
        scan = scan.select(*columns)
    planned = plan_scan(spark, scan, located=True, filters_again=filters_again)
    return PlannedTarget(table=table, target=target, operation=operation, spark=spark, planned=planned)
