"""Delete files that the commits of a rewrite remove, beside commits of others, against a naive oracle."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationException
from icefloe.table.maintenance.branch_plan import PLAN_ID
from icefloe.table.maintenance.rewrite import run
from icefloe.table.write.equality_deletes import write_equality_deletes

from tests.unit.table.maintenance.every_file import SCHEMA, ids_of

KINDS = 3
GLOBAL, BY_KIND = 0, 1
"""The ids of the partition specs: without fields, and by kind."""
POSITION, EQUALITY = 1, 2

ids = st.sets(st.integers(0, 20), min_size=1, max_size=8).map(sorted)
granularity = st.sampled_from(["file", "partition"])
appends = st.tuples(st.just("append"), st.integers(1, 6))
positions = st.tuples(st.just("positions"), ids, granularity)
changes = st.one_of(
    appends, appends, positions, positions, st.tuples(st.just("keys"), ids, st.sampled_from([GLOBAL, BY_KIND]))
)
concurrent_changes = st.one_of(
    st.tuples(st.just("nothing")),
    appends,
    positions,
    # A key of the spec by kind deletes no row of older files, which the rewrite moves to the spec.
    st.tuples(st.just("keys"), ids, st.just(GLOBAL)),
    st.tuples(st.just("remove"), st.integers(0, KINDS - 1)),
)
options = st.fixed_dictionaries(
    {
        "use_starting_sequence_number": st.booleans(),
        "partial_progress_max_commits": st.integers(1, 6),
        "max_file_group_size_bytes": st.sampled_from([1, 2_000, 1_000_000]),
    }
)
filters = st.sampled_from(["true", "true", "id < 10", "kind = 'k1'", "kind != 'k0'"])


class Writer:
    """A writer of a table of rows with distinct ids."""

    def __init__(self, table):
        self.table = table
        self.next = 0

    def run(self, verb, *arguments):
        self.table.refresh()
        getattr(self, verb)(*arguments)

    def nothing(self):
        """Commit nothing."""

    def append(self, count):
        self.table.append(rows_of(range(self.next, self.next + count)))
        self.next += count

    def positions(self, deleted, size):
        self.table.transaction().set_properties({"write.delete.granularity": size}).commit_transaction()
        self.table.delete(f"id in ({', '.join(map(str, deleted))})")

    def keys(self, deleted, spec_id):
        if spec_id in self.table.metadata.specs():
            delta = self.table.new_row_delta()
            for file in write_equality_deletes(
                self.table.io, self.table.metadata, rows_of(deleted), [1], spec_id=spec_id
            ):
                delta.add_deletes(file)
            delta.commit()

    def remove(self, kind):
        self.table.delete(f"kind = 'k{kind}'")

    def respec(self):
        self.table.update_spec().add_identity("kind").commit()


def rows_of(numbers):
    return pa.table({"id": pa.array(numbers, pa.int64()), "kind": [f"k{one % KINDS}" for one in numbers]})


def live_files(table, snapshot_id):
    """The live data files and delete files of a snapshot by path, with their sequence numbers."""
    data, deletes = {}, {}
    for entry in table.inspect.entries(snapshot_id=snapshot_id).to_pylist():
        if entry["status"] != 2:
            file = {**entry["data_file"], "sequence_number": entry["sequence_number"]}
            (deletes if file["content"] else data)[file["file_path"]] = file
    return data, deletes


def values_in(path, column):
    return set(pq.read_table(path.removeprefix("file://"), columns=[column]).column(0).to_pylist())


def is_needed(delete, data):
    """Whether a delete file deletes rows of a data file, by the definitions of the specification."""
    if delete["content"] == POSITION:
        return bool(values_in(delete["file_path"], "file_path") & data.keys())
    keys = values_in(delete["file_path"], "id")
    return any(
        one["sequence_number"] < delete["sequence_number"]
        and (delete["spec_id"] == GLOBAL or (one["spec_id"], one["partition"]) == (BY_KIND, delete["partition"]))
        and keys & values_in(one["file_path"], "id")
        for one in data.values()
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(changes, min_size=2, max_size=5),
    st.lists(changes, min_size=1, max_size=5),
    st.just([]) | st.lists(concurrent_changes, max_size=6),
    filters,
    options,
)
def test_rewrite_removes_only_deletes_that_no_live_data_file_needs(before, after, concurrent, row_filter, chosen):
    with load_catalog("scratch", type="memory") as catalog, pytest.MonkeyPatch.context() as patches:
        catalog.create_namespace("db")
        table = catalog.create_table("db.t", SCHEMA, properties={"write.delete.mode": "merge-on-read"})
        writer = Writer(catalog.load_table("db.t"))
        for change in [("append", 5), *before, ("respec",), ("append", 6), *after]:
            writer.run(*change)
        commit, waiting = run.commit_groups, iter(concurrent)

        def commit_after_a_change(*arguments):
            writer.run(*next(waiting, ("nothing",)))
            expected = ids_of(writer.table.scan())
            try:
                return commit(*arguments)
            finally:
                assert ids_of(writer.table.refresh().scan()) == expected

        patches.setattr(run, "commit_groups", commit_after_a_change)
        table.refresh()
        used = set(table.scan().plan_whole_files().deletes.column("file_path").to_pylist())
        rewrite = table.maintenance.rewrite_data_files().filter(row_filter)
        rewrite.options(rewrite_all=True, partial_progress_enabled=True, **chosen)
        try:
            rewrite.execute()
        except ValidationException:
            assert any(change[0] != "nothing" for change in concurrent)
        table.refresh()
        for snapshot in table.snapshots():
            if PLAN_ID in (snapshot.summary or {}):
                _, previous = live_files(table, snapshot.parent_snapshot_id)
                data, deletes = live_files(table, snapshot.snapshot_id)
                removed = [delete for path, delete in previous.items() if path not in deletes]
                assert [delete["file_path"] for delete in removed if is_needed(delete, data)] == []
        if all(change[0] == "nothing" for change in concurrent):
            data, deletes = live_files(table, table.current_snapshot().snapshot_id)
            left = [delete for path, delete in deletes.items() if path in used]
            assert [delete["file_path"] for delete in left if not is_needed(delete, data)] == []
