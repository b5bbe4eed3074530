"""The join of a merge: its key columns, its temporary files, and the source that is read once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from icefloe.exceptions import SchemaMismatchError, ValidationError
from icefloe.table.row_level.memory_limit import MEMORY_LIMIT
from icefloe.table.row_level.source_rows import source_table

LIMITS = [MEMORY_LIMIT, 1]


@pytest.fixture
def table(catalog):
    table = catalog.create_table("db.j", pa.schema([("id", pa.int64()), ("part", pa.string()), ("n", pa.int64())]))
    for start in (0, 50):
        ids = range(start, start + 50)
        rows = {"id": ids, "part": [None if one % 3 == 0 else f"p{one % 3}" for one in ids], "n": ids}
        table.append(pa.table(rows, schema=table.schema().as_arrow()))
    return table


def changed(table):
    """Return the rows whose `n` a merge has changed."""
    rows = table.scan().to_arrow().sort_by("id").to_pylist()
    return {(row["id"], row["part"]): row["n"] for row in rows if row["n"] != row["id"]}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize(
    "on",
    [
        {"id": "key", "part": "piece"},
        "target.id = source.key and source.piece = target.part",
        "(TARGET.Id == source.KEY) and (target.part = (source.piece))",
    ],
)
def test_merge_joins_on_columns_of_other_names(table, on, limit):
    source = pa.table({"key": [1, 2, 3, 4, 99], "piece": ["p1", "p1", None, "p1", None], "v": [10, 20, 30, 40, 50]})
    merge = table.merge(source, on=on, memory_limit=limit).when_matched_update({"n": "source.v"})
    assert merge.execute().rows_updated == 2
    assert changed(table) == {(1, "p1"): 10, (4, "p1"): 40}


@pytest.mark.parametrize("limit", LIMITS)
def test_merge_on_null_safe_equality_matches_nulls(table, limit):
    source = pa.table({"id": [1, 3, 99, None], "part": ["p1", None, None, None], "v": [10, 30, 50, 0]})
    on = "target.id = source.id and target.part <=> source.part"
    merge = table.merge(source, on, memory_limit=limit).when_matched_update({"n": "source.v"})
    result = merge.when_not_matched_insert({"n": "source.v"}).execute()
    assert (result.rows_updated, result.rows_inserted) == (3, 1)
    assert changed(table) == {(1, "p1"): 10, (3, None): 30, (99, None): 50, (None, None): 0}


@pytest.mark.parametrize("limit", LIMITS)
def test_merge_reads_a_stream_once(table, limit):
    schema = pa.schema([("id", pa.int64()), ("part", pa.string()), ("n", pa.int64())])
    batches = (pa.record_batch({"id": [one], "part": ["x"], "n": [-one]}, schema) for one in range(1, 103))
    source = pa.RecordBatchReader.from_batches(schema, batches)
    merge = table.merge(source, on=["id"], memory_limit=limit)
    result = merge.when_matched_update_all("target.n > 90").when_not_matched_insert_all().execute()
    assert (result.rows_updated, result.rows_inserted) == (9, 3)
    assert changed(table) == {(one, "x"): -one for one in range(91, 103)}


def test_source_above_the_memory_limit_is_in_a_deleted_file(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    schema = pa.schema([("n", pa.int64())])
    batches = [pa.record_batch({"n": range(start, start + 1000)}, schema) for start in range(0, 50_000, 1000)]
    before = pa.total_allocated_bytes()
    found = source_table(pa.RecordBatchReader.from_batches(schema, iter(batches)), lambda part: part, 100_000)
    assert pa.total_allocated_bytes() - before < 100_000
    assert list(Path(tmp_path).iterdir()) == []
    assert found.column("n").to_pylist() == list(range(50_000))


@pytest.mark.parametrize("limit", LIMITS)
def test_upsert_refuses_repeated_keys_of_a_stream(table, limit):
    rows = pa.table({"id": [7, 8, 7], "part": ["a", "a", "a"], "n": [1, 2, 3]})
    for key in (["id"], ["part"]):
        with pytest.raises(ValidationError, match="several rows have the key"):
            table.upsert(rows.to_reader(), join_cols=key, memory_limit=limit)
    assert table.upsert(rows.slice(1).to_reader(), join_cols=["id"], memory_limit=limit).rows_updated == 2


def test_merge_refuses_a_source_with_two_columns_of_one_name(table):
    source = pa.table([[1], ["a"], ["b"]], names=["id", "part", "part"])
    with pytest.raises(ValidationError, match="the source has several columns 'part'"):
        table.merge(source, ["id"]).when_matched_delete().execute()


def test_merge_refuses_nested_keys(catalog):
    schema = pa.schema([("id", pa.struct([("a", pa.int64())]))])
    table = catalog.create_table("db.nested", schema)
    with pytest.raises(ValidationError, match="expected a primitive type"):
        table.merge(schema.empty_table(), ["id"]).when_matched_delete().execute()


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
@pytest.mark.parametrize(("value", "error"), [("100 / (target.n - 60)", ValidationError), ("'x'", SchemaMismatchError)])
def test_merge_that_fails_for_a_row_leaves_no_file(table, mode, value, error):
    with table.transaction() as transaction:
        transaction.set_properties({"write.merge.mode": mode})
    before, files = table.metadata_location, sorted(Path(table.location()).rglob("*"))
    source = pa.table({"id": range(100)})
    with pytest.raises(error, match="clause 1"):
        table.merge(source, ["id"]).when_matched_update({"n": value}).execute()
    assert table.refresh().metadata_location == before
    assert sorted(Path(table.location()).rglob("*")) == files


def test_merge_computes_the_keys_of_every_source_row_that_it_may_insert(table):
    on = "source.is_new and target.id = cast(source.key as int)"
    source = pa.table({"key": [7, 2**40], "is_new": [True, False]})
    table.merge(source, on).when_matched_update({"n": "-1"}).execute()
    assert changed(table) == {(7, "p1"): -1}
    merge = table.merge(source, on).when_not_matched_insert({"id": "source.key"})
    with pytest.raises(ValidationError, match=r"merge, on '.*': .*1099511627776"):
        merge.execute()
