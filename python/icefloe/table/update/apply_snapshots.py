"""Applying updates of snapshots, branches and tags, and of the snapshot log, which follows main. Spec: Snapshots, References."""

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
    """Add a snapshot that no branch or tag refers to yet."""
    snapshot = update.snapshot
    snapshots: Snapshots = draft.get("snapshots")
    if snapshot.snapshot_id in snapshots.positions():
        raise ValidationError(
            f"cannot add snapshot {snapshot.snapshot_id}: the table already has a snapshot with this id"
        )
    last: int = draft.get("last_sequence_number")
    if draft.format_version > 1 and snapshot.sequence_number <= last and snapshot.parent_snapshot_id is not None:
        raise ValidationError(
            f"cannot add snapshot {snapshot.snapshot_id}: expected a sequence number above {last}, got sequence number "
            f"{snapshot.sequence_number}"
        )
    log: SnapshotLog = draft.get("snapshot_log")
    if log and snapshot.timestamp_ms < log[-1].timestamp_ms - CLOCK_TOLERANCE_MS:
        raise ValidationError(
            f"cannot add snapshot {snapshot.snapshot_id}: expected a timestamp of at least {log[-1].timestamp_ms} ms, that of the "
            f"table's last change, got {snapshot.timestamp_ms} ms; check this machine's clock"
        )
    draft.set(snapshots=snapshots.appended(snapshot), last_sequence_number=max(last, snapshot.sequence_number))
    draft.added_snapshot_ids.add(snapshot.snapshot_id)
    draft.updated_ms = snapshot.timestamp_ms


def set_ref(draft: Draft, update: SetSnapshotRefUpdate) -> None:
    """Create or move a branch or tag; the current snapshot is that of main."""
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
        raise ValidationError(
            f"cannot set {update.ref_name!r} to snapshot {ref.snapshot_id}: the table has no such snapshot"
        )
    if update.ref_name == MAIN_BRANCH:
        if ref.snapshot_ref_type is not SnapshotRefType.BRANCH:
            raise ValidationError("cannot set 'main' to a tag: main is a branch")
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
    """Remove snapshots, the branches and tags that refer to them, their statistics, and the log up to them."""
    removed = set(update.snapshot_ids)
    snapshots: Snapshots = draft.get("snapshots")
    unknown = removed - snapshots.positions().keys()
    if unknown:
        raise ValidationError(f"cannot remove snapshot {min(unknown)}: the table has no such snapshot")
    if not removed:
        return
    refs = {name: ref for name, ref in draft.get("refs").items() if ref.snapshot_id not in removed}
    draft.set(
        snapshots=snapshots.without(removed),
        refs=refs,
        snapshot_log=draft.get("snapshot_log").without_history_of(removed),
        statistics=tuple(file for file in draft.get("statistics") if file.snapshot_id not in removed),
        partition_statistics=tuple(
            file for file in draft.get("partition_statistics") if file.snapshot_id not in removed
        ),
    )
    if draft.get("current_snapshot_id") in removed:
        draft.set(current_snapshot_id=None)


def _set_or_none(value: int | None) -> int | None:
    """Return None for -1, which some clients write for an absent value."""
    return None if value == NO_SNAPSHOT_ID else value
