"""Random programs of writes and maintenance: no live file is deleted, in any order, and no orphan remains."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from icefloe.catalog import load_catalog

from tests.unit.table.maintenance.every_file import BY_KIND, SCHEMA, files_of, ids_of, make_old, put, rows

BRANCHES = ("main", "dev")
STEPS = st.one_of(
    st.tuples(st.just("append"), st.sampled_from(BRANCHES), st.integers(1, 3)),
    st.tuples(st.just("delete"), st.sampled_from(BRANCHES), st.integers(0, 5)),
    st.tuples(st.just("overwrite"), st.sampled_from(BRANCHES), st.integers(0, 5)),
    st.tuples(st.just("tag"), st.integers(0, 9), st.integers(0, 2)),
    st.tuples(st.just("untag"), st.integers(0, 2), st.just(0)),
    st.tuples(st.just("stage"), st.integers(1, 2), st.just(0)),
    st.tuples(st.just("rollback"), st.integers(0, 9), st.just(0)),
    st.tuples(st.just("manifests"), st.just(0), st.just(0)),
    st.tuples(st.just("expire"), st.integers(0, 9), st.integers(1, 3)),
    st.tuples(st.just("expire id"), st.integers(0, 9), st.just(0)),
    st.tuples(st.just("orphans"), st.booleans(), st.just(0)),
)


def in_an_hour():
    return datetime.now(timezone.utc) + timedelta(hours=1)


class Program:
    """A table, and the rows that each remaining snapshot must have."""

    def __init__(self, catalog):
        properties = {"write.delete.mode": "merge-on-read", "commit.manifest.min-count-to-merge": "3"}
        self.table = catalog.create_table("db.t", SCHEMA, partition_spec=BY_KIND, properties=properties)
        self.next = 0
        self.expected = {}
        self.append("main", 2)
        self.table.manage_snapshots().create_branch(self.table.current_snapshot().snapshot_id, "dev").commit()

    def run(self, verb, first, second):
        getattr(self, verb.replace(" ", "_"))(first, second)
        self.remember()

    def remember(self):
        """Record the rows of new snapshots, and compare those of the others."""
        for snapshot in self.table.snapshots():
            found = ids_of(self.table.scan(snapshot_id=snapshot.snapshot_id))
            assert self.expected.setdefault(snapshot.snapshot_id, found) == found

    def new_rows(self, count):
        self.next += count
        return rows(*range(self.next - count, self.next))

    def append(self, branch, count):
        self.table.append(self.new_rows(count), branch=branch)

    def delete(self, branch, modulus):
        self.table.delete(f"id >= {modulus} and id < {modulus + 3}", branch=branch)

    def overwrite(self, branch, start):
        self.table.overwrite(self.new_rows(1), f"id = {start}", branch=branch)

    def tag(self, place, name):
        if f"t{name}" not in self.table.refs():
            self.table.manage_snapshots().create_tag(self.snapshot_at(place), f"t{name}").commit()

    def untag(self, name, _):
        if f"t{name}" in self.table.refs():
            self.table.manage_snapshots().remove_tag(f"t{name}").commit()

    def stage(self, count, _):
        self.table.append(self.new_rows(count), branch=None, snapshot_properties={"wap.id": str(self.next)})

    def rollback(self, place, _):
        self.table.manage_snapshots().set_current_snapshot(self.snapshot_at(place)).commit()

    def manifests(self, *_):
        self.table.rewrite_manifests().commit()

    def expire(self, place, retained):
        moment = datetime.fromtimestamp(
            self.table.snapshots()[place % len(self.table.snapshots())].timestamp_ms / 1000, timezone.utc
        )
        self.check(self.table.maintenance.expire_snapshots().older_than(moment).retain_last(retained).execute())

    def expire_id(self, place, _):
        heads = {ref.snapshot_id for ref in self.table.refs().values()}
        snapshot = self.snapshot_at(place)
        if snapshot not in heads:
            self.check(self.table.maintenance.expire_snapshots().by_id(snapshot).execute())

    def orphans(self, planted, _):
        make_old(self.table)
        planted = {put(self.table, f"data/{self.next}.parquet")} if planted else set()
        before = files_of(self.table)
        result = self.table.maintenance.remove_orphan_files().execute()
        deleted = before - files_of(self.table)
        assert planted <= deleted
        assert {path for path in deleted - planted if not path.endswith(".metadata.json")} == set()
        assert result.deletion.failures == ()

    def check(self, result):
        assert (result.unread, result.ambiguous, result.deletion.failures) == ((), (), ())
        assert not set(result.snapshot_ids) & self.table.metadata.snapshots.positions().keys()

    def snapshot_at(self, place):
        snapshots = self.table.snapshots()
        return snapshots[place % len(snapshots)].snapshot_id


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=3, max_size=12))
def test_programs_keep_every_live_row_and_leave_no_orphan(steps):
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        program = Program(catalog)
        for verb, first, second in steps:
            program.run(verb, first, second)
        program.table.maintenance.expire_snapshots().older_than(in_an_hour()).execute()
        program.remember()
        make_old(program.table)
        found = program.table.maintenance.remove_orphan_files().plan().orphans.column("location").to_pylist()
        assert [path for path in found if not path.endswith(".metadata.json")] == []
        assert isinstance(program.table.scan().to_arrow(), pa.Table)
