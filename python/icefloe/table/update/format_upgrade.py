"""The updates that raise a table's format version. Spec: Table Metadata."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from icefloe.table.environment import SYSTEM, Environment
from icefloe.table.update.actions import AssignUUIDUpdate, UpgradeFormatVersionUpdate

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.update.actions import TableUpdate


def format_upgrade(
    metadata: TableMetadata, format_version: int, environment: Environment = SYSTEM
) -> tuple[TableUpdate, ...]:
    """Return the updates that raise the format version, with a UUID if the table has none.

    Format version 2 requires the UUID, which old writers of version 1 omit.

    Args:
        metadata: The table.
        format_version: The new format version.
        environment: Randomness.
    """
    upgrade = UpgradeFormatVersionUpdate(format_version=format_version)
    if format_version < 2 or metadata.table_uuid is not None:
        return (upgrade,)
    return AssignUUIDUpdate(uuid=uuid.UUID(environment.new_uuid())), upgrade
