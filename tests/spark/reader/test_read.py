"""Both readers return the same rows, for any snapshot, and `explain_read` returns which one reads."""

from __future__ import annotations

from dataclasses import replace

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import ResolveError, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.spark.reader.frame import scan_frame
from icefloe.spark.reader.read import resolve_scan
from icefloe.spark.reader.scan_choice import plan_scan
from icefloe.spark.session import settings
from icefloe.transforms import BucketTransform, IdentityTransform
from icefloe.types import LongType
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

SCHEMA = T.StructType(
    [T.StructField("id", T.LongType()), T.StructField("x", T.DoubleType()), T.StructField("s", T.StringType())]
)
FILTERS = [
    "id = 7",
    "id != 7 and x < 50.0",
    "x is null or s = 's3'",
    "x is not null and not (id > 10)",
    "s in ('s1', 's2') and id not in (1, 2)",
    "s like 's1%' or x is nan",
    "s != 's1'",
    "id > 1000",
]


def fill(spark, table, count=100):
    x = (
        F.when(F.col("id") % 10 == 0, F.lit(None))
        .when(F.col("id") % 11 == 0, F.lit(float("nan")))
        .otherwise(F.col("id") * 1.0)
    )
    frame = spark.range(count).select(
        "id", x.alias("x"), F.concat(F.lit("s"), (F.col("id") % 5).cast("string")).alias("s")
    )
    icefloe.spark.write(frame.select("id", "x", F.when(F.col("id") % 13 != 0, F.col("s")).alias("s")), table)


def by_both(spark, table, **arguments):
    scan = resolve_scan(table, arguments.get("columns"), arguments.get("filter"), {})
    planned = plan_scan(spark, scan)
    assert planned.native is not None, planned.choice
    found = [scan_frame(spark, one) for one in (planned, replace(planned, native=None))]
    return [sorted(map(repr, frame.collect())) for frame in found]


@pytest.fixture(scope="module")
def deleted(spark, catalog):
    """Return a table with position deletes in some of its files."""
    spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "b"))
    properties = {"write.delete.mode": "merge-on-read"}
    table = catalog.create_table(
        "db.deleted", icefloe.spark.schema_from_spark(SCHEMA), partition_spec=spec, properties=properties
    )
    fill(spark, table)
    fill(spark, table, 30)
    icefloe.spark.delete_from(table, "id in (3, 14, 15, 92) or x > 90.0", spark=spark)
    return table


@pytest.fixture(scope="module")
def extremes(spark, catalog):
    """Return a table of values that Spark compares in its own way, each in a file of its own for pruning."""
    rows = [
        (0, 1.0, 1.0, "2020-01-01", 1),
        (1, float("nan"), float("nan"), "2020-01-02", 2),
        (2, -0.0, -0.0, "1969-12-31", -(2**31)),
        (3, None, None, None, None),
        (4, float("inf"), 0.1, "0001-01-01", 2**31 - 1),
    ]
    frame = spark.createDataFrame(rows, "id long, x double, f float, d string, i int")
    frame = frame.withColumn("d", F.col("d").cast("date"))
    table = catalog.create_table("db.extremes", icefloe.spark.schema_from_spark(frame.schema))
    for number in range(len(rows)):
        icefloe.spark.write(frame.where(f"id = {number}"), table)
    return table


@pytest.mark.parametrize(
    ("row_filter", "expected"),
    [
        ("x > 0.5", [0, 4]),
        ("f >= 0.5", [0]),
        ("not (x < 0.5)", [0, 4]),
        ("not (x > 0.5 or x < -1)", [2]),
        ("x = 0 or x = 5", [2]),
        ("f >= 0 and f <= 0", [2]),
        ("x in (0, 7)", [2]),
        ("not (x in (1, 3))", [1, 2, 4]),
        ("not (i = 1)", [1, 2, 4]),
        ("not (x is nan)", [0, 2, 3, 4]),
        ("d < '2020-01-01T10:00'", [2, 4]),
        ("d >= '2020-01-01T10:00'", [0, 1]),
        ("i < 100000000000000000000", [0, 1, 2, 4]),
        ("i != 100000000000000000000", [0, 1, 2, 4]),
    ],
)
def test_readers_return_the_same_rows_for_extreme_values(spark, extremes, row_filter, expected):
    scan = resolve_scan(extremes, None, row_filter, {})
    planned = plan_scan(spark, scan)
    assert planned.native is not None, planned.choice
    for one in (planned, replace(planned, native=None)):
        assert sorted(row["id"] for row in scan_frame(spark, one).collect()) == expected
    unpruned = replace(planned, native=replace(planned.native, files=extremes.scan().plan().files))
    assert sorted(row["id"] for row in scan_frame(spark, unpruned).collect()) == expected


def test_read_finds_a_column_with_a_dot_in_its_name(spark, new_table):
    schema = T.StructType([T.StructField("a.b", T.LongType()), T.StructField("c", T.LongType())])
    table = new_table(schema)
    table.append(pa.table({"a.b": [1, 3], "c": [2, 4]}))
    for setting in ("true", "false"):
        with settings(spark, {"spark.sql.parquet.fieldId.read.enabled": setting}):
            assert sorted(map(tuple, icefloe.spark.read(table, spark=spark).collect())) == [(1, 2), (3, 4)]
            frame = icefloe.spark.read(table, spark=spark, columns=["c", "a.b"], filter='"a.b" = 3')
            assert list(map(tuple, frame.collect())) == [(4, 3)]


