"""Scans of what happened between two snapshots of one lineage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.scan.results import Results
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from icefloe.table.snapshots import Snapshot


@dataclass(frozen=True)
class IncrementalScan(Results):
    """A scan of snapshots: those after one, up to another, which descends from it. Names and types are the current schema's.

    Attributes:
        from_snapshot_id: Where the range begins; None for the beginning of the table's history.
        from_snapshot_inclusive: Whether that snapshot is part of the range.
        to_snapshot_id: The last snapshot of the range; None for the current one.
    """

    from_snapshot_id: int | None = None
    from_snapshot_inclusive: bool = False
    to_snapshot_id: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.snapshot_id is not None:
            raise ValidationError("snapshot_id: an incremental scan has a first and a last snapshot, not one")

    # ---- the range

    def from_snapshot_id_exclusive(self, from_snapshot_id: int | str) -> Self:
        """Return a scan of what came after a snapshot, given by its id or by the name of a branch or tag."""
        return self.update(from_snapshot_id=self._id_of(from_snapshot_id), from_snapshot_inclusive=False)

    def from_snapshot_id_inclusive(self, from_snapshot_id: int | str) -> Self:
        """Return a scan that begins with a snapshot, given by its id or by the name of a branch or tag."""
        return self.update(from_snapshot_id=self._id_of(from_snapshot_id), from_snapshot_inclusive=True)

    def to_snapshot_id_inclusive(self, to_snapshot_id: int | str) -> Self:
        """Return a scan that ends with a snapshot, given by its id or by the name of a branch or tag."""
        return self.update(to_snapshot_id=self._id_of(to_snapshot_id))

    def from_timestamp(self, timestamp_ms: int) -> Self:
        """Return a scan of what came after a time, milliseconds since 1970-01-01 UTC; say first where it ends.

        Raises:
            ValidationError: Snapshots from after that time have been expired.
        """
        oldest: Snapshot | None = None
        for snapshot in self._lineage():
            if snapshot.timestamp_ms <= timestamp_ms:
                return self.from_snapshot_id_exclusive(snapshot.snapshot_id)
            oldest = snapshot
        if oldest is not None and oldest.parent_snapshot_id is not None:
            raise ValidationError(
                f"what happened since {timestamp_ms} is not known any more: {self.table_name} has expired snapshot "
                f"{oldest.parent_snapshot_id}, the oldest left is of {oldest.timestamp_ms}"
            )
        return self.update(from_snapshot_id=None)

    def to_timestamp(self, timestamp_ms: int) -> Self:
        """Return a scan that ends with the snapshot that was the newest at a time, milliseconds since 1970-01-01 UTC.

        Raises:
            ValidationError: There was none.
        """
        for snapshot in self._lineage():
            if snapshot.timestamp_ms <= timestamp_ms:
                return self.to_snapshot_id_inclusive(snapshot.snapshot_id)
        raise ValidationError(f"{self.table_name} had no snapshot at {timestamp_ms}, or it has been expired")

    def snapshots(self) -> list[Snapshot]:
        """Return the snapshots of the range, oldest first.

        Raises:
            ValidationError: A snapshot is not known, or the first is no ancestor of the last.
        """
        lineage = self._lineage()
        first = self.from_snapshot_id
        if first is None:
            return lineage[::-1]
        ids = [snapshot.snapshot_id for snapshot in lineage]
        if first in ids:
            return lineage[: ids.index(first) + self.from_snapshot_inclusive][::-1]
        if lineage and lineage[-1].parent_snapshot_id == first and not self.from_snapshot_inclusive:
            return lineage[::-1]  # It has been expired itself; what came after it has not.
        self._known(first)
        last = ids[0] if ids else "none"
        raise ValidationError(
            f"snapshot {first} is no ancestor of snapshot {last}: nothing leads from one to the other"
        )

    def _lineage(self) -> list[Snapshot]:
        """Return the last snapshot and its ancestors, newest first, as far as the table still has them."""
        metadata = self.table_metadata
        last = metadata.current_snapshot() if self.to_snapshot_id is None else self._known(self.to_snapshot_id)
        if last is None and self.from_snapshot_id is not None:
            self._known(self.from_snapshot_id)
        return list(ancestors_of(last, metadata))

    def _known(self, snapshot_id: int) -> Snapshot:
        found = self.table_metadata.snapshot_by_id(snapshot_id)
        if found is None:
            raise ValidationError(f"{self.table_name} has no snapshot {snapshot_id}; it may have been expired")
        return found

    def _id_of(self, snapshot: int | str) -> int:
        if isinstance(snapshot, int):
            return snapshot
        ref = self.table_metadata.refs.get(snapshot)
        if ref is None:
            known = ", ".join(sorted(self.table_metadata.refs)) or "none"
            raise ValidationError(f"{self.table_name} has no branch or tag {snapshot!r}; it has {known}")
        return ref.snapshot_id
