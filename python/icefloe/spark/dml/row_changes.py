"""The rows that an operation removes and adds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from icefloe.spark.reader.scan_choice import plan_scan
from icefloe.table.scan.plan import has_deletes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.target import PlannedTarget


@dataclass(frozen=True, kw_only=True)
class RowChanges:
    """The changes of an operation.

    Args:
        target: The table.
        removed: Positions of deleted and updated rows, ``__icefloe_file`` and ``__icefloe_pos``; None if there are none.
        deleted: The positions of ``removed`` without a new version; None if there are none, or ``updated`` is None.
        updated: New versions of the updated rows, with the table's columns and the positions of the old ones.
        inserted: Rows to add, with the table's columns.
        whole_files: Paths of data files to remove whole.
        whole_file_rows: Number of rows in these files.
        only_updates: Every removed row has a new version in ``updated``.
        keeps_partitions: New versions are in the same partitions as the old ones.
        removes_scan: The operation removes the rows of the target's scan, and ``removed`` is None.
    """

    target: PlannedTarget
    removed: DataFrame | None = None
    deleted: DataFrame | None = None
    updated: DataFrame | None = None
    inserted: DataFrame | None = None
    whole_files: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    whole_file_rows: int = 0
    only_updates: bool = True
    keeps_partitions: bool = False
    removes_scan: bool = False

    @staticmethod
    def deleting(target: PlannedTarget) -> RowChanges:
        """Return the deletion of all rows of a target's scan."""
        files = target.planned.plan.files
        whole = pc.fill_null(files.column("must_match"), False)
        whole = pc.and_(whole, pc.invert(has_deletes(files)))
        whole_files = files.column("file_path").filter(whole)
        partial = files.column("file_path").filter(pc.invert(whole))
        if len(partial) > 0 and len(whole_files) > 0:
            planned = plan_scan(target.spark, target.planned.scan, located=True, only=partial)
            target = replace(target, planned=planned)
        rows = pc.sum(files.column("record_count").filter(whole)).as_py() or 0
        return RowChanges(
            target=target,
            whole_files=whole_files,
            whole_file_rows=rows,
            only_updates=False,
            removes_scan=len(partial) > 0,
        )
