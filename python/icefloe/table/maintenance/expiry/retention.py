"""The snapshots and refs that expiry removes, by the retention rules of the specification. Spec: Snapshot Retention Policy.

Ancestry is walked by parents and never by time: clocks of writers differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from icefloe.exceptions import ValidationError
from icefloe.table.maintenance.age import iso_time
from icefloe.table.maintenance.display import count_text
from icefloe.table.properties.maintenance import MAX_REF_AGE, MAX_SNAPSHOT_AGE, MIN_SNAPSHOTS
from icefloe.table.refs import MAIN_BRANCH, SnapshotRefType

if TYPE_CHECKING:
    from icefloe.table.metadata import TableMetadata
    from icefloe.table.refs import SnapshotRef


_LONGEST_MS = timedelta.max // timedelta(milliseconds=1)


@dataclass(frozen=True)
class RetentionRules:
    """The arguments of an expiry.

    Attributes:
        now_ms: The time that ages are counted from, milliseconds since 1970-01-01 UTC.
        by_age: Whether snapshots and refs expire by age; if not, only `snapshot_ids` expire.
        older_than_ms: Snapshots from this time on stay, on branches without a setting of their own; None for the table property.
        retain_last: Snapshots of each such branch that stay whatever their age; None for the table property.
        max_ref_age_ms: The age up to which refs without a setting of their own stay; None for the table property.
        snapshot_ids: Snapshots that expire by name.
    """

    now_ms: int
    by_age: bool = True
    older_than_ms: int | None = None
    retain_last: int | None = None
    max_ref_age_ms: int | None = None
    snapshot_ids: frozenset[int] = frozenset()


@dataclass(frozen=True)
class SnapshotFate:
    """A snapshot, and why it stays or expires."""

    snapshot_id: int
    timestamp_ms: int
    expires: bool
    reason: str


@dataclass(frozen=True)
class RefFate:
    """A branch or tag, and why it stays or expires."""

    name: str
    type: str
    snapshot_id: int
    expires: bool
    reason: str


@dataclass(frozen=True)
class Retention:
    """The snapshots and refs that an expiry removes from a version of a table.

    Attributes:
        snapshots: All snapshots, in the order of the metadata.
        refs: All branches and tags, in the order of their names.
    """

    snapshots: tuple[SnapshotFate, ...]
    refs: tuple[RefFate, ...]

    @property
    def expired_ids(self) -> tuple[int, ...]:
        """The ids of the snapshots that expire."""
        return tuple(fate.snapshot_id for fate in self.snapshots if fate.expires)

    @property
    def expired_refs(self) -> tuple[str, ...]:
        """The names of the branches and tags that expire."""
        return tuple(fate.name for fate in self.refs if fate.expires)


def retention(metadata: TableMetadata, rules: RetentionRules) -> Retention:
    """Return what an expiry by `rules` removes from a version of a table.

    Raises:
        ValidationError: A snapshot to expire by name is the head of a branch or tag that stays.
    """
    refs = tuple(_fate_of_ref(metadata, name, metadata.refs[name], rules) for name in sorted(metadata.refs))
    remaining = [fate.name for fate in refs if not fate.expires]
    reasons = _kept_snapshots(metadata, remaining, rules)
    for name in remaining:
        head = metadata.refs[name].snapshot_id
        if head in rules.snapshot_ids:
            raise ValidationError(
                f"cannot expire snapshot {head}: it is the head of {metadata.refs[name].snapshot_ref_type} {name!r}; remove or move "
                f"the {metadata.refs[name].snapshot_ref_type} first"
            )
    ids = metadata.snapshots.column("snapshot-id")
    times = metadata.snapshots.column("timestamp-ms")
    on_branches, cutoff_ms = _on_branches(metadata, remaining), _cutoff_ms(metadata, rules)
    snapshots = tuple(
        _fate_of_snapshot(snapshot_id, time_ms, reasons.get(snapshot_id), snapshot_id in on_branches, cutoff_ms, rules)
        for snapshot_id, time_ms in zip(ids, times, strict=True)
    )
    return Retention(snapshots, refs)


def _fate_of_ref(metadata: TableMetadata, name: str, ref: SnapshotRef, rules: RetentionRules) -> RefFate:
    def fate(expires: bool, reason: str) -> RefFate:
        return RefFate(name, str(ref.snapshot_ref_type), ref.snapshot_id, expires, reason)

    if name == MAIN_BRANCH:
        return fate(False, "main always stays")
    if not rules.by_age:
        return fate(False, "only named snapshots expire")
    head = metadata.snapshot_by_id(ref.snapshot_id)
    if head is None:
        return fate(True, f"its snapshot {ref.snapshot_id} does not exist")
    limit = ref.max_ref_age_ms
    if limit is None:
        limit = rules.max_ref_age_ms if rules.max_ref_age_ms is not None else MAX_REF_AGE.of(metadata.properties)
    if limit is None:
        return fate(False, "no limit on its age")
    if rules.now_ms - head.timestamp_ms <= limit:
        return fate(False, f"its snapshot is not older than {_duration(limit)}")
    return fate(True, f"its snapshot is older than {_duration(limit)}")


def _kept_snapshots(metadata: TableMetadata, refs: list[str], rules: RetentionRules) -> dict[int, str]:
    """Return the reason for each snapshot that refs keep; the first reason found stands."""
    reasons: dict[int, str] = {}
    for name in refs:
        ref = metadata.refs[name]
        reasons.setdefault(ref.snapshot_id, f"head of {ref.snapshot_ref_type} {name!r}")
    if rules.by_age:
        for name in refs:
            if metadata.refs[name].snapshot_ref_type is SnapshotRefType.BRANCH:
                _keep_history(metadata, name, rules, reasons)
    return reasons


def _keep_history(metadata: TableMetadata, name: str, rules: RetentionRules, reasons: dict[int, str]) -> None:
    """Keep the history of a branch, from its head to the first snapshot that is neither young enough nor among the last ones."""
    ref = metadata.refs[name]
    least = ref.min_snapshots_to_keep
    if least is None:
        least = rules.retain_last if rules.retain_last is not None else MIN_SNAPSHOTS.of(metadata.properties)
    cutoff_ms = (
        _cutoff_ms(metadata, rules) if ref.max_snapshot_age_ms is None else rules.now_ms - ref.max_snapshot_age_ms
    )
    snapshot = metadata.snapshot_by_id(ref.snapshot_id)
    seen: set[int] = set()
    while snapshot is not None and snapshot.snapshot_id not in seen:
        if len(seen) >= least and snapshot.timestamp_ms < cutoff_ms:
            return
        is_last = len(seen) < least
        seen.add(snapshot.snapshot_id)
        reasons.setdefault(
            snapshot.snapshot_id,
            f"among the last {count_text(least, 'snapshot')} of branch {name!r}"
            if is_last
            else f"on branch {name!r}, which keeps snapshots from {iso_time(cutoff_ms)} on",
        )
        parent = snapshot.parent_snapshot_id
        snapshot = None if parent is None else metadata.snapshot_by_id(parent)


def _cutoff_ms(metadata: TableMetadata, rules: RetentionRules) -> int:
    if rules.older_than_ms is not None:
        return rules.older_than_ms
    return rules.now_ms - MAX_SNAPSHOT_AGE.of(metadata.properties)


def _fate_of_snapshot(  # noqa: PLR0913 - the facts of one snapshot
    snapshot_id: int, time_ms: int, kept_because: str | None, on_branch: bool, cutoff_ms: int, rules: RetentionRules
) -> SnapshotFate:
    if snapshot_id in rules.snapshot_ids:
        return SnapshotFate(snapshot_id, time_ms, True, "expires by its id")
    if kept_because is not None:
        return SnapshotFate(snapshot_id, time_ms, False, kept_because)
    if not rules.by_age:
        return SnapshotFate(snapshot_id, time_ms, False, "only named snapshots expire")
    # Staged and rolled-back snapshots are on no branch and have no other rule.
    if time_ms >= cutoff_ms and not on_branch:
        return SnapshotFate(snapshot_id, time_ms, False, f"on no branch, and not older than {iso_time(cutoff_ms)}")
    if on_branch:
        return SnapshotFate(snapshot_id, time_ms, True, "beyond the history that its branch keeps")
    return SnapshotFate(snapshot_id, time_ms, True, f"on no branch, and older than {iso_time(cutoff_ms)}")


def _on_branches(metadata: TableMetadata, refs: list[str]) -> set[int]:
    """Return the snapshots of branches and all of their ancestors."""
    found: set[int] = set()
    for name in refs:
        ref = metadata.refs[name]
        next_id: int | None = ref.snapshot_id if ref.snapshot_ref_type is SnapshotRefType.BRANCH else None
        while next_id is not None and next_id not in found:
            snapshot = metadata.snapshot_by_id(next_id)
            if snapshot is None:
                break
            found.add(next_id)
            next_id = snapshot.parent_snapshot_id
    return found


def _duration(milliseconds: int) -> str:
    return str(timedelta(milliseconds=milliseconds)) if milliseconds < _LONGEST_MS else f"{milliseconds} ms"
