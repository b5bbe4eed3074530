"""Offsets of a stream, which Spark keeps in the checkpoint as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from icefloe.exceptions import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
NO_SNAPSHOT = -1
_KEYS = {
    "version": int,
    "table_uuid": str,
    "snapshot_id": int,
    "position": int,
    "scan_all_files": bool,
    "changes": bool,
}


@dataclass(frozen=True, kw_only=True)
class StreamOffset:
    """The end of the rows that a stream has read.

    Args:
        table_uuid: UUID of the table.
        snapshot_id: Last snapshot that the stream has read, or a part of it; ``NO_SNAPSHOT`` before the first.
        position: Number of the snapshot's files that were read, in the order of their paths; None for the whole snapshot.
        scan_all_files: The position counts all files of the snapshot instead of the files that it added.
        changes: The stream reads changes instead of appended rows.
    """

    table_uuid: str
    snapshot_id: int
    position: int | None = None
    scan_all_files: bool = False
    changes: bool = False

    @property
    def is_beginning(self) -> bool:
        """Whether no snapshot has been read."""
        return self.snapshot_id == NO_SNAPSHOT

    def scans_all_of(self, snapshot_id: int) -> bool:
        """Return whether the stream reads all files of a snapshot instead of the files that it added."""
        return self.scan_all_files and self.position is not None and snapshot_id == self.snapshot_id

    def position_in(self, snapshot_id: int) -> int:
        """Return the number of files of an unread snapshot that were read: 0 for all but the offset's own."""
        return self.position if self.position is not None and snapshot_id == self.snapshot_id else 0

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object; equal offsets have the same text."""
        value: dict[str, Any] = {
            "version": VERSION,
            "table_uuid": self.table_uuid,
            "snapshot_id": self.snapshot_id,
        }
        if self.position is not None:
            value |= {"position": self.position, "scan_all_files": self.scan_all_files}
        if self.changes:
            value["changes"] = True
        return value

    @staticmethod
    def from_json(value: Mapping[str, Any], *, changes: bool) -> StreamOffset:
        """Return the offset of a JSON object.

        Args:
            value: JSON object.
            changes: Whether the stream reads changes.

        Raises:
            ValidationError: The object is no offset of such a stream.
        """
        wrong = [key for key, item in value.items() if key not in _KEYS or type(item) is not _KEYS[key]]
        missing = [key for key in ("version", "table_uuid", "snapshot_id") if key not in value]
        if wrong or missing or value["version"] != VERSION:
            raise ValidationError(
                f"checkpoint: expected an offset of version {VERSION} of the icefloe source, got {dict(value)!r}: start the query "
                "with a new checkpoint location"
            )
        if value.get("changes", False) != changes:
            expected, got = (f"changes={str(one).lower()}" for one in (not changes, changes))
            raise ValidationError(
                f"checkpoint: its offsets are of a stream with {expected}; expected {expected}, got {got}: restore the option, or "
                "start the query with a new checkpoint location"
            )
        return StreamOffset(
            table_uuid=value["table_uuid"],
            snapshot_id=value["snapshot_id"],
            position=value.get("position"),
            scan_all_files=value.get("scan_all_files", False),
            changes=changes,
        )
