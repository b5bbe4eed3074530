"""Copy-on-write changes that copy pages leave the same table as changes that encode all rows again."""

from __future__ import annotations

import random
import string
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe import _core
from icefloe.table.read_context import schema_json, spec_json
from icefloe.table.write.file_writer import FileWriter

ROWS = 130_000
NAN = float("nan")
METRICS = ["record_count", "value_counts", "null_value_counts", "nan_value_counts", "lower_bounds", "upper_bounds"]


def texts(rng, length):
    words = ["".join(rng.choices(string.ascii_letters + "é漢😀", k=rng.randint(0, length))) for _ in range(50)]
    return lambda: rng.choice(words)


KINDS = {
    "long": (pa.int64(), lambda rng: lambda: rng.randint(-(10**12), 10**12)),
    "int": (pa.int32(), lambda rng: lambda: rng.randint(-100, 100)),
    "double": (pa.float64(), lambda rng: lambda: rng.choice([NAN, 0.0, -0.0, rng.uniform(-1, 1)])),
    "float": (pa.float32(), lambda rng: lambda: float(rng.randint(-5, 5))),
    "bool": (pa.bool_(), lambda rng: lambda: rng.random() < 0.5),
    "short": (pa.string(), lambda rng: texts(rng, 12)),
    "text": (pa.string(), lambda rng: lambda: f"row {rng.randint(0, 10**9)}"),
    "binary": (pa.binary(), lambda rng: lambda: rng.randbytes(rng.randint(0, 20))),
    "decimal": (pa.decimal128(30, 2), lambda rng: lambda: Decimal(rng.randint(-(10**20), 10**20)).scaleb(-2)),
    "small": (pa.decimal128(9, 2), lambda rng: lambda: Decimal(rng.randint(-(10**6), 10**6)).scaleb(-2)),
    "at": (pa.timestamp("us"), lambda rng: lambda: rng.randint(0, 10**15)),
    "day": (pa.date32(), lambda rng: lambda: rng.randint(0, 30_000)),
}


def column(rng, name, rows):
    kind, make = KINDS[name]
    value, missing, same = make(rng), rng.choice([0.0, 0.0, 0.1, 1.0]), rng.random() < 0.3
    # Distinct values are few, so that the test takes little time.
    pool = [None if rng.random() < missing else value() for _ in range(1 if same else 997)]
    numbers = pa.array([rng.randrange(len(pool)) for _ in range(1009)])
    repeated = pa.concat_arrays([numbers] * (rows // len(numbers) + 1)).slice(0, rows)
    return pa.array(pool, kind).take(repeated)


def rows_of(rng, names, start, count):
    columns = {"id": pa.array(range(start, start + count), pa.int64())}
    return pa.table({**columns, **{f"c{at}_{name}": column(rng, name, count) for at, name in enumerate(names)}})


@pytest.fixture
def encoding_all(monkeypatch):
    """Return a function after whose call no pages are copied."""

    def copied_rows(self):
        properties = {"write.format.default": "avro"}
        table = {"schema": schema_json(self._metadata.schema()), "spec": spec_json(self._metadata.spec())}
        return _core.CopiedRows(self._io.core, **table, sort_order=None, properties=properties)

    return lambda: monkeypatch.setattr(FileWriter, "copied_rows", copied_rows)


def files_of(table):
    paths = table.inspect.files().column("file_path").to_pylist()
    return [path.removeprefix("file://") for path in sorted(paths)]


def row_groups(table):
    """Return the rows of each row group of the table's only file."""
    (path,) = files_of(table)
    metadata = pq.read_metadata(path)
    return [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]


def comparable(values):
    """Return rows in which NaN equals NaN, and -0.0 differs from 0.0."""
    return [[repr(value) for value in row.values()] for row in values.sort_by("id").to_pylist()]


def table_of(catalog, name, rows, properties):
    table = catalog.create_table(f"db.{name}", rows.schema, properties=properties)
    table.append(rows)
    return table


PROPERTIES = {
    "write.parquet.compression-codec": ["zstd", "snappy", "gzip", "lz4", "uncompressed", "brotli"],
    "write.parquet.page-version": ["v1", "v2"],
    "write.parquet.page-row-limit": ["20000", "7000", "1000"],
    "write.parquet.page-size-bytes": ["1048576", "65536"],
    "write.parquet.dict-size-bytes": ["2097152", "1000"],
    "write.metadata.metrics.default": ["truncate(16)", "full", "truncate(3)", "counts", "none"],
}


@pytest.mark.parametrize("seed", range(24))
def test_change_that_copies_pages_leaves_the_same_rows_and_metrics(catalog, encoding_all, seed):
    rng = random.Random(seed)
    names = rng.choices(list(KINDS), k=rng.randint(1, 6))
    properties = {key: rng.choice(values) for key, values in PROPERTIES.items()}
    rows = rows_of(rng, names, 0, ROWS)
    start = rng.choice([0, 5, ROWS - 9_000, ROWS - 20_000])
    source = rows_of(rng, names, start, 8_000)
    tables = [table_of(catalog, name, rows, properties) for name in ("copied", "encoded")]
    for number, table in enumerate(tables):
        if number == 1:
            encoding_all()
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
