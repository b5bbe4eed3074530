"""Checks of snapshots, branches, logs and clocks, from the table's metadata alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icefloe.table.doctor.finding import Finding, Severity
from icefloe.table.maintenance.age import age_text, iso_time
from icefloe.table.maintenance.display import count_text
from icefloe.table.properties.definitions import DELETE_AFTER_COMMIT, PREVIOUS_VERSIONS
from icefloe.table.properties.maintenance import MAX_REF_AGE, MAX_SNAPSHOT_AGE, MIN_SNAPSHOTS
from icefloe.table.refs import MAIN_BRANCH
from icefloe.table.snapshots import ancestors_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from icefloe.table.doctor.facts import TableFacts

DAY_MS = 86_400_000
SKEW_MS = 60_000
"""Differences of clocks below a minute are not reported; the specification lets timestamps go back by as much."""
OVERDUE_SNAPSHOTS = 10
"""Expired snapshots below this number are not reported: maintenance runs once in a while."""


def check_history(facts: TableFacts) -> Iterator[Finding]:
    """Yield the findings on the table's history."""
    yield from _snapshots_past_retention(facts)
    yield from _staged_snapshots(facts)
    yield from _refs_for_ever(facts)
    yield from _metadata_log(facts)
    yield from _clocks(facts)
    yield from _old_statistics(facts)


def _snapshots_past_retention(facts: TableFacts) -> Iterator[Finding]:
    snapshots, properties = facts.metadata.snapshots, facts.metadata.properties
    expired = frozenset(facts.expired_ids)
    overdue, age = len(expired), facts.threshold(MAX_SNAPSHOT_AGE)
    if overdue < OVERDUE_SNAPSHOTS:
        return
    old = [one for one in snapshots if one.snapshot_id in expired]
    has_policy = MAX_SNAPSHOT_AGE.name in properties or MIN_SNAPSHOTS.name in properties
    limit = f"the default retention of {_days(age)}" if not has_policy else f"the table's retention of {_days(age)}"
    ending = "" if has_policy else "; the table sets no retention of its own"
    if not facts.may_delete_files:
        ending += "; gc.enabled=false forbids to expire them"
    yield Finding(
        "snapshots-past-retention" if has_policy else "snapshots-without-policy",
        Severity.WARNING if facts.may_delete_files else Severity.INFO,
        f"{overdue:,} of {count_text(len(snapshots), 'snapshot')} are due to expire under {limit}{ending}.",
        {"snapshots": len(snapshots), "overdue": overdue, "oldest": iso_time(min(one.timestamp_ms for one in old))},
        facts.command("expire") if facts.may_delete_files else None,
    )


def _days(age_ms: int) -> str:
    days = age_ms / DAY_MS
    return f"{days:g} {'day' if days == 1 else 'days'}"


def _staged_snapshots(facts: TableFacts) -> Iterator[Finding]:
    metadata = facts.metadata
    reachable: set[int] = set()
    for ref in metadata.refs.values():
        for one in ancestors_of(metadata.snapshot_by_id(ref.snapshot_id), metadata):
            if one.snapshot_id in reachable:
                break
            reachable.add(one.snapshot_id)
    staged = [
        one
        for one in metadata.snapshots
        if one.snapshot_id not in reachable and one.timestamp_ms < facts.now_ms - DAY_MS
    ]
    if staged:
        shown = [str(one.snapshot_id) for one in staged[:20]]
        is_due = {one.snapshot_id for one in staged} <= set(facts.expired_ids)
        options = () if is_due else tuple(f"--snapshot-id={snapshot_id}" for snapshot_id in shown)
        yield Finding(
            "unreferenced-snapshots",
            Severity.INFO,
            f"No branch or tag leads to {count_text(len(staged), 'snapshot')} older than a day. Such snapshots were staged and never "
            "published, or were rolled back.",
            {"snapshots": len(staged), "snapshot_ids": shown},
            facts.command("expire", *options) if facts.may_delete_files else None,
        )


def _refs_for_ever(facts: TableFacts) -> Iterator[Finding]:
    if facts.threshold(MAX_REF_AGE) is not None:
        return
    metadata, limit = facts.metadata, facts.now_ms - facts.threshold(MAX_SNAPSHOT_AGE)
    unlimited = []
    for name, ref in metadata.refs.items():
        snapshot = metadata.snapshot_by_id(ref.snapshot_id)
        if name != MAIN_BRANCH and ref.max_ref_age_ms is None and snapshot is not None:
            unlimited += [name] if snapshot.timestamp_ms < limit else []
    if unlimited:
        names = ", ".join(sorted(unlimited)[:5]) + (", ..." if len(unlimited) > 5 else "")
        yield Finding(
            "refs-without-age",
            Severity.INFO,
            f"{count_text(len(unlimited), 'branch or tag', 'branches and tags')} ({names}) hold snapshots past the retention, and have no "
            "maximum age.",
            {"refs": sorted(unlimited)},
        )


def _metadata_log(facts: TableFacts) -> Iterator[Finding]:
    log, most = facts.metadata.metadata_log, facts.threshold(PREVIOUS_VERSIONS)
    if len(log) >= max(most, 1) and facts.threshold(DELETE_AFTER_COMMIT) is False:
        yield Finding(
            "metadata-files-stay",
            Severity.INFO,
            f"The metadata log is full with {count_text(len(log), 'entry', 'entries')}: each commit leaves one more old metadata file in "
            "storage that nothing names.",
            {"metadata_log_entries": len(log), "previous_versions_max": most},
            facts.command("properties set", f"{DELETE_AFTER_COMMIT.name}=true"),
        )


def _clocks(facts: TableFacts) -> Iterator[Finding]:
    metadata = facts.metadata
    ahead = max([metadata.last_updated_ms, *(one.timestamp_ms for one in metadata.snapshots)]) - facts.now_ms
    if ahead > SKEW_MS:
        yield Finding(
            "clock-ahead",
            Severity.WARNING,
            f"The newest change is dated {ahead / 1000:,.0f} seconds after this machine's clock: the clock of a writer is ahead, or this "
            "one is behind. Expiry and time travel go by these times.",
            {"ahead_ms": ahead, "last_updated": iso_time(metadata.last_updated_ms)},
        )
    back = 0
    for one in metadata.snapshots:
        parent = None if one.parent_snapshot_id is None else metadata.snapshot_by_id(one.parent_snapshot_id)
        back = max(back, 0 if parent is None else parent.timestamp_ms - one.timestamp_ms)
    if back > SKEW_MS:
        yield Finding(
            "clock-skew",
            Severity.WARNING,
            f"A snapshot is dated {back / 1000:,.0f} seconds before its parent: the clocks of the writers differ.",
            {"back_ms": back},
        )


def _old_statistics(facts: TableFacts) -> Iterator[Finding]:
    snapshot = facts.snapshot
    described = {one.snapshot_id for one in facts.metadata.statistics}
    if snapshot is None or not described or snapshot.snapshot_id in described:
        return
    newest = next((one for one in ancestors_of(snapshot, facts.metadata) if one.snapshot_id in described), None)
    if newest is None:
        return
    age = snapshot.timestamp_ms - newest.timestamp_ms
    yield Finding(
        "old-statistics",
        Severity.INFO,
        f"The newest column statistics describe a snapshot that is {age_text(age)} older than the current one.",
        {"statistics_snapshot_id": str(newest.snapshot_id), "age_days": round(age / DAY_MS, 1)},
        facts.command("analyze"),
    )
