"""Changelogs of random histories against the difference of the states before and after each snapshot."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from icefloe.catalog import load_catalog

from tests.property.test_deletes import Run, changes, ids, rows

CHANGE_COLUMNS = ["_change_type", "_change_ordinal", "_commit_snapshot_id"]
steps = st.one_of(
    changes,
    st.tuples(st.just("overwrite"), st.lists(rows, min_size=1, max_size=6), ids),
    st.tuples(st.just("upsert"), st.dictionaries(st.integers(0, 4), rows, min_size=1, max_size=4)),
    st.tuples(st.just("mode"), st.sampled_from(["copy-on-write", "merge-on-read"])),
)


class ChangingRun(Run):
    """A table that is changed in all the ways that there are; its own snapshots are the oracle."""

    def overwrite(self, values, key):
        filters = f"{self.names[0]} is null" if key is None else f"{self.names[0]} = {key}"
        self.table.overwrite(self.arrow(values, (0, 1, 2)), filters)

    def upsert(self, by_key):
        values = [(key, *row[1:]) for key, row in by_key.items()]
        ids_there = Counter(row[0] for row in state(self.table, self.table.current_snapshot()).elements())
        if all(ids_there[key] < 2 for key in by_key):
            self.table.upsert(self.arrow(values, (0, 1, 2)), join_cols=[self.names[0]])

    def mode(self, name):
        with self.table.update_properties() as update:
            update.set_properties({"write.delete.mode": name, "write.merge.mode": name})

    def keys(self, places, keys, scope, file_format="parquet"):
        self.oracle.rows.clear()  # All keys are global: the oracle of scopes is not needed.
        super().keys(places, keys, 0, file_format)

    def positions(self, numbers):
        wanted = ", ".join(str(number % 5) for number in numbers)
        self.table.delete(f"{self.names[0]} in ({wanted})")


def state(table, snapshot):
    """The rows of a snapshot and how often each is there."""
    if snapshot is None:
        return Counter()
    return Counter(tuple(row.values()) for row in table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().to_pylist())


def reported(scan):
    """The changes by snapshot: rows that came and rows that went, how often each."""
    found: dict[int, tuple[Counter, Counter]] = {}
    for row in scan.to_arrow().to_pylist():
        kind, _, snapshot_id = (row.pop(name) for name in CHANGE_COLUMNS)
        came, went = found.setdefault(snapshot_id, (Counter(), Counter()))
        (came if kind in ("INSERT", "UPDATE_AFTER") else went)[tuple(row.values())] += 1
    return found


@settings(max_examples=60)
@given(st.lists(steps, min_size=3, max_size=10), st.integers(0, 9), st.integers(0, 9))
def test_changes_are_what_differs(history, start, end):
    with load_catalog("scratch", type="memory") as catalog:
        catalog.create_namespace("db")
        run = ChangingRun(catalog, "t", "file")
        for name, *arguments in history:
            if name == "keys" and run.table.current_snapshot() is None:
                continue
            getattr(run, name)(*arguments)
        table, snapshots = run.table, [None, *run.table.snapshots()]
        states = [state(table, one) for one in snapshots]
        found = reported(table.incremental_changelog_scan())
        for before, after, snapshot in zip(states, states[1:], snapshots[1:], strict=False):
            came, went = found.get(snapshot.snapshot_id, (Counter(), Counter()))
            assert (came, went) == (after - before, before - after)
        first, last = sorted((start % len(snapshots), end % len(snapshots)))
        if snapshots[last] is None:
            return
        bounds = {
            "from_snapshot_id_exclusive": snapshots[first] and snapshots[first].snapshot_id,
            "to_snapshot_id_inclusive": snapshots[last].snapshot_id,
        }
        replayed = Counter(states[first])
        changed = reported(table.incremental_changelog_scan(**bounds))
        for snapshot in snapshots[first + 1 : last + 1]:
            came, went = changed.get(snapshot.snapshot_id, (Counter(), Counter()))
            assert went <= replayed
            replayed = replayed - went + came
        assert replayed == states[last]
        net = reported(table.incremental_changelog_scan(**bounds, net_changes=True)).values()
        assert sum((came for came, _ in net), Counter()) == states[last] - states[first]
        assert sum((went for _, went in net), Counter()) == states[first] - states[last]
        assert table.incremental_changelog_scan(**bounds).count() == sum(
            came.total() + went.total() for came, went in changed.values()
        )
