"""The commits of DELETE and UPDATE: rows that Spark has located in their data files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.spark.dml.row_changes import RowChanges
from icefloe.spark.reader.native import FILE, POSITION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icefloe.spark.dml.target import PlannedTarget
    from icefloe.table.row_level.merge import MergeResult


def delete_located(target: PlannedTarget, rows: DataFrame) -> MergeResult:
    """Delete rows in one snapshot.

    Args:
        target: The table.
        rows: Rows to delete, with ``__icefloe_file`` and ``__icefloe_pos``; computed once.

    Raises:
        ValidationException: A concurrent commit conflicts.
    """
    removed = rows.select(FILE, POSITION).persist()
    try:
        return RowChanges(target=target, removed=removed, only_updates=False).commit()
    finally:
        removed.unpersist()


def update_located(target: PlannedTarget, rows: DataFrame) -> MergeResult:
    """Replace rows by new versions in one snapshot.

    Args:
        target: The table.
        rows: New versions, with the table's columns and the ``__icefloe_file`` and ``__icefloe_pos`` of the old ones; computed once.

    Raises:
        SchemaMismatchError: A new row does not fit the table.
        ValidationException: A concurrent commit conflicts.
    """
    changed = rows.persist()
    try:
        removed, updated = changed.select(FILE, POSITION), changed.drop(FILE, POSITION)
        return RowChanges(target=target, removed=removed, updated=updated).commit()
    finally:
        changed.unpersist()
