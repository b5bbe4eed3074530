"""The snapshots of a table that a stream has not read yet, and its first offset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.spark.stream.offset import NO_SNAPSHOT, StreamOffset
from icefloe.table.commit.snapshot_producer import MAIN
from icefloe.table.refs import SnapshotRefType
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from icefloe.spark.stream.options import SourceOptions
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.snapshots import Snapshot

_ANEW = "start the query with a new checkpoint location"
_CHECKPOINT, _OPTION = "checkpoint", "option start-snapshot-id"
_PROBLEM = {_CHECKPOINT: "was rolled back or its history replaced", _OPTION: "has no such snapshot in its history"}
_FORWARD = {
    _CHECKPOINT: f"roll the table forward, or {_ANEW}",
    _OPTION: "pass the id of a snapshot of this history, or leave the option out to begin with all rows of the oldest snapshot",
}
_LATER = {
    _CHECKPOINT: f"{_ANEW}, and keep snapshots longer than the query stands still",
    _OPTION: "pass the id of this snapshot or of a later one, or leave the option out to begin with all rows of this snapshot",
}


def check_same_table(name: str, table_uuid: str, metadata: TableMetadata) -> None:
    """Raise ValidationError if metadata is not the one of the table that a stream reads."""
    if table_uuid.lower() != str(metadata.table_uuid).lower():
        raise ValidationError(
            f"checkpoint: table {name} was dropped and created again; expected the table with uuid {table_uuid}, got "
            f"{metadata.table_uuid}: {_ANEW}"
        )


@dataclass(frozen=True)
class Lineage:
    """The head of a branch and its ancestors.

    Args:
        name: Name of the table, for messages.
        metadata: The table.
        head: Newest snapshot that the stream may read; None for an empty table.
        changes: The stream reads changes instead of appended rows.
    """

    name: str
    metadata: TableMetadata
    head: Snapshot | None
    changes: bool

    @staticmethod
    def of_branch(name: str, metadata: TableMetadata, branch: str | None, *, changes: bool) -> Lineage:
        """Return the lineage of a branch.

        Raises:
            ValidationError: There is no such branch.
        """
        if branch is None or branch == MAIN:
            return Lineage(name, metadata, metadata.current_snapshot(), changes)
        ref = metadata.refs.get(branch)
        if ref is None or ref.snapshot_ref_type != SnapshotRefType.BRANCH:
            known = ", ".join(
                one for one, ref in metadata.refs.items() if ref.snapshot_ref_type == SnapshotRefType.BRANCH
            )
            raise ValidationError(f"option branch: expected a branch of {name} ({known or 'none'}), got {branch!r}")
        return Lineage(name, metadata, metadata.snapshot_by_id(ref.snapshot_id), changes)

    @property
    def end(self) -> StreamOffset:
        """The offset after the newest snapshot."""
        return self._offset(NO_SNAPSHOT if self.head is None else self.head.snapshot_id)

    def _offset(self, snapshot_id: int) -> StreamOffset:
        return StreamOffset(table_uuid=str(self.metadata.table_uuid), snapshot_id=snapshot_id, changes=self.changes)

    def first_offset(self, options: SourceOptions) -> StreamOffset:
        """Return the offset that a new query begins after.

        Raises:
            ValidationError: The first snapshot to read has been expired, or there is no such snapshot.
        """
        if options.start_snapshot_id is not None:
            begin = self._offset(options.start_snapshot_id)
            self._after(begin, _OPTION)
            return begin
        if options.start == "latest" or self.head is None:
            return self.end
        newest_first = list(ancestors_of(self.head, self.metadata))
        if options.start_timestamp is not None:
            return self._before(options.start_timestamp, newest_first)
        return self._beginning(newest_first[-1])

    def _beginning(self, oldest: Snapshot) -> StreamOffset:
        """Return the offset before all rows of the oldest snapshot, which has rows of older snapshots if these have been expired."""
        if oldest.parent_snapshot_id is None:
            return self._offset(NO_SNAPSHOT)
        return replace(self._offset(oldest.snapshot_id), position=0, scan_all_files=True)

    def _before(self, timestamp_ms: int, newest_first: list[Snapshot]) -> StreamOffset:
        """Return the offset before the first snapshot that was committed at a time or later."""
        earlier = next((one for one in newest_first if one.timestamp_ms < timestamp_ms), None)
        if earlier is not None:
            return self._offset(earlier.snapshot_id)
        oldest = newest_first[-1]
        if oldest.parent_snapshot_id is not None:
            raise ValidationError(
                f"option stream-from-timestamp: snapshots of {self.name} since {timestamp_ms} have been expired; expected a time "
                f"after {oldest.timestamp_ms}, got {timestamp_ms}: leave the option out to begin with all rows of the oldest snapshot"
            )
        return self._offset(NO_SNAPSHOT)

    def after(self, start: StreamOffset) -> list[Snapshot]:
        """Return the snapshots after an offset, oldest first; the offset's own snapshot first if only a part of it was read.

        Raises:
            ValidationError: The table has been replaced or rolled back, or snapshots after the offset have been expired.
        """
        check_same_table(self.name, start.table_uuid, self.metadata)
        return self._after(start, _CHECKPOINT)

    def is_read(self, end: StreamOffset, start: StreamOffset) -> bool:
        """Return whether an offset after a whole snapshot has all rows before the end of another micro-batch."""
        if start.position is not None or start.is_beginning:
            return False
        head = self.metadata.snapshot_by_id(start.snapshot_id)
        return end.is_beginning or any(one.snapshot_id == end.snapshot_id for one in ancestors_of(head, self.metadata))

    def _after(self, start: StreamOffset, subject: str) -> list[Snapshot]:
        found: list[Snapshot] = []
        for snapshot in ancestors_of(self.head, self.metadata):
            if snapshot.snapshot_id == start.snapshot_id:
                return [*([] if start.position is None else [snapshot]), *reversed(found)]
            found.append(snapshot)
        oldest_first = found[::-1]
        parent = oldest_first[0].parent_snapshot_id if oldest_first else None
        if start.is_beginning and parent is None:
            return oldest_first
        if parent is not None and parent == start.snapshot_id and start.position is None:
            return oldest_first  # The snapshot was read whole and has been expired since; none after it has.
        is_present = self.metadata.snapshot_by_id(start.snapshot_id) is not None
        if is_present or (parent is None and not start.is_beginning):
            newest = "none" if self.head is None else self.head.snapshot_id
            raise ValidationError(
                f"{subject}: table {self.name} {_PROBLEM[subject]}; expected snapshot {start.snapshot_id} among the ancestors of the "
                f"current snapshot, got the current snapshot {newest}: {_FORWARD[subject]}"
            )
        oldest = oldest_first[0]
        raise ValidationError(
            f"{subject}: snapshots of {self.name} were expired before the stream read them; expected the snapshots after "
            f"{start.snapshot_id}, got snapshot {oldest.snapshot_id}, committed at {oldest.timestamp_ms}, as the oldest: {_LATER[subject]}"
        )
