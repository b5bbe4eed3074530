"""Copy-on-write changes that copy pages leave the same table as changes that encode all rows again."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe import _core
from icefloe.exceptions import CorruptFileError
from icefloe.table.read_context import schema_json, spec_json
from icefloe.table.scan.metadata_columns import FILE_ROW

from tests.unit.table.write.tables_of_many_types import (
    KINDS,
    METRICS,
    comparable,
    encode_all,
    files_of,
    row_groups,
    rows_of,
    table_of,
)

ROWS = 130_000

PROPERTIES = {
    "write.parquet.compression-codec": ["zstd", "snappy", "gzip", "lz4", "uncompressed", "brotli"],
    "write.parquet.page-version": ["v1", "v2"],
    "write.parquet.page-row-limit": ["20000", "7000", "1000"],
    "write.parquet.page-size-bytes": ["1048576", "65536"],
    "write.parquet.dict-size-bytes": ["2097152", "1000"],
    "write.metadata.metrics.default": ["truncate(16)", "full", "truncate(3)", "counts", "none"],
}


@pytest.mark.parametrize("seed", range(24))
def test_change_that_copies_pages_leaves_the_same_rows_and_metrics(catalog, monkeypatch, seed):
    rng = random.Random(seed)
    names = rng.choices(list(KINDS), k=rng.randint(1, 6))
    properties = {key: rng.choice(values) for key, values in PROPERTIES.items()}
    rows = rows_of(rng, names, 0, ROWS)
    start = rng.choice([0, 5, ROWS - 9_000, ROWS - 20_000])
    source = rows_of(rng, names, start, 8_000)
    tables = [table_of(catalog, name, rows, properties) for name in ("copied", "encoded")]
    for number, table in enumerate(tables):
        if number == 1:
            encode_all(monkeypatch)
        table.upsert(source, join_cols=["id"])
    copied, encoded = tables
    assert comparable(copied.scan().to_arrow()) == comparable(encoded.scan().to_arrow())
    assert copied.inspect.files().select(METRICS).to_pylist() == encoded.inspect.files().select(METRICS).to_pylist()
    assert len(row_groups(encoded)) == 1
    read_by_others(copied, comparable(encoded.scan().to_arrow()))
    for least in (0, ROWS // 2, start, ROWS - 1):
        bounded = [table.scan(row_filter=f"id >= {least} and id < {least + 500}").to_arrow() for table in tables]
        assert comparable(bounded[0]) == comparable(bounded[1])


def read_by_others(table, expected):
    (path,) = files_of(table)
    assert comparable(pq.read_table(path)) == expected
    assert pq.ParquetFile(path).metadata.num_rows == len(expected)


def flat_rows(start, count):
    ids = pa.array(range(start, start + count), pa.int64())
    return pa.table({"id": ids, "v": pa.array([f"v{number % 100}" for number in range(start, start + count)])})


def upserted(catalog, rows, source, properties=None, change=lambda table: None):
    table = table_of(catalog, "t", rows, properties or {})
    change(table)
    table.upsert(source, join_cols=["id"])
    expected = {row["id"]: row for row in [*rows.to_pylist(), *source.to_pylist()]}
    found = table.scan().to_arrow().sort_by("id").to_pylist()
    assert [row["v"] for row in found] == [expected[key]["v"] for key in sorted(expected)]
    return table


def changed(start, count):
    rows = flat_rows(start, count)
    return rows.set_column(1, "v", pa.array([f"new {number % 7}" for number in range(count)]))


def test_pages_of_a_long_run_are_a_row_group_of_their_own(catalog):
    table = upserted(catalog, flat_rows(0, 200_000), changed(170_000, 60_000))
    # Pages of 20,000 rows: the rows from 160,000 are encoded with the new rows.
    assert row_groups(table) == [70_000, 160_000]


def test_pages_before_and_behind_a_run_are_not_copied(catalog):
    table = upserted(catalog, flat_rows(0, 300_000), changed(30_000, 1))
    # The first 40,000 rows are encoded again.
    assert row_groups(table) == [40_000, 260_000]


def test_pages_are_copied_again_by_the_next_change(catalog):
    table = upserted(catalog, flat_rows(0, 200_000), changed(199_000, 2_000))
    assert row_groups(table) == [21_000, 180_000]
    table.upsert(changed(199_500, 1), join_cols=["id"])
    assert row_groups(table) == [21_000, 180_000]


def removed_and_others(table, removed):
    """Return the runs of other rows that a copy of the table's only file without some rows leaves."""
    files = table.inspect.files()
    count = files.column("record_count")[0].as_py()
    columns = {"file_path": [files.column("file_path")[0].as_py()], "partition": ["[]"], "has_deletes": [False]}
    numbers = {"spec_id": pa.array([0], pa.int32()), "record_count": pa.array([count], pa.int64())}
    positions = {FILE_ROW: pa.array([0] * len(removed), pa.int32()), "_pos": pa.array(removed, pa.int64())}
    layout = {"schema": schema_json(table.schema()), "spec": spec_json(table.spec())}
    copied = _core.CopiedRows(table.io.core, **layout, sort_order=None, properties=table.properties)
    is_copied, others = copied.add(pa.table({**columns, **numbers}), pa.table(positions))
    assert is_copied.to_pylist() == [True]
    assert set(others.column(FILE_ROW).to_pylist()) <= {0}
    return list(zip(others.column("first").to_pylist(), others.column("count").to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("removed", "expected"),
    [
        ([0], [(1, 19_999)]),
        ([5, 6, 9], [(0, 5), (7, 2), (10, 19_990)]),
        ([139_999], [(120_000, 19_999), (140_000, 10_000)]),
        ([19_999, 150_000], [(0, 19_999), (150_001, 19_999)]),
        ([140_000, 150_001], [(140_001, 10_000), (150_002, 19_998)]),
        (list(range(10_000)), [(10_000, 10_000)]),
        (list(range(0, 20_000, 2)), [(row, 1) for row in range(1, 20_000, 2)]),
        (list(range(20_000)), []),
    ],
)
def test_rows_that_are_not_copied_are_runs(catalog, removed, expected):
    table = table_of(catalog, "t", flat_rows(0, 300_000), {"write.parquet.row-group-limit": "150000"})
    assert row_groups(table) == [150_000, 150_000]
    assert removed_and_others(table, removed) == expected


def test_rows_that_are_not_copied_take_at_most_a_run_for_each_removed_row_and_copied_run(catalog):
    rng = random.Random(7)
    table = table_of(catalog, "t", flat_rows(0, 300_000), {"write.parquet.row-group-limit": "150000"})
    for _ in range(20):
        start = rng.randrange(0, 280_000)
        removed = sorted(rng.sample(range(start, start + 10_000), rng.randint(1, 300)))
        runs = removed_and_others(table, removed)
        # Each of the two row groups has at most one copied run.
        assert len(runs) <= len(removed) + 2 * (1 + 1)
        others = [row for first, count in runs for row in range(first, first + count)]
        assert others == sorted(set(others) - set(removed))


@pytest.mark.parametrize("step", [2, 3, 997])
def test_upsert_of_scattered_rows_equals_a_full_rewrite(catalog, monkeypatch, step):
    rows = flat_rows(0, 300_000)
    source = changed(150_000, 10_000).take(pa.array(range(0, 10_000, step)))
    tables = [table_of(catalog, name, rows, {"write.parquet.row-group-limit": "150000"}) for name in ("a", "b")]
    for number, table in enumerate(tables):
        if number == 1:
            encode_all(monkeypatch)
        table.upsert(source, join_cols=["id"])
    copied, encoded = [table.scan().to_arrow().sort_by("id") for table in tables]
    assert copied == encoded
    assert row_groups(tables[0]) == [20_000, 150_000, 130_000]


NOT_COPIED = {
    "few rows": (flat_rows(0, 90_000), changed(89_000, 1), {}),
    "less than half of the row group": (flat_rows(0, 240_000), changed(119_000, 1_001), {}),
    "bloom filter": (
        flat_rows(0, 200_000),
        changed(199_000, 1),
        {"write.parquet.bloom-filter-enabled.column.v": "true"},
    ),
    "no statistics": (flat_rows(0, 200_000), changed(199_000, 1), {"write.parquet.stats-enabled.column.v": "false"}),
    "long bounds": (
        flat_rows(0, 200_000).set_column(1, "v", pa.array(["x" * 61] * 200_000)),
        changed(199_000, 1),
        {},
    ),
    "nested": (flat_rows(0, 200_000).append_column("n", pa.array([[1]] * 200_000)), None, {}),
}


@pytest.mark.parametrize("case", NOT_COPIED)
def test_pages_are_not_copied_if_a_rewrite_would_store_other_statistics_or_small_groups(catalog, case):
    rows, source, properties = NOT_COPIED[case]
    if source is None:
        source = changed(199_000, 1).append_column("n", pa.array([[2]]))
    table = upserted(catalog, rows, source, properties)
    assert row_groups(table) == [rows.num_rows]


def test_pages_are_not_copied_after_a_change_of_schema_or_codec(catalog):
    rows, source = flat_rows(0, 200_000), changed(199_000, 1)
    other_codec = {"write.parquet.compression-codec": "snappy"}
    table = upserted(
        catalog, rows, source, change=lambda table: table.transaction().set_properties(other_codec).commit_transaction()
    )
    assert row_groups(table) == [200_000]
    with table.update_schema() as update:
        update.rename_column("v", "w")
    table.upsert(source.rename_columns(["id", "w"]), join_cols=["id"])
    assert row_groups(table) == [200_000]


def test_pages_of_a_file_with_deletes_are_not_copied(catalog):
    properties = {"write.delete.mode": "merge-on-read", "format-version": "2"}
    table = table_of(catalog, "t", flat_rows(0, 200_000), properties)
    table.delete("id = 3")
    table.upsert(changed(199_000, 1), join_cols=["id"])
    assert row_groups(table) == [199_999]
    assert table.scan(row_filter="id = 3").count() == 0


def test_copied_pages_start_a_file_past_the_target_size(catalog):
    rows = flat_rows(0, 200_000)
    table = table_of(catalog, "t", rows, {"write.parquet.compression-codec": "uncompressed"})
    (path,) = files_of(table)
    size = pq.read_metadata(path).row_group(0).total_byte_size
    with table.transaction() as change:
        change.set_properties({"write.target-file-size-bytes": str(size)})
    table.upsert(changed(199_000, 1_000), join_cols=["id"])
    counts = sorted(table.inspect.files().column("record_count").to_pylist())
    assert counts == [20_000, 180_000]
    assert table.scan().count() == 200_000


@pytest.mark.parametrize("rows_of_batch", [65_536, 8_192, 777])
def test_pages_of_all_columns_start_at_the_row_limit_whatever_batches_the_rows_came_in(catalog, rows_of_batch):
    rows = flat_rows(0, 200_000)
    sparse = pa.array([None if row % 7 == 0 else row for row in range(200_000)], pa.int64())
    rows = rows.append_column("sparse", sparse)
    table = catalog.create_table("db.t", rows.schema)
    table.append(pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(max_chunksize=rows_of_batch)))
    source = changed(199_000, 1_000).append_column("sparse", pa.array(range(1_000), pa.int64()))
    table.upsert(source, join_cols=["id"])
    assert row_groups(table) == [20_000, 180_000]


