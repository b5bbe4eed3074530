"""Changes of history: snapshots come and go, names move, and the snapshot log follows main. Spec: Snapshots, References."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.metadata import CLOCK_TOLERANCE_MS, NO_SNAPSHOT_ID
from icefloe.table.refs import MAIN_BRANCH, SnapshotRef, SnapshotRefType
from icefloe.table.snapshots import SnapshotLogEntry

if TYPE_CHECKING:
    from icefloe.table.metadata import SnapshotLog, Snapshots
    from icefloe.table.update.actions import (
        AddSnapshotUpdate,
        RemoveSnapshotRefUpdate,
        RemoveSnapshotsUpdate,
        SetSnapshotRefUpdate,
    )
    from icefloe.table.update.draft import Draft


def add_snapshot(draft: Draft, update: AddSnapshotUpdate) -> None:
    """Add a snapshot that no name points to yet."""
    snapshot = update.snapshot
    snapshots: Snapshots = draft.get("snapshots")
    if snapshot.snapshot_id in snapshots.positions():
        raise ValidationError(f"snapshot {snapshot.snapshot_id} exists")
    last: int = draft.get("last_sequence_number")
    if draft.format_version > 1 and snapshot.sequence_number <= last and snapshot.parent_snapshot_id is not None:
        raise ValidationError(
            f"snapshot {snapshot.snapshot_id} has sequence number {snapshot.sequence_number}, the last one was {last}"
        )
    log: SnapshotLog = draft.get("snapshot_log")
    if log and snapshot.timestamp_ms < log[-1].timestamp_ms - CLOCK_TOLERANCE_MS:
        raise ValidationError(
            f"snapshot {snapshot.snapshot_id} is older than the table's last change: check this machine's clock"
        )
    draft.set(snapshots=snapshots.appended(snapshot), last_sequence_number=max(last, snapshot.sequence_number))
    draft.added_snapshot_ids.add(snapshot.snapshot_id)
    draft.updated_ms = snapshot.timestamp_ms


def set_ref(draft: Draft, update: SetSnapshotRefUpdate) -> None:
    """Create or move a branch or tag; main takes the current snapshot with it."""
    ref = SnapshotRef(
        snapshot_id=update.snapshot_id,
        snapshot_ref_type=update.type,
        min_snapshots_to_keep=_set_or_none(update.min_snapshots_to_keep),
        max_snapshot_age_ms=_set_or_none(update.max_snapshot_age_ms),
        max_ref_age_ms=_set_or_none(update.max_ref_age_ms),
    )
    refs: dict[str, SnapshotRef] = draft.get("refs")
    if refs.get(update.ref_name) == ref:
        return
    snapshot = draft.get("snapshots").by_id(ref.snapshot_id)
    if snapshot is None:
        raise ValidationError(f"cannot set {update.ref_name} to snapshot {ref.snapshot_id}: there is no such snapshot")
    if update.ref_name == MAIN_BRANCH:
        if ref.snapshot_ref_type is not SnapshotRefType.BRANCH:
            raise ValidationError("main is a branch and cannot become a tag")
        if draft.get("current_snapshot_id") != ref.snapshot_id:
            added = ref.snapshot_id in draft.added_snapshot_ids
            moved_ms = snapshot.timestamp_ms if added else draft.now_ms
            entry = SnapshotLogEntry(snapshot_id=ref.snapshot_id, timestamp_ms=moved_ms)
            draft.set(current_snapshot_id=ref.snapshot_id, snapshot_log=draft.get("snapshot_log").appended(entry))
            draft.updated_ms = moved_ms
    draft.set(refs={**refs, update.ref_name: ref})


def remove_ref(draft: Draft, update: RemoveSnapshotRefUpdate) -> None:
    """Remove a branch or tag; without main there is no current snapshot."""
    refs: dict[str, SnapshotRef] = draft.get("refs")
    if update.ref_name not in refs:
        return
    draft.set(refs={name: ref for name, ref in refs.items() if name != update.ref_name})
    if update.ref_name == MAIN_BRANCH:
        draft.set(current_snapshot_id=None)


def remove_snapshots(draft: Draft, update: RemoveSnapshotsUpdate) -> None:
    """Remove snapshots, the names that point to them, their statistics, and the log up to them."""
    gone = set(update.snapshot_ids)
    snapshots: Snapshots = draft.get("snapshots")
    unknown = gone - snapshots.positions().keys()
    if unknown:
        raise ValidationError(f"cannot remove snapshots that do not exist: {sorted(unknown)}")
    if not gone:
        return
    refs = {name: ref for name, ref in draft.get("refs").items() if ref.snapshot_id not in gone}
    draft.set(
        snapshots=snapshots.without(gone),
        refs=refs,
        snapshot_log=draft.get("snapshot_log").without_history_of(gone),
        statistics=tuple(file for file in draft.get("statistics") if file.snapshot_id not in gone),
        partition_statistics=tuple(file for file in draft.get("partition_statistics") if file.snapshot_id not in gone),
    )
    if draft.get("current_snapshot_id") in gone:
        draft.set(current_snapshot_id=None)


def _set_or_none(value: int | None) -> int | None:
    """Return None for -1, as some clients spell "not set"."""
    return None if value == NO_SNAPSHOT_ID else value
