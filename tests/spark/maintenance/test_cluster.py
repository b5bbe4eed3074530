"""Plans that executors of a session execute: equal to the driver's work, and sound when tasks fail."""

import os
import pickle
import signal
import threading
import uuid
from collections import Counter
from dataclasses import replace
from pathlib import Path

import psutil
import pyarrow as pa
import pytest
from icefloe.exceptions import MissingFileError, ValidationError, ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.spark import call
from icefloe.spark.maintenance import data_file_groups, execute
from icefloe.spark.maintenance.column_sketches import ClusterComputeStatistics
from icefloe.spark.session import settings
from icefloe.table.scan.plan import Packing
from icefloe.table.write.file_writer import FileWriter

ROWS = 8_000
SCHEMA = pa.schema(
    [("id", pa.int64()), ("kind", pa.string()), ("text", pa.string()), ("s", pa.struct([("x", pa.int64())]))]
)
BY_KIND = PartitionSpec(PartitionField(2, 1000, "identity", "kind"))
SIZES = {
    "target_file_size_bytes": 10_000,
    "min_file_size_bytes": 7_000,
    "max_file_size_bytes": 18_000,
    "rewrite_all": True,
}


def rows(first, count=ROWS):
    numbers = range(first, first + count)
    return pa.table(
        {
            "id": [number * 7919 % 5000 if number % 50 else None for number in numbers],
            "kind": ["abc"[number % 3] for number in numbers],
            "text": [f"a text of row {number}" for number in numbers],
            "s": [{"x": number % 97} if number % 11 else None for number in numbers],
        },
        SCHEMA,
    )


@pytest.fixture(autouse=True)
def many_cores(spark):
    """Let the session of two cores divide its work as a cluster does."""
    with settings(spark, {"spark.sql.leafNodeDefaultParallelism": "4"}):
        yield


@pytest.fixture
def table(catalog):
    made = new(catalog)
    for first in (0, ROWS, 2 * ROWS):
        made.append(rows(first))
    made.delete("text = 'a text of row 77'")
    return made


def new(catalog, spec=None, **properties):
    named = {"write.delete.mode": "merge-on-read", "write.parquet.row-group-limit": "1000", **properties}
    arguments = {} if spec is None else {"partition_spec": spec}
    return catalog.create_table(f"db.m{uuid.uuid4().hex}", SCHEMA, properties=named, **arguments)


def content(table, **version):
    return Counter(map(str, table.scan(**version).to_arrow().to_pylist()))


def data_files(table):
    files = table.inspect.data_files()
    return files.sort_by("file_path")


def ordered_files(table, key):
    """Return the rows of each data file, the files in the order of their first key."""
    scan = table.scan().plan_whole_files()
    files = [replace(scan, files=scan.files.slice(place, 1)) for place in range(scan.files.num_rows)]
    found = [pa.Table.from_batches(one.stream()).column(key).to_pylist() for one in files]
    return sorted(found, key=lambda values: by_id(values[0]))


def by_id(value):
    return (value is None, value)


def test_sorted_group_is_cut_into_files_that_do_not_overlap(spark, table):
    table.update_sort_order().asc("id", "identity", "nulls-last").commit()
    before, first = content(table), table.current_snapshot().snapshot_id
    plan = table.maintenance.rewrite_data_files().sort().options(**SIZES).plan()
    assert plan.groups.num_rows == 1
    result = execute(table, pickle.loads(pickle.dumps(plan)), spark)
    assert content(table) == before
    files = ordered_files(table, "id")
    assert len(files) == result.added_data_files_count > 3
    ids = [number for own in files for number in own]
    assert ids == sorted(ids, key=by_id)
    assert set(data_files(table).column("sort_order_id").to_pylist()) == {table.sort_order().order_id}
    assert sum(data_files(table).column("record_count").to_pylist()) == 3 * ROWS - 1
    # The driver alone arranges the rows alike.
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    table.maintenance.rewrite_data_files().sort().options(**SIZES).execute()
    assert [number for own in ordered_files(table, "id") for number in own] == ids
    assert spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "10000"


@pytest.mark.parametrize("order", ["zorder(id, s.x)", "hilbert(id, s.x)", "text DESC, bucket(4, id)"])
def test_rows_of_a_cut_group_are_unchanged(spark, table, order):
    before = content(table)
    options = {key.replace("_", "-"): str(value).lower() for key, value in SIZES.items()}
    row = call("rewrite_data_files", table, "sort", order, options, spark=spark)
    assert row["rewritten_data_files_count"] == 3
    assert row["added_data_files_count"] > 3
    assert content(table) == before
    again = call("rewrite_data_files", table, "sort", order, {**options, "rewrite-all": "false"}, spark=spark)
    assert again["rewritten_data_files_count"] == 0


