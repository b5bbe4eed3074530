"""Which concurrent commits a row-level operation tolerates, as the table's properties say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from icefloe.typedef import Properties

COPY_ON_WRITE = "copy-on-write"
MERGE_ON_READ = "merge-on-read"
SERIALIZABLE = "serializable"
SNAPSHOT = "snapshot"


@dataclass(frozen=True)
class Isolation:
    """What a replacement of rows tolerates of others.

    Attributes:
        snapshot_id: The snapshot that the operation read, after which others' commits count; None for an empty table.
        serializable: Whether rows that others added among those that are replaced conflict.
    """

    snapshot_id: int | None
    serializable: bool


def is_merge_on_read(properties: Properties, operation: str) -> bool:
    """Whether `write.<operation>.mode` asks for delete files; data files are rewritten otherwise.

    Args:
        properties: Table properties.
        operation: `delete`, `update` or `merge`.
    """
    return _one_of(properties, f"write.{operation}.mode", (COPY_ON_WRITE, MERGE_ON_READ)) == MERGE_ON_READ


def is_serializable(properties: Properties, operation: str) -> bool:
    """Whether `write.<operation>.isolation-level` forbids that rows appear which the operation would have seen."""
    return _one_of(properties, f"write.{operation}.isolation-level", (SERIALIZABLE, SNAPSHOT)) == SERIALIZABLE


def _one_of(properties: Properties, key: str, allowed: tuple[str, str]) -> str:
    value = properties.get(key, allowed[0]).lower()
    if value not in allowed:
        raise ValidationError(f"property {key}={value!r} must be {allowed[0]} or {allowed[1]}")
    return value
