"""Checks of a table before maintenance changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.properties.definitions import GC_ENABLED

if TYPE_CHECKING:
    from icefloe.table.commit.committing_table import CommittingTable
    from icefloe.table.metadata import TableMetadata


def dotted_name(table: CommittingTable) -> str:
    """Return the table's name with dots."""
    return ".".join(table.name())


def check_garbage_collection(table: CommittingTable, metadata: TableMetadata, action: str) -> None:
    """Check that the table's files may be deleted.

    Raises:
        ValidationError: The table property `gc.enabled` is false: other tables may refer to the files.
    """
    if not GC_ENABLED.of(metadata.properties):
        raise ValidationError(
            f"table {dotted_name(table)}: cannot {action}, since gc.enabled is false: other tables may use its files; set "
            "gc.enabled=true if none does"
        )


def check_plan_of(table: CommittingTable, verb: str, table_uuid: str) -> None:
    """Check that a plan was made from this table.

    Raises:
        ValidationError: The plan is of another table.
    """
    if str(table.metadata.table_uuid).lower() != table_uuid.lower():
        raise ValidationError(
            f"plan of {verb}: made from the table of uuid {table_uuid}, but table {dotted_name(table)} has uuid "
            f"{table.metadata.table_uuid}; make a plan from this table"
        )
