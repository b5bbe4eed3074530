"""Micro-batches of the streaming source: starts, limits, skipped snapshots, restarts."""

from __future__ import annotations

import random
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import ValidationError
from icefloe.table.commit.rewrite_files import RewriteFiles
from icefloe.table.write.file_writer import FileWriter
from pyspark.sql import types as T  # noqa: N812

from tests.spark.stream.conftest import expire, ids_of, numbered
from tests.spark.stream.engine import Query


def compact(table):
    """Rewrite all files of a table into new ones, in a snapshot that changes no row."""
    transaction = table.transaction()
    change = RewriteFiles(transaction)
    change.delete([task.file_path for task in table.scan().plan_files()])
    writer = FileWriter(table.io, table.metadata, transaction.environment.new_uuid())
    change.append(writer.data_files(table.scan().to_arrow()))
    change.commit()
    transaction.commit_transaction()


def test_source_reads_each_appended_row_once(table, options):
    query = Query(options)
    assert query.ids() == []
    table.append(numbered(0, 10))
    table.append(numbered(10, 20))
    assert query.ids() == [list(range(20))]
    query.restart()
    table.append(numbered(20, 30))
    assert query.ids() == [list(range(20, 30))]


@pytest.mark.parametrize(
    ("limit", "value", "sizes"),
    [
        ("streaming-max-files-per-micro-batch", "3", [6, 6, 4]),
        ("streaming-max-rows-per-micro-batch", "5", [4, 4, 4, 4]),
        ("streaming-max-rows-per-micro-batch", "1", [2] * 8),
        ("streaming-max-bytes-per-micro-batch", "1", [2] * 8),
    ],
)
def test_limits_cut_micro_batches_at_files(table, options, limit, value, sizes):
    table.append(numbered(0, 8, kinds=4))
    table.append(numbered(8, 16, kinds=4))
    found = Query({**options, limit: value}).ids()
    assert [len(batch) for batch in found] == sizes
    assert sorted(chain.from_iterable(found)) == list(range(16))


@pytest.mark.parametrize("changes", ["false", "true"])
def test_split_size_cuts_a_micro_batch_into_tasks(table, options, changes):
    table.append(numbered(0, 4))
    table.append(numbered(4, 8))
    # The changes of the oldest snapshot are the rows of all of its files.
    expire(table, *ids_of(table)[:-1])

    def tasks(**given):
        query = Query({**options, "changes": changes, **{key.replace("_", "-"): value for key, value in given.items()}})
        return len(query.reader.partitions(*query.next_end()))

    assert tasks(split_size="1", locality="true") > tasks(vectorization_enabled="false")


@pytest.mark.parametrize("seed", range(8))
def test_random_limits_restarts_and_repeats_lose_and_double_no_row(table, options, seed):
    chance = random.Random(seed)
    query = Query({**options, "streaming-skip-delete-snapshots": "true", "streaming-skip-overwrite-snapshots": "true"})
    rows, found = 0, []
    for _ in range(chance.randint(4, 10)):
        step = chance.random()
        if step < 0.5:
            count = chance.randint(1, 12)
            table.append(numbered(rows, rows + count, kinds=chance.randint(1, 4)))
            rows += count
        elif step < 0.6 and rows > 0:
            table.delete(f"id = {chance.randrange(rows)}")
        elif step < 0.7 and any(True for _ in table.scan().plan_files()):
            compact(table)
        for _ in range(chance.randint(0, 3)):
            if chance.random() < 0.4:
                limits = {"streaming_max_files_per_micro_batch": str(chance.randint(1, 3))}
                query.restart(**limits, filter=f"id >= {-chance.randint(0, 1)}")
            start, end = query.next_end()
            if chance.random() < 0.3 and start != end:  # a crash before the commit: the same offsets are read again
                before = pa.concat_tables(query.rows(start, end)).sort_by("id") if query.rows(start, end) else None
                query.restart()
                again = query.rows(start, end)
                assert (pa.concat_tables(again).sort_by("id") if again else None) == before
                query.offset = end
                found += [] if before is None else before["id"].to_pylist()
            else:
                found += [row["id"] for row in query.batch() or []]
    found += [one for batch in query.ids() for one in batch]
    assert sorted(found) == list(range(rows))


def test_filter_and_columns_select_rows(table, options):
    table.append(numbered(0, 10, kinds=2))
    query = Query({**options, "filter": "kind = 1 and id > 3", "columns": "id"})
    assert sorted(row.popitem() for row in query.batch()) == [("id", 5), ("id", 7), ("id", 9)]


def test_small_files_of_many_snapshots_make_one_task(table, options):
    for start in range(0, 50, 10):
        table.append(numbered(start, start + 10))
    query = Query(options)
    assert [one.num_rows for one in query.rows(*query.next_end())] == [50]