def test_partitions_of_an_older_spec_are_cut(spark, table):
    with table.update_spec() as update:
        update.add_field("kind", "identity", "kind")
    before = content(table)
    result = execute(table, table.maintenance.rewrite_data_files().options(**SIZES).plan(), spark)
    assert content(table) == before
    files = table.inspect.data_files()
    assert set(files.column("spec_id").to_pylist()) == {1}
    assert {one["kind"] for one in files.column("partition").to_pylist()} == {"a", "b", "c"}
    assert result.added_data_files_count == files.num_rows


def test_group_is_cut_where_four_tasks_run_at_the_same_time(spark, table, monkeypatch):
    cut = []
    ranges = data_file_groups.range_results
    monkeypatch.setattr(data_file_groups, "range_results", lambda *given: cut.append(1) or ranges(*given))
    first = table.current_snapshot().snapshot_id
    builder = table.maintenance.rewrite_data_files().sort("id").options(**SIZES)
    with settings(spark, {"spark.sql.leafNodeDefaultParallelism": "3"}):
        execute(table, builder.plan(), spark)
    assert not cut
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    execute(table, builder.plan(), spark)
    assert cut


def test_group_below_the_target_size_is_one_file(spark, table):
    before = content(table)
    result = execute(table, table.maintenance.rewrite_data_files().sort("id").options(rewrite_all=True).plan(), spark)
    assert result.added_data_files_count == 1
    assert content(table) == before


def files_below(table):
    return {path.name for path in Path(table.location(), "data").rglob("*.parquet")}


def test_task_that_fails_leaves_the_table(spark, table):
    before, head = content(table), table.current_snapshot().snapshot_id
    plan = table.maintenance.rewrite_data_files().sort("id").options(**SIZES).plan()
    path = Path(plan.files.column("file_path")[2].as_py().removeprefix("file://"))
    hidden = path.with_suffix(".hidden")
    path.rename(hidden)
    with pytest.raises(MissingFileError):
        execute(table, plan, spark)
    hidden.rename(path)
    table.refresh()
    assert table.current_snapshot().snapshot_id == head
    assert content(table) == before
    assert execute(table, plan, spark).rewritten_data_files_count == 3
    assert content(table) == before


def is_of_pyspark(process):
    try:
        return process is not None and "pyspark" in " ".join(process.cmdline())
    except psutil.Error:
        return False


def workers():
    """Return the Python workers of the session, whose parent is Spark's daemon."""
    children = psutil.Process().children(recursive=True)
    return [one for one in children if is_of_pyspark(one) and is_of_pyspark(one.parent())]


def test_rewrite_survives_killed_workers(spark, table):
    before, known = content(table), files_below(table)
    killed = []

    def kill():
        for _ in range(3_000):
            if files_below(table) - known:
                for one in workers():
                    os.kill(one.pid, signal.SIGKILL)
                    killed.append(one.pid)
                return
            stop.wait(0.01)

    stop = threading.Event()
    thread = threading.Thread(target=kill)
    thread.start()
    result = execute(table, table.maintenance.rewrite_data_files().sort("id").options(**SIZES).plan(), spark)
    stop.set()
    thread.join()
    assert killed
    assert result.rewritten_data_files_count == 3
    assert content(table) == before
    orphans = table.maintenance.remove_orphan_files().older_than("0s").force().execute()
    assert content(table) == before
    assert all(path.endswith(".parquet") for path in orphans.orphan_file_locations.to_pylist())


# ---- position deletes


@pytest.fixture
def deleted(catalog):
    made = new(catalog, BY_KIND, **{"write.delete.granularity": "partition"})
    for first in (0, 30):
        made.append(rows(first, 30))
    for number in range(0, 60, 5):
        made.delete(f"text = 'a text of row {number}'")
    return made


def delete_files(table):
    files = table.inspect.delete_files()
    return sorted(
        (str(one["partition"]), one["record_count"], one["content"], one["referenced_data_file"])
        for one in files.to_pylist()
    )


@pytest.mark.parametrize("granularity", ["file", "partition"])
def test_position_deletes_are_those_of_the_driver(spark, deleted, granularity):
    with deleted.update_properties() as update:
        update.set_properties({"write.delete.granularity": granularity})
    before, first = content(deleted), deleted.current_snapshot().snapshot_id
    plan = deleted.maintenance.rewrite_position_deletes().options(rewrite_all=True, min_input_files=2).plan()
    result = execute(deleted, pickle.loads(pickle.dumps(plan)), spark)
    by_executors, numbers = (
        delete_files(deleted),
        sorted(deleted.inspect.entries().column("sequence_number").to_pylist()),
    )
    assert content(deleted) == before
    assert len(deleted.inspect.delete_files()) == result.added_delete_files_count == (6 if granularity == "file" else 3)
    deleted.manage_snapshots().rollback_to_snapshot(first).commit()
    local = deleted.maintenance.execute(plan)
    assert local.rewritten_delete_files_count == result.rewritten_delete_files_count == 12
    assert delete_files(deleted) == by_executors
    assert sorted(deleted.inspect.entries().column("sequence_number").to_pylist()) == numbers