def test_pages_of_some_of_many_files_are_copied(catalog):
    table = table_of(catalog, "t", flat_rows(0, 150_000), {"format-version": "2", "write.delete.mode": "merge-on-read"})
    table.append(flat_rows(150_000, 50_000))
    for start in (200_000, 400_000):
        table.append(flat_rows(start, 150_000))
    table.delete("id = 200003")
    source = pa.concat_tables([changed(start, 10) for start in (149_000, 199_000, 349_000, 549_000)])
    table.upsert(source, join_cols=["id"])
    # The first and the last file are copied in part, the second is small, and the third has deletes.
    assert row_groups(table) == [10_000 + 50_000 + 149_999 + 10_000, 140_000, 140_000]
    found = table.scan().to_arrow().sort_by("id")
    ids = [*range(200_003), *range(200_004, 350_000), *range(400_000, 550_000)]
    assert found.column("id").to_pylist() == ids
    new = dict(zip(source.column("id").to_pylist(), source.column("v").to_pylist(), strict=True))
    assert found.column("v").to_pylist() == [new.get(row, f"v{row % 100}") for row in ids]


def test_change_of_a_file_with_a_damaged_footer_fails_and_changes_nothing(catalog):
    table = table_of(catalog, "t", flat_rows(0, 150_000), {})
    table.append(flat_rows(150_000, 150_000))
    before = table.current_snapshot()
    damaged = next(Path(path) for path in files_of(table) if pq.read_table(path).column("id")[0].as_py() == 0)
    content = damaged.read_bytes()
    damaged.write_bytes(content[:-20] + b"\xff" * 12 + content[-8:])
    source = pa.concat_tables([changed(149_000, 10), changed(299_000, 10)])
    with pytest.raises(CorruptFileError, match=damaged.name):
        table.upsert(source, join_cols=["id"])
    damaged.write_bytes(content)
    assert table.refresh().current_snapshot() == before
    table.upsert(source, join_cols=["id"])
    assert row_groups(table) == [20_000, 140_000, 140_000]
    assert table.scan().count() == 300_000