def test_file_without_ids_is_read_beside_files_of_a_plan_from_before_its_name_mapping(table, options, tmp_path):
    table.append(numbered(0, 3, kinds=3))
    query = Query({**options, "streaming-max-files-per-micro-batch": "2"})
    assert [row["id"] for row in query.batch()] == [0, 1]
    table.update_spec().remove_field("kind").commit()
    path = str(tmp_path / "added.parquet")
    columns = {"kind": pa.array([4], pa.int32()), "id": pa.array([40], pa.int32())}
    pq.write_table(pa.table(columns), path)
    table.add_files([path])
    assert query.batch() == [{"id": 2, "kind": 2}, {"id": 40, "kind": 4}]


def test_starts_are_by_snapshot_time_and_latest(table, options):
    table.append(numbered(0, 10))
    table.append(numbered(10, 20))
    first, second = table.snapshots()
    assert Query({**options, "start-snapshot-id": str(first.snapshot_id)}).ids() == [list(range(10, 20))]
    assert Query({**options, "start-snapshot-id": str(second.snapshot_id)}).ids() == []
    assert Query({**options, "stream-from-timestamp": str(second.timestamp_ms)}).ids()[-1][-1] == 19
    assert Query({**options, "stream-from-timestamp": "0"}).ids() == [list(range(20))]
    later = Query({**options, "stream-from-timestamp": str(second.timestamp_ms + 10**9)})
    latest = Query({**options, "stream-from": "latest"})
    assert (later.ids(), latest.batch()) == ([], None)
    latest.offset = latest.next_end()[0]
    table.append(numbered(20, 30))
    assert latest.ids() == [list(range(20, 30))]
    assert later.ids() == []
    with pytest.raises(
        ValidationError, match=r"expected snapshot 7 among the ancestors.* pass the id of a snapshot of this"
    ):
        Query({**options, "start-snapshot-id": "7"}).batch()


def test_stream_of_a_branch_reads_its_snapshots(table, options):
    table.append(numbered(0, 3))
    table.append(numbered(3, 6), branch="audit")
    assert Query(options).ids() == [[0, 1, 2]]
    assert Query({**options, "branch": "audit"}).ids() == [list(range(6))]
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "release").commit()
    with pytest.raises(ValidationError, match=r"expected a branch of .* \(.*audit.*\), got 'release'"):
        Query({**options, "branch": "release"}).batch()


@pytest.mark.parametrize(
    ("change", "option"),
    [
        (lambda table: table.delete("kind = 1"), "streaming-skip-delete-snapshots"),
        (lambda table: table.delete("id = 1"), "streaming-skip-overwrite-snapshots"),
    ],
)
def test_snapshots_that_change_rows_are_refused_or_skipped(table, options, change, option):
    table.append(numbered(0, 8, kinds=2))
    query = Query(options)
    query.batch()
    change(table)
    table.append(numbered(8, 10))
    with pytest.raises(ValidationError, match=f"set {option}=true to skip such snapshots"):
        query.batch()
    query.restart(**{option: "true"})
    assert query.ids() == [[8, 9]]


def test_compactions_are_skipped(table, options):
    table.append(numbered(0, 4))
    query = Query(options)
    assert query.ids() == [[0, 1, 2, 3]]
    compact(table)
    table.append(numbered(4, 6))
    assert query.ids() == [[4, 5]]
    assert sorted(Query(options).ids()[0]) == list(range(6))


def test_first_remaining_snapshot_is_read_whole_with_its_deletes(new_table, lake_options):
    from tests.spark.stream.conftest import BY_KIND, SCHEMA

    table = new_table(SCHEMA, BY_KIND, write__delete__mode="merge-on-read")
    table.append(numbered(0, 8, kinds=4))
    table.append(numbered(8, 12, kinds=4))
    table.delete("id = 9")
    expire(table, *ids_of(table)[:-1])
    table.append(numbered(12, 14))
    options = {**lake_options, "path": ".".join(table.name())}
    assert Query(options).ids() == [[one for one in range(14) if one != 9]]
    cut = Query({**options, "streaming-max-files-per-micro-batch": "3"}).ids()
    assert (len(cut), sorted(chain.from_iterable(cut))) == (3, [one for one in range(14) if one != 9])
    changed = Query({**options, "changes": "true"}).batch()
    assert sorted((row["id"], row["_change_ordinal"]) for row in changed) == [
        (one, int(one > 11)) for one in range(14) if one != 9
    ]


# ---- a table that changed since the checkpoint


def test_changed_columns_stop_a_stream_and_new_columns_do_not(table, options):
    table.append(numbered(0, 2))
    query = Query(options)
    query.batch()
    from icefloe.types import StringType

    table.update_schema().add_column("note", StringType()).commit()
    table.append(pa.table({"id": [2], "kind": pa.array([0], pa.int32()), "note": ["n"]}))
    assert query.batch() == [{"id": 2, "kind": 0}]
    table.update_schema().rename_column("id", "number").commit()
    table.append(pa.table({"number": [3], "kind": pa.array([0], pa.int32()), "note": ["n"]}))
    with pytest.raises(
        ValidationError, match=r"schema of table .* changed .*restart the query with the same checkpoint"
    ):
        query.batch()
    query.restart()
    assert query.batch() == [{"number": 3, "kind": 0, "note": "n"}]