def test_position_deletes_of_removed_data_are_dropped(spark, deleted):
    deleted.maintenance.rewrite_data_files().filter("kind = 'a'").options(
        rewrite_all=True, use_starting_sequence_number=False
    ).execute()
    before = content(deleted)
    row = call("rewrite_position_delete_files", deleted, {"rewrite-all": "true"}, spark=spark)
    assert content(deleted) == before
    assert {one[0] for one in delete_files(deleted)} == {"{'kind': 'b'}", "{'kind': 'c'}"}
    assert row["added_delete_files_count"] == len(delete_files(deleted))


def test_position_deletes_with_partial_progress_are_several_commits(spark, deleted):
    before, count = content(deleted), len(deleted.snapshots())
    options = {"rewrite_all": True, "partial_progress_enabled": True, "partial_progress_max_commits": 2}
    plan = deleted.maintenance.rewrite_position_deletes().options(**options).plan()
    result = execute(deleted, plan, spark)
    assert len(deleted.snapshots()) == count + 2
    assert content(deleted) == before
    assert result.rewritten_delete_files_count == 12


def test_partial_progress_leaves_partitions_that_fail(spark, deleted):
    before = content(deleted)
    options = {"rewrite_all": True, "partial_progress_enabled": True, "partial_progress_max_commits": 3}
    plan = deleted.maintenance.rewrite_position_deletes().options(**options).plan()
    path = Path(plan.files.column("file_path")[0].as_py().removeprefix("file://"))
    hidden = path.with_suffix(".hidden")
    path.rename(hidden)
    result = execute(deleted, plan, spark)
    hidden.rename(path)
    assert (result.failed_delete_files_count, result.rewritten_delete_files_count) == (4, 8)
    assert "4 delete files not rewritten" in result.summary()
    assert content(deleted) == before


def test_conflict_of_position_deletes_keeps_the_table(spark, deleted):
    plan = deleted.maintenance.rewrite_position_deletes().options(rewrite_all=True).plan()
    other = deleted.catalog.load_table(deleted.name())
    other.maintenance.rewrite_position_deletes().options(rewrite_all=True).execute()
    before, known = content(other), {path.name for path in Path(deleted.location(), "data").rglob("*")}
    with pytest.raises(ValidationException):
        execute(deleted, plan, spark)
    deleted.refresh()
    assert content(deleted) == before
    assert {path.name for path in Path(deleted.location(), "data").rglob("*")} == known


def test_failing_task_of_position_deletes_keeps_the_table(spark, deleted):
    head = deleted.current_snapshot().snapshot_id
    plan = deleted.maintenance.rewrite_position_deletes().options(rewrite_all=True).plan()
    path = Path(plan.files.column("file_path")[0].as_py().removeprefix("file://"))
    hidden = path.with_suffix(".hidden")
    path.rename(hidden)
    with pytest.raises(MissingFileError):
        execute(deleted, plan, spark)
    hidden.rename(path)
    deleted.refresh()
    assert deleted.current_snapshot().snapshot_id == head


# ---- statistics


def test_sketches_are_those_of_the_driver(spark, table):
    keys = pa.table({"id": [7, 14]}, pa.schema([("id", pa.int64())]))
    writer = FileWriter(table.io, table.metadata, str(uuid.uuid4()))
    table.new_row_delta().add_deletes(writer.equality_deletes(keys, [1])).commit()
    builder = table.maintenance.compute_statistics().columns("id", "kind", "text", "s.x")
    local = builder.execute()
    with table.update_statistics() as update:
        update.remove_statistics(table.current_snapshot().snapshot_id)
    plan = pickle.loads(pickle.dumps(builder.plan()))
    result = ClusterComputeStatistics(table, spark=spark, packing=Packing(20_000, 1, 1)).execute(plan)
    assert result.distinct_counts == local.distinct_counts
    assert result.distinct_counts["kind"] == 3
    both = [Path(one.statistics_file.statistics_path.removeprefix("file://")).read_bytes() for one in (local, result)]
    assert both[0] == both[1]
    assert execute(table, builder.plan(), spark).statistics_file is None
    path = call("compute_table_stats", table, columns=["text"], spark=spark)["statistics_file"]
    assert path == result.statistics_file.statistics_path


def test_execute_refuses_a_table_of_another_type():
    with pytest.raises(ValidationError, match=r"execute, table: expected a Table, .* got 'db\.t'"):
        execute("db.t", None, None)
