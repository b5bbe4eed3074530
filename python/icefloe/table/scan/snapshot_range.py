"""The snapshots between two of one lineage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.arguments import checked_snapshot_id
from icefloe.exceptions import ValidationError
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.refs import SnapshotRef
    from icefloe.table.snapshots import Snapshot


@dataclass(frozen=True)
class SnapshotRange:
    """The snapshots after one, up to another, which descends from it.

    Attributes:
        metadata: The table.
        table_name: Name of the table, for messages.
        first_id: The snapshot that the range begins after or with; None for the beginning of the table's history.
        first_inclusive: Whether the range begins with that snapshot.
        last_id: The last snapshot of the range; None for the current one.
    """

    metadata: TableMetadata
    table_name: str
    first_id: int | None
    first_inclusive: bool
    last_id: int | None

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots of the range, oldest first.

        Raises:
            ValidationError: The table lacks a snapshot, or the first is no ancestor of the last.
        """
        lineage, first = self.lineage(), self.first_id
        if first is None:
            return lineage[::-1]
        ids = [snapshot.snapshot_id for snapshot in lineage]
        if first in ids:
            return lineage[: ids.index(first) + self.first_inclusive][::-1]
        if lineage and lineage[-1].parent_snapshot_id == first and not self.first_inclusive:
            return lineage[::-1]  # The first snapshot has been expired, and no snapshot after it has.
        known_snapshot(self.metadata, self.table_name, first)
        last = ids[0] if ids else "none"
        raise ValidationError(
            f"snapshot {first} is not an ancestor of snapshot {last}; expected two snapshots of one lineage"
        )

    def lineage(self) -> list[Snapshot]:
        """Return the last snapshot and its ancestors, newest first, as far as the table still has them."""
        metadata = self.metadata
        last = metadata.current_snapshot() if self.last_id is None else self._known(self.last_id)
        if last is None and self.first_id is not None:
            self._known(self.first_id)
        return list(ancestors_of(last, metadata))

    def newest_at(self, timestamp_ms: float) -> Snapshot | None:
        """Return the newest snapshot of the lineage that was committed at or before a time, None if there is none."""
        return next((snapshot for snapshot in self.lineage() if snapshot.timestamp_ms <= timestamp_ms), None)

    def id_of(self, snapshot: int | str) -> int:
        """Return a snapshot id as it is, or the snapshot id of a branch or tag."""
        if isinstance(snapshot, str):
            return snapshot_of_ref(self.metadata, self.table_name, snapshot).snapshot_id
        return checked_snapshot_id(snapshot, "snapshot")

    def _known(self, snapshot_id: int) -> Snapshot:
        return known_snapshot(self.metadata, self.table_name, snapshot_id)


def known_snapshot(metadata: TableMetadata, table_name: str, snapshot_id: int) -> Snapshot:
    """Return the snapshot of an id.

    Raises:
        ValidationError: The table has no such snapshot.
    """
    found = metadata.snapshot_by_id(snapshot_id)
    if found is None:
        raise ValidationError(f"{table_name} has no snapshot {snapshot_id}; it may have been expired")
    return found


def snapshot_of_ref(metadata: TableMetadata, table_name: str, name: str) -> SnapshotRef:
    """Return the branch or tag of a name.

    Raises:
        ValidationError: The table has no such branch or tag.
    """
    ref = metadata.refs.get(name) if isinstance(name, str) else None
    if ref is None:
        known = ", ".join(sorted(metadata.refs)) or "none"
        raise ValidationError(f"{table_name} has no branch or tag {name!r}; it has {known}")
    return ref
