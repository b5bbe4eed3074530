"""The snapshots, branches and tags that expiry removes, by rule."""

import pytest
from icefloe.exceptions import ValidationError
from icefloe.partitioning import UNPARTITIONED_PARTITION_SPEC
from icefloe.schema import Schema
from icefloe.table.maintenance.expiry.retention import RetentionRules, retention
from icefloe.table.metadata import new_table_metadata
from icefloe.table.metadata.entries import Snapshots
from icefloe.table.refs import SnapshotRef
from icefloe.table.sorting import UNSORTED_SORT_ORDER
from icefloe.types import LongType, NestedField

DAY = 86_400_000
NOW = 100 * DAY


def table_of(snapshots, refs, properties=None):
    """Metadata with snapshots `id: (parent, age in days)` and refs `name: (type, snapshot, settings)`."""
    empty = new_table_metadata(
        schema=Schema(NestedField(1, "id", LongType())),
        partition_spec=UNPARTITIONED_PARTITION_SPEC,
        sort_order=UNSORTED_SORT_ORDER,
        location="/t",
        properties=properties or {},
    )
    entries = [
        {
            "snapshot-id": one,
            "parent-snapshot-id": parent,
            "timestamp-ms": NOW - int(age * DAY),
            "manifest-list": f"/t/{one}",
        }
        for one, (parent, age) in snapshots.items()
    ]
    named = {
        name: SnapshotRef(snapshot_id=snapshot, type=kind, **settings)
        for name, (kind, snapshot, settings) in refs.items()
    }
    main = named.get("main")
    return empty.with_(
        snapshots=Snapshots(entries), refs=named, current_snapshot_id=None if main is None else main.snapshot_id
    )


def line(*ages):
    """Snapshots 1, 2, ... of these ages, each the parent of the next."""
    return {number: (number - 1 if number > 1 else None, age) for number, age in enumerate(ages, 1)}


def expired(metadata, **rules):
    found = retention(metadata, RetentionRules(now_ms=NOW, **rules))
    return set(found.expired_ids), set(found.expired_refs)


MAIN = {"main": ("branch", 4, {})}


def test_table_properties_decide_without_arguments():
    metadata = table_of(line(9, 6, 4, 1), MAIN)
    assert expired(metadata) == ({1, 2}, set())
    assert expired(table_of(line(9, 6, 4, 1), MAIN, {"history.expire.min-snapshots-to-keep": "3"})) == ({1}, set())
    assert expired(table_of(line(9, 6, 4, 1), MAIN, {"history.expire.max-snapshot-age-ms": str(2 * DAY)})) == (
        {1, 2, 3},
        set(),
    )


def test_snapshot_of_exactly_the_time_stays():
    metadata = table_of(line(9, 6, 4, 1), MAIN)
    assert expired(metadata, older_than_ms=NOW - 6 * DAY) == ({1}, set())
    assert expired(metadata, older_than_ms=NOW - 6 * DAY + 1) == ({1, 2}, set())


def test_last_snapshots_stay_whatever_their_age():
    assert expired(table_of(line(9, 6, 4, 1), MAIN), older_than_ms=NOW, retain_last=2) == ({1, 2}, set())
    assert expired(table_of(line(9, 6, 4, 1), MAIN), older_than_ms=NOW, retain_last=9) == (set(), set())


def test_settings_of_a_branch_precede_arguments():
    settings = {"min_snapshots_to_keep": 3, "max_snapshot_age_ms": 1}
    metadata = table_of(line(9, 6, 4, 1), {"main": ("branch", 4, settings)})
    assert expired(metadata, older_than_ms=NOW, retain_last=1) == ({1}, set())
    assert expired(metadata, older_than_ms=0) == ({1}, set())


def test_walk_stops_at_the_first_snapshot_that_fails():
    """Snapshot 1 is young by its clock, but its child is old: ancestry decides, not time."""
    assert expired(table_of(line(0.5, 9, 0.2), {"main": ("branch", 3, {})})) == ({1, 2}, set())


def test_snapshots_of_equal_times_are_ordered_by_parents():
    assert expired(table_of(line(9, 9, 9, 9), MAIN), older_than_ms=NOW, retain_last=2) == ({1, 2}, set())


