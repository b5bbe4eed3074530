"""The conflict checks that a table's isolation level requires of a row-level operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.commit.validated_change import ReadOnlyChange
from icefloe.table.write.isolation import is_serializable

if TYPE_CHECKING:
    from icefloe.expressions.filter import Filter
    from icefloe.table.commit.validated_change import ValidatedChange
    from icefloe.table.row_level.target import Target


def add_checks(change: ValidatedChange, target: Target, row_filter: Filter, operation: str) -> None:
    """Add the checks that the table's isolation level requires to a change.

    Args:
        change: The change, not committed yet.
        target: The table that the operation read.
        row_filter: The rows that the operation read.
        operation: `delete`, `update` or `merge`.
    """
    change.validate_from_snapshot(target.snapshot_id).conflict_detection_filter(row_filter)
    change.validate_no_conflicting_deletes()
    if is_serializable(target.metadata.properties, operation):
        change.validate_no_conflicting_data()


def commit_read_set(target: Target, row_filter: Filter, operation: str) -> None:
    """Make the transaction depend on the rows that an operation read without changing any of them."""
    change = ReadOnlyChange(target.transaction, target.branch, target.snapshot_properties)
    add_checks(change, target, row_filter, operation)
    change.commit()
