"""Scans of the changes between two snapshots of one lineage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.arguments import checked_flag, checked_snapshot_id, checked_time_ms
from icefloe.exceptions import ValidationError
from icefloe.table.scan.scan import Scan
from icefloe.table.scan.snapshot_range import SnapshotRange

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.snapshots import Snapshot


@dataclass(frozen=True)
class IncrementalScan(Scan):
    """A scan of the snapshots after one, up to another that descends from it. Names resolve in the table's current schema.

    Attributes:
        from_snapshot_id: The snapshot that the range begins after; None for the beginning of the table's history.
        from_snapshot_inclusive: Whether the range begins with that snapshot instead.
        to_snapshot_id: The last snapshot of the range; None for the current one.
    """

    from_snapshot_id: int | None = None
    from_snapshot_inclusive: bool = False
    to_snapshot_id: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.snapshot_id is not None:
            raise ValidationError(
                f"snapshot_id: an incremental scan takes from_snapshot_id and to_snapshot_id; got snapshot_id={self.snapshot_id}"
            )
        checked_flag("from_snapshot_inclusive", self.from_snapshot_inclusive)
        for name in ("from_snapshot_id", "to_snapshot_id"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked_snapshot_id(getattr(self, name), name))

    def from_snapshot_id_exclusive(self, from_snapshot_id: int | str) -> Self:
        """Return a scan that begins after a snapshot, given by its id or by the name of a branch or tag."""
        first = self._range().id_of(from_snapshot_id)
        return self.update(from_snapshot_id=first, from_snapshot_inclusive=False)

    def from_snapshot_id_inclusive(self, from_snapshot_id: int | str) -> Self:
        """Return a scan that begins with a snapshot, given by its id or by the name of a branch or tag."""
        first = self._range().id_of(from_snapshot_id)
        return self.update(from_snapshot_id=first, from_snapshot_inclusive=True)

    def to_snapshot_id_inclusive(self, to_snapshot_id: int | str) -> Self:
        """Return a scan that ends with a snapshot, given by its id or by the name of a branch or tag."""
        return self.update(to_snapshot_id=self._range().id_of(to_snapshot_id))

    def from_timestamp(self, timestamp_ms: int) -> Self:
        """Return a scan that begins after the newest snapshot at a time. Set the end of the range first.

        Args:
            timestamp_ms: Milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: Snapshots since that time have been expired.
        """
        newest = self._range().newest_at(checked_time_ms("from_timestamp", timestamp_ms))
        if newest is not None:
            return self.from_snapshot_id_exclusive(newest.snapshot_id)
        lineage = self._range().lineage()
        oldest = lineage[-1] if lineage else None
        if oldest is not None and oldest.parent_snapshot_id is not None:
            raise ValidationError(
                f"{self.table_name}: changes since {timestamp_ms} are incomplete; snapshot {oldest.parent_snapshot_id} has "
                f"been expired, and the oldest remaining one was committed at {oldest.timestamp_ms}"
            )
        return self.update(from_snapshot_id=None)

    def to_timestamp(self, timestamp_ms: int) -> Self:
        """Return a scan that ends with the newest snapshot at a time.

        Args:
            timestamp_ms: Milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: The table had no snapshot at that time.
        """
        newest = self._range().newest_at(checked_time_ms("to_timestamp", timestamp_ms))
        if newest is None:
            raise ValidationError(
                f"{self.table_name} had no snapshot at {timestamp_ms}, or it has been expired; "
                "table.history() lists the times of its snapshots"
            )
        return self.to_snapshot_id_inclusive(newest.snapshot_id)

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots of the range, oldest first.

        Raises:
            ValidationError: The table lacks a snapshot, or the first is no ancestor of the last.
        """
        return self._range().snapshots()

    def _range(self) -> SnapshotRange:
        return SnapshotRange(
            self.table_metadata,
            self.table_name,
            self.from_snapshot_id,
            self.from_snapshot_inclusive,
            self.to_snapshot_id,
        )