def test_column_that_becomes_optional_returns_nulls_unless_the_given_schema_has_not_null(new_table, lake_options):
    required = T.StructType([T.StructField("id", T.LongType(), False)])
    table = new_table(required)
    query = Query({**lake_options, "path": ".".join(table.name())})
    given = Query(query.options)
    given.schema = required
    given.reader = given.new_reader()
    assert query.ids() == given.ids() == []
    table.update_schema().make_column_optional("id").commit()
    table.append(pa.table({"id": pa.array([None], pa.int64())}))
    assert query.batch() == [{"id": None}]
    with pytest.raises(ValidationError, match=r"column 'id' may be null in the table; .* leave NOT NULL out"):
        given.batch()


def test_promoted_column_stops_a_stream(table, options):
    from icefloe.types import LongType

    table.append(numbered(0, 2))
    query = Query({**options, "columns": "id,kind"})
    query.batch()
    table.update_spec().remove_field("kind").commit()
    table.update_schema().update_column("kind", LongType()).commit()
    table.append(pa.table({"id": [2], "kind": [2**40]}))
    with pytest.raises(ValidationError, match="expected column kind int, got kind bigint"):
        query.batch()


# ---- changes


def test_changelog_stream_reads_each_change_once(table, options):
    table.append(numbered(0, 4, kinds=2))
    query = Query({**options, "changes": "true", "streaming-max-rows-per-micro-batch": "1"})
    assert [sorted((row["id"], row["_change_type"]) for row in query.batch())] == [
        [(one, "INSERT") for one in range(4)]
    ]
    table.delete("id = 1")
    compact(table)
    table.upsert(pa.table({"id": [2], "kind": pa.array([5], pa.int32())}), join_cols=["id"])
    changes = [query.batch(), query.batch(), query.batch()]
    assert changes[2] is None
    keys = [
        [(row["id"], row["kind"], row["_change_type"], row["_change_ordinal"]) for row in batch]
        for batch in changes[:2]
    ]
    assert keys == [[(1, 1, "DELETE", 0)], [(2, 0, "DELETE", 0), (2, 5, "INSERT", 0)]]
    updates = Query({**options, "changes": "true", "compute-updates": "true", "identifier-columns": "id"}).batch()
    kinds = [(row["_change_type"], row["_change_ordinal"]) for row in updates if row["id"] == 2]
    assert kinds == [("INSERT", 0), ("UPDATE_BEFORE", 2), ("UPDATE_AFTER", 2)]


def test_changelog_stream_needs_the_last_snapshot_that_it_read(table, options):
    table.append(numbered(0, 4))
    appends, deletes = Query({**options, "changes": "true"}), Query({**options, "changes": "true"})
    assert [len(query.batch()) for query in (appends, deletes)] == [4, 4]
    table.append(numbered(4, 6))
    expire(table, ids_of(table)[0])
    assert [row["id"] for row in appends.batch()] == [4, 5]
    deletes.batch()
    table.delete("id = 1")
    expire(table, ids_of(table)[0])
    with pytest.raises(
        ValidationError, match=r"expected snapshot \d+ in table .* start the query with a new checkpoint"
    ):
        deletes.batch()


def test_checkpoint_of_the_other_kind_of_stream_is_refused(table, options):
    table.append(numbered(0, 2))
    query = Query(options)
    query.batch()
    query.restart(changes="true")
    with pytest.raises(ValidationError, match="expected changes=false, got changes=true"):
        query.batch()


# ---- options


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"stream-from": "now"}, "option stream-from: expected earliest or latest, got 'now'"),
        (
            {"stream-from": "latest", "start-snapshot-id": "1"},
            "expected one of stream-from, .* got stream-from and start",
        ),
        ({"end-snapshot-id": "1"}, "unknown option of a streaming read.*got 'end-snapshot-id'"),
        ({"streaming-max-rows-per-micro-batch": "0"}, "expected a whole number above zero, got 0"),
        ({"streaming-max-rows-per-micro-batch": "ten"}, "expected a whole number, got 'ten'"),
        ({"streaming-skip-delete-snapshots": "yes"}, "expected true or false, got 'yes'"),
        ({"changes": "true", "streaming-skip-delete-snapshots": "true"}, "expected changes=false beside it"),
        ({"compute-updates": "true"}, "expected changes=true beside it"),
        ({"stream-form": "latest"}, "unknown option.*got 'stream-form'"),
    ],
)
def test_wrong_options_are_refused(options, given, message):
    from icefloe.spark.stream.options import SourceOptions

    with pytest.raises(ValidationError, match=message):
        SourceOptions.parse({**options, **given})


def test_limits_need_admission_control(options):
    from icefloe.exceptions import FeatureUnsupportedError
    from icefloe.spark.stream import admission
    from icefloe.spark.stream.limits import Limits

    if admission.ignores_limits(None) or hasattr(admission.read_limit(Limits(files=2)), "max_files"):
        admission.check_limits(Limits(files=2))
    else:
        with pytest.raises(FeatureUnsupportedError, match=r"expected Spark 4\.2 or later"):
            admission.check_limits(Limits(files=2))
    admission.check_limits(Limits())
