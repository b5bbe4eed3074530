"""The table that rows are changed in, and the snapshot of it that the change rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import FeatureUnsupportedError
from icefloe.expressions import AlwaysTrue
from icefloe.spark.reader.scan_choice import PlannedScan, plan_scan
from icefloe.spark.types.to_spark import to_spark_schema
from icefloe.spark.writer.wap import staged_as
from icefloe.table.commit.snapshot_producer import check_branch
from icefloe.table.write.isolation import is_merge_on_read, is_serializable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from icefloe.expressions import BooleanExpression
    from icefloe.table import Table
    from icefloe.table.scan import TableScan


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is changed.

    Args:
        table: The table.
        operation: ``merge``, ``update`` or ``delete``, whose properties apply.
        branch: Branch to read and commit to; None for main.
        snapshot_properties: More keys of the snapshot's summary.
    """

    table: Table
    operation: str
    branch: str | None
    snapshot_properties: dict[str, str] = field(default_factory=dict)

    def pinned(
        self, spark: Any, *, row_filter: str | BooleanExpression | None = None, columns: Sequence[str] | None = None
    ) -> PinnedTarget:
        """Return the table as it is now, planned.

        Args:
            spark: Session.
            row_filter: Which rows may change, None for any.
            columns: Columns that the change looks at, None for all.
        """
        self.table.refresh()
        check_branch(self.table.metadata, self.branch)
        staged_as(spark, self.table, self.branch)
        scan = self._scan()
        if row_filter is not None:
            scan = scan.filter(row_filter)
        snapshot = scan.snapshot()
        if columns is not None:
            scan = scan.select(*columns)
        return PinnedTarget(
            target=self,
            spark=spark,
            planned=plan_scan(spark, scan, located=True),
            snapshot_id=None if snapshot is None else snapshot.snapshot_id,
        )

    def _scan(self) -> TableScan:
        scan = self.table.scan()
        if self.branch is not None and self.branch in self.table.metadata.refs:
            return scan.use_ref(self.branch)
        return scan


@dataclass(frozen=True, kw_only=True)
class PinnedTarget:
    """A target at one snapshot.

    Args:
        target: What is changed.
        spark: Session.
        planned: Scan of the rows that may change.
        snapshot_id: The snapshot; None if the table has none.
    """

    target: Target
    spark: Any
    planned: PlannedScan
    snapshot_id: int | None

    @property
    def table(self) -> Table:
        """The table."""
        return self.target.table

    def struct(self) -> Any:
        """Return the table's current schema in Spark."""
        return to_spark_schema(self.table.schema())

    def merges_on_read(self) -> bool:
        """Return whether deleted rows are recorded in delete files; otherwise their files are rewritten.

        Raises:
            FeatureUnsupportedError: The table has no delete files in its format version.
        """
        on_read = is_merge_on_read(self.table.properties, self.target.operation)
        if on_read and self.table.metadata.format_version < 2:
            raise FeatureUnsupportedError(
                f"write.{self.target.operation}.mode=merge-on-read needs format version 2: upgrade the table or use copy-on-write"
            )
        return on_read

    def checked(self, change: Any) -> Any:
        """Return a change that asks for the checks which the table's isolation level calls for."""
        read = self.planned.scan.resolved_filter()
        change = change.validate_from_snapshot(self.snapshot_id).conflict_detection_filter(read)
        change = change.validate_no_conflicting_deletes()
        if is_serializable(self.table.properties, self.target.operation):
            change = change.validate_no_conflicting_data()
        return change

    def only_files(self, paths: pa.Array) -> PlannedScan:
        """Return a scan of all rows and columns of some of the files."""
        scan = self.planned.scan.update(row_filter=AlwaysTrue(), selected_fields=("*",))
        return plan_scan(self.spark, scan, located=True, only=paths)