def test_delete_of_greater_values_leaves_nan(deleted):
    assert deleted.scan("x is nan").to_arrow().num_rows == 11


@pytest.mark.parametrize("row_filter", [None, *FILTERS])
def test_readers_return_the_same_rows_with_deletes_and_filters(spark, deleted, row_filter):
    native, rust = by_both(spark, deleted, filter=row_filter)
    assert native == rust
    python = deleted.scan(row_filter or "true" if row_filter else deleted.scan().row_filter).to_arrow()
    assert len(native) == python.num_rows


def test_read_returns_columns_in_the_given_order(spark, deleted):
    native, rust = by_both(spark, deleted, columns=["s", "id"], filter="x > 5.0")
    assert native == rust
    assert icefloe.spark.read(deleted, spark=spark, columns=["s", "id"]).columns == ["s", "id"]


def test_read_counts_rows_without_columns(spark, deleted):
    assert icefloe.spark.read(deleted, spark=spark).count() == deleted.scan().count()


def test_read_with_deletes_distinguishes_files_of_equal_size(spark, new_table):
    table = new_table(T.StructType([T.StructField("id", T.LongType())]), write__delete__mode="merge-on-read")
    for start in (1000, 2000, 3000):
        icefloe.spark.write(spark.range(start, start + 10).coalesce(1), table)
    sizes = table.scan().plan().files.column("file_size_in_bytes").to_pylist()
    assert len(set(sizes)) < 3
    icefloe.spark.delete_from(table, "id in (1001, 2002, 3003)", spark=spark)
    native, rust = by_both(spark, table)
    assert native == rust
    assert len(native) == 27


def test_read_reads_paths_with_pattern_characters_once(spark, new_table):
    spec = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "p"))
    table = new_table(T.StructType([T.StructField("p", T.StringType())]), spec)
    values = ["a b", "[x]", "{1,2}", "*", "?", "100%", "a=b", "é/ü"]
    icefloe.spark.write(spark.createDataFrame([(value,) for value in values], "p string"), table)
    native, rust = by_both(spark, table)
    assert native == rust
    assert len(native) == len(values)


def test_read_returns_snapshots_branches_tags_and_times(spark, new_table):
    table = new_table(T.StructType([T.StructField("id", T.LongType())]))
    for _ in range(3):
        icefloe.spark.write(spark.range(10), table)
    first, second, third = (entry for entry in table.history())
    table.manage_snapshots().create_tag(first.snapshot_id, "first").commit()
    table.manage_snapshots().create_branch(second.snapshot_id, "side").commit()
    table.refresh()

    def count(**version):
        return icefloe.spark.read(table, spark=spark, **version).count()

    assert count() == 30
    assert count(snapshot_id=first.snapshot_id) == count(tag="first") == 10
    assert count(branch="side") == 20
    assert count(as_of_timestamp=third.timestamp_ms) == 30
    assert count(as_of_timestamp=third.timestamp_ms - 1) == 20
    with pytest.raises(ValidationError, match="got branch and tag"):
        count(tag="first", branch="side")


def test_read_frame_keeps_its_snapshot(spark, new_table):
    table = new_table(T.StructType([T.StructField("id", T.LongType())]))
    icefloe.spark.write(spark.range(10), table)
    frame = icefloe.spark.read(table, spark=spark)
    icefloe.spark.write(spark.range(5), table)
    assert frame.count() == 10
    assert icefloe.spark.read(table, spark=spark).count() == 15


def test_write_and_read_use_a_branch(spark, new_table):
    table = new_table(T.StructType([T.StructField("id", T.LongType())]))
    icefloe.spark.write(spark.range(10), table)
    icefloe.spark.write(spark.range(5), table, options={"branch": "side", "snapshot-property.why": "test"})
    assert icefloe.spark.read(table, spark=spark).count() == 10
    assert icefloe.spark.read(table, spark=spark, branch="side").count() == 15
    assert table.snapshot_by_name("side").summary.additional_properties["why"] == "test"


def test_read_refuses_unknown_columns(spark, deleted):
    with pytest.raises(ResolveError):
        icefloe.spark.read(deleted, spark=spark, columns=["nope"])
    with pytest.raises(ResolveError):
        icefloe.spark.read(deleted, spark=spark, filter="nope = 1")


def test_read_with_a_filter_on_a_transform_uses_the_rust_reader(spark, deleted):
    row_filter = "bucket(4, id) = 1 and x < 50.0 or truncate(2, s) = 's1'"
    choice = icefloe.spark.explain_read(deleted, spark=spark, filter=row_filter)
    assert not choice.native
    assert "bucket[4] of id" in choice.reason
    found = icefloe.spark.read(deleted, spark=spark, columns=["id"], filter=row_filter).collect()
    bucket = BucketTransform(4).transform(LongType())
    rows = deleted.scan().to_arrow().to_pylist()
    expected = [
        row["id"]
        for row in rows
        if (bucket(row["id"]) == 1 and row["x"] is not None and row["x"] < 50) or (row["s"] or "")[:2] == "s1"
    ]
    assert sorted(row.id for row in found) == sorted(expected)
    assert 0 < len(expected) < len(rows)


def test_explain_read_returns_the_reader_and_the_reason(spark, deleted):
    choice = icefloe.spark.explain_read(deleted, spark=spark, filter="id = 7")
    assert choice.native
    assert "Spark's Parquet reader" in str(choice)
    assert choice.counters["files_planned"] == choice.files