def test_staged_and_rolled_back_snapshots_follow_the_time_alone():
    snapshots = {**line(9, 4), 7: (1, 6), 8: (1, 1)}
    metadata = table_of(snapshots, {"main": ("branch", 2, {"max_snapshot_age_ms": 1})})
    assert expired(metadata) == ({1, 7}, set())
    assert expired(metadata, older_than_ms=NOW) == ({1, 7, 8}, set())


def test_tags_keep_one_snapshot_and_branches_their_history():
    refs = {"main": ("branch", 4, {}), "v1": ("tag", 2, {}), "dev": ("branch", 6, {"min_snapshots_to_keep": 2})}
    metadata = table_of({**line(9, 8, 7, 1), 5: (1, 9), 6: (5, 9)}, refs)
    assert expired(metadata) == ({1, 3}, set())


def test_refs_expire_by_age_and_main_never():
    refs = {
        "main": ("branch", 1, {"max_ref_age_ms": 1}),
        "old": ("tag", 1, {"max_ref_age_ms": 8 * DAY}),
        "young": ("tag", 1, {"max_ref_age_ms": 9 * DAY}),
        "unset": ("branch", 1, {}),
    }
    metadata = table_of(line(9), refs)
    assert expired(metadata) == (set(), {"old"})
    assert expired(metadata, max_ref_age_ms=DAY) == (set(), {"old", "unset"})
    by_property = table_of(line(9), refs, {"history.expire.max-ref-age-ms": str(DAY)})
    assert expired(by_property) == (set(), {"old", "unset"})


def test_ref_of_a_missing_snapshot_expires():
    assert expired(table_of(line(1), {"main": ("branch", 1, {}), "gone": ("tag", 77, {})})) == (set(), {"gone"})


def test_expired_branch_releases_its_history():
    refs = {"main": ("branch", 1, {}), "dev": ("branch", 2, {"max_ref_age_ms": DAY})}
    assert expired(table_of({1: (None, 1), 2: (1, 6)}, refs)) == ({2}, {"dev"})


def test_named_snapshots_alone_expire_nothing_by_age():
    metadata = table_of(line(9, 6, 4, 1), {**MAIN, "old": ("tag", 1, {"max_ref_age_ms": 1})})
    assert expired(metadata, by_age=False, snapshot_ids=frozenset({3})) == ({3}, set())


def test_named_ancestor_expires_although_its_branch_keeps_it():
    assert expired(table_of(line(3, 2, 1, 0), MAIN), snapshot_ids=frozenset({2})) == ({2}, set())


def test_named_head_of_a_ref_is_refused():
    metadata = table_of(line(9, 1), {"main": ("branch", 2, {}), "v1": ("tag", 1, {})})
    with pytest.raises(ValidationError, match="cannot expire snapshot 1: it is the head of tag 'v1'"):
        expired(metadata, snapshot_ids=frozenset({1}))


def test_head_of_an_expiring_ref_may_be_named():
    metadata = table_of(line(9, 1), {"main": ("branch", 2, {}), "v1": ("tag", 1, {"max_ref_age_ms": 1})})
    assert expired(metadata, snapshot_ids=frozenset({1})) == ({1}, {"v1"})


def test_parents_in_a_circle_end():
    assert expired(table_of({1: (2, 1), 2: (1, 9)}, {"main": ("branch", 1, {})})) == ({2}, set())


def test_every_snapshot_and_ref_has_a_reason():
    snapshots = {**line(9, 6, 4, 1), 5: (4, 7), 6: (None, 0)}
    refs = {**MAIN, "v1": ("tag", 3, {"max_ref_age_ms": DAY})}
    found = retention(table_of(snapshots, refs), RetentionRules(now_ms=NOW, retain_last=2, snapshot_ids=frozenset({2})))
    assert {fate.snapshot_id: fate.reason for fate in found.snapshots} == {
        1: "beyond the history that its branch keeps",
        2: "expires by its id",
        3: "among the last 2 snapshots of branch 'main'",
        4: "head of branch 'main'",
        5: "on no branch, and older than 1970-04-06T00:00:00.000Z",
        6: "on no branch, and not older than 1970-04-06T00:00:00.000Z",
    }
    assert {fate.name: fate.reason for fate in found.refs} == {
        "main": "main always stays",
        "v1": "its snapshot is older than 1 day, 0:00:00",
    }


def test_table_without_snapshots_has_nothing_to_expire():
    assert expired(table_of({}, {})) == (set(), set())
