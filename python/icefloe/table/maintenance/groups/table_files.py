"""Scans of the files that maintenance reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from icefloe.expressions.tree import AlwaysTrue
from icefloe.table.scan.data_scan import DataScan

if TYPE_CHECKING:
    from icefloe.expressions import BooleanExpression
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.scan.plan import ScanPlan

_EVERYTHING = AlwaysTrue()


def whole_files(
    table: Any,
    metadata: TableMetadata,
    snapshot_id: int | None,
    row_filter: str | BooleanExpression = _EVERYTHING,
) -> ScanPlan:
    """Return the plan of whole files of a branch's snapshot, with the table's current schema."""
    scan = DataScan(
        metadata,
        table.io,
        row_filter=row_filter,
        snapshot_id=snapshot_id,
        ref_is_branch=True,
        table_name=".".join(table.name()),
    )
    return scan.plan_whole_files()
