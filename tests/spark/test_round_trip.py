"""Both readers return the rows that Spark wrote."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import uuid

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import FeatureUnsupportedError, SchemaMismatchError, ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.schema import Schema
from icefloe.spark.reader.read_task import exact
from icefloe.spark.types.nullability import nullable
from icefloe.table.sorting import SortField, SortOrder
from icefloe.transforms import BucketTransform, DayTransform, IdentityTransform, TruncateTransform
from icefloe.types import FixedType, LongType, NestedField, StringType, TimeType, UUIDType
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

ALL_TYPES = T.StructType(
    [
        T.StructField("id", T.LongType(), False),
        T.StructField("flag", T.BooleanType()),
        T.StructField("small", T.IntegerType()),
        T.StructField("real", T.FloatType()),
        T.StructField("wide", T.DoubleType()),
        T.StructField("money", T.DecimalType(9, 2)),
        T.StructField("huge", T.DecimalType(38, 10)),
        T.StructField("day", T.DateType()),
        T.StructField("local", T.TimestampNTZType()),
        T.StructField("instant", T.TimestampType()),
        T.StructField("text", T.StringType()),
        T.StructField("raw", T.BinaryType()),
        T.StructField("tags", T.ArrayType(T.StringType())),
        T.StructField("points", T.MapType(T.StringType(), T.IntegerType())),
        T.StructField(
            "nested",
            T.StructType(
                [
                    T.StructField("a", T.IntegerType()),
                    T.StructField("b", T.ArrayType(T.StructType([T.StructField("c", T.TimestampType())]))),
                ]
            ),
        ),
    ]
)
NOW = dt.datetime(2024, 3, 10, 2, 30, 0, 123456)
ROWS = [
    (
        1,
        True,
        1,
        1.5,
        2.5,
        decimal.Decimal("-1.25"),
        decimal.Decimal("12345678901234567890.0123456789"),
        dt.date(2024, 2, 29),
        NOW,
        NOW,
        "höme",
        b"\x00\xff",
        ["a", None],
        {"x": 1, "y": None},
        (1, [(NOW,)]),
    ),
    (2, None, None, None, None, None, None, None, None, None, None, None, None, None, None),
    (
        3,
        False,
        -(2**31),
        math.inf,
        -math.inf,
        decimal.Decimal("9999999.99"),
        decimal.Decimal("-0.0000000001"),
        dt.date(1582, 10, 10),
        dt.datetime(1900, 1, 1),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
        "",
        b"",
        [],
        {},
        (None, []),
    ),
    (
        4,
        True,
        0,
        -0.0,
        5e-324,
        decimal.Decimal("0.00"),
        decimal.Decimal(0),
        dt.date(1969, 12, 31),
        NOW,
        NOW,
        "x" * 1000,
        b"\x01" * 1000,
        ["😀"],
        {"": 0},
        (0, None),
    ),
]


def rows_of(frame, key="id"):
    return sorted((tuple(row) for row in frame.collect()), key=lambda row: row[frame.columns.index(key)])


def rust_read(table, spark, **arguments):
    """Read with the Rust reader, also where Spark's own reader could read."""
    from dataclasses import replace

    from icefloe.spark.reader.frame import scan_frame
    from icefloe.spark.reader.read import resolve_scan
    from icefloe.spark.reader.scan_choice import plan_scan

    scan = resolve_scan(table, arguments.get("columns"), arguments.get("filter"), {})
    return scan_frame(spark, replace(plan_scan(spark, scan), native=None))


@pytest.mark.parametrize("reader", ["native", "rust", "data source"])
def test_write_and_read_round_trip_every_type(spark, new_table, catalog, reader):
    frame = spark.createDataFrame(ROWS, ALL_TYPES)
    table = new_table(ALL_TYPES)
    icefloe.spark.write(frame, table)
    if reader == "native":
        found = icefloe.spark.read(table, spark=spark)
        assert icefloe.spark.explain_read(table, spark=spark).native
    elif reader == "rust":
        found = rust_read(table, spark)
    else:
        icefloe.spark.register(spark)
        found = spark.read.format("icefloe").load(table.metadata_location)
    assert rows_of(found) == rows_of(frame)
    assert found.schema.simpleString() == ALL_TYPES.simpleString()
    assert found.schema == nullable(found.schema)


def test_write_and_read_round_trip_nan(spark, new_table):
    table = new_table(spark.sql("SELECT 1L AS id, double('NaN') AS x").schema)
    icefloe.spark.write(spark.sql("SELECT 1L AS id, double('NaN') AS x"), table)
    assert math.isnan(icefloe.spark.read(table, spark=spark).first()["x"])


def test_uuid_and_fixed_are_text_and_binary_in_spark(spark, new_table):
    schema = Schema(
        NestedField(1, "id", LongType(), required=True),
        NestedField(2, "u", UUIDType()),
        NestedField(3, "f", FixedType(4)),
    )
    table = new_table(schema)
    values = [
        (1, str(uuid.UUID(int=7)), b"abcd"),
        (2, None, None),
        (3, str(uuid.UUID(int=2**128 - 1)).upper(), b"\x00\x01\x02\x03"),
    ]
    icefloe.spark.write(spark.createDataFrame(values, "id long, u string, f binary"), table)
    choice = icefloe.spark.explain_read(table, spark=spark)
    assert not choice.native
    assert "uuid" in choice.reason
    found = rows_of(icefloe.spark.read(table, spark=spark))
    assert found == [(key, text.lower() if text else None, data) for key, text, data in values]
    assert [value.as_py() for value in table.scan("id = 1").to_arrow().column("f")] == [b"abcd"]


FIRST, LAST = uuid.UUID(bytes=b"abcdefghijklmnop"), uuid.UUID(int=2**128 - 1)
NESTED_UUIDS = [
    {
        "id": 1,
        "s": {"u": FIRST.bytes, "f": b"abcd"},
        "l": [FIRST.bytes, None, LAST.bytes],
        "m": [(LAST.bytes, [{"u": FIRST.bytes}])],
    },
    {"id": 2, "s": None, "l": None, "m": None},
    {"id": 3, "s": {"u": None, "f": None}, "l": [], "m": [(FIRST.bytes, None), (LAST.bytes, [None, {"u": None}])]},
    {"id": 4, "s": {"u": LAST.bytes, "f": b"dcba"}, "l": [LAST.bytes], "m": []},
]
NESTED_TEXTS = [
    {
        "id": 1,
        "s": {"u": str(FIRST), "f": b"abcd"},
        "l": [str(FIRST), None, str(LAST)],
        "m": [(str(LAST), [{"u": str(FIRST)}])],
    },
    {"id": 2, "s": None, "l": None, "m": None},
    {"id": 3, "s": {"u": None, "f": None}, "l": [], "m": [(str(FIRST), None), (str(LAST), [None, {"u": None}])]},
    {"id": 4, "s": {"u": str(LAST), "f": b"dcba"}, "l": [str(LAST)], "m": []},
]


def nested_columns(uuids, fixed):
    """Columns with uuids in structs, lists and maps, the uuids and fixed values in types of the caller."""
    columns = {
        "id": pa.int64(),
        "s": pa.struct([("u", uuids), ("f", fixed)]),
        "l": pa.list_(uuids),
        "m": pa.map_(uuids, pa.list_(pa.struct([("u", uuids)]))),
    }
    return pa.schema(columns)


def test_nested_uuids_are_text_in_spark(spark, catalog):
    rows = pa.Table.from_pylist(NESTED_UUIDS, schema=nested_columns(pa.binary(16), pa.binary(4)))
    table = catalog.create_table("db.nested_uuids", nested_columns(pa.uuid(), pa.binary(4)))
    table.append(rows.cast(nested_columns(pa.uuid(), pa.binary(4))))
    found = icefloe.spark.read(table, spark=spark).orderBy("id").collect()
    texts = [{**row, "m": None if row["m"] is None else dict(row["m"])} for row in NESTED_TEXTS]
    assert [row.asDict(recursive=True) for row in found] == texts


@pytest.mark.parametrize("uuids", [pa.binary(16), pa.uuid()], ids=["binary", "extension"])
def test_slices_of_nested_uuids_are_the_texts_of_their_rows(uuids):
    rows = pa.RecordBatch.from_pylist(NESTED_UUIDS, schema=nested_columns(pa.binary(16), pa.binary(4)))
    rows = rows.cast(nested_columns(uuids, pa.binary(4)))
    for start in range(len(NESTED_TEXTS) + 1):
        for end in range(start, len(NESTED_TEXTS) + 1):
            found = exact(rows.slice(start, end - start), nested_columns(pa.string(), pa.binary()))
            found.validate(full=True)
            assert found.to_pylist() == NESTED_TEXTS[start:end]


def test_nested_uuids_of_rows_without_any_are_of_the_wanted_type():
    columns, texts = nested_columns(pa.binary(16), pa.binary(4)), nested_columns(pa.string(), pa.binary())
    rows = [{"id": 1, "s": None, "l": None, "m": None}, {"id": 2, "s": None, "l": [], "m": []}]
    for chosen in (rows, rows[:1], rows[1:], []):
        found = exact(pa.RecordBatch.from_pylist(chosen, schema=columns), texts)
        found.validate(full=True)
        assert found.to_pylist() == chosen


def test_write_refuses_a_text_that_is_no_uuid(spark, new_table):
    table = new_table(Schema(NestedField(1, "u", UUIDType())))
    with pytest.raises(SchemaMismatchError, match=r"column 'u': a value is no uuid; .* got 'not-a-uuid'"):
        icefloe.spark.write(spark.createDataFrame([("not-a-uuid",)], "u string"), table)
    assert table.refresh().current_snapshot() is None


def test_read_refuses_time_columns_unless_left_out(spark, new_table):
    table = new_table(Schema(NestedField(1, "id", LongType()), NestedField(2, "at", TimeType())))
    with pytest.raises(FeatureUnsupportedError, match="time"):
        icefloe.spark.read(table, spark=spark)
    assert icefloe.spark.read(table, spark=spark, columns=["id"]).count() == 0


def test_write_partitions_and_sorts_every_file(spark, new_table):
    schema = T.StructType(
        [
            T.StructField("id", T.LongType()),
            T.StructField("name", T.StringType()),
            T.StructField("at", T.TimestampType()),
        ]
    )
    spec = PartitionSpec(
        PartitionField(1, 1000, BucketTransform(3), "id_bucket"),
        PartitionField(2, 1001, TruncateTransform(2), "name_trunc"),
        PartitionField(3, 1002, DayTransform(), "at_day"),
    )
    table = new_table(schema, spec, sort_order=SortOrder(SortField(source_id=1, transform=IdentityTransform())))
    day = F.timestamp_micros(F.col("id") * 3_600_000_000)
    frame = spark.range(200).select(
        "id", F.concat(F.lit("k"), (F.col("id") % 3).cast("string")).alias("name"), day.alias("at")
    )
    icefloe.spark.write(frame.repartition(3), table)
    assert rows_of(icefloe.spark.read(table, spark=spark)) == rows_of(frame)
    files = table.scan().plan().files
    assert files.num_rows == len(set(zip(files.column("partition").to_pylist(), strict=True)))
    assert set(files.column("sort_order_id").to_pylist()) == {1}
    for path in files.column("file_path").to_pylist():
        ids = [row[0] for row in spark.read.parquet(path).select("id").collect()]
        assert ids == sorted(ids)


@pytest.mark.parametrize("mode", ["none", "hash", "range"])
def test_write_stores_the_same_rows_in_every_distribution_mode(spark, new_table, mode):
    table = new_table(
        T.StructType([T.StructField("id", T.LongType())]),
        PartitionSpec(PartitionField(1, 1000, BucketTransform(4), "b")),
    )
    icefloe.spark.write(spark.range(1000).repartition(4), table, options={"distribution-mode": mode})
    assert [row[0] for row in rows_of(icefloe.spark.read(table, spark=spark))] == list(range(1000))


def test_write_matches_columns_by_name_and_widens_them(spark, new_table):
    table = new_table(
        T.StructType(
            [T.StructField("id", T.LongType()), T.StructField("x", T.DoubleType()), T.StructField("y", T.StringType())]
        )
    )
    icefloe.spark.write(spark.createDataFrame([(1.5, 7)], "X float, id int"), table)
    assert rows_of(icefloe.spark.read(table, spark=spark)) == [(7, 1.5, None)]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("id long, more int", "'more' is not in the table"),
        ("x int", "'id' is missing"),
        ("id string", "'id' does not fit; expected bigint, got string"),
    ],
)
def test_write_refuses_rows_that_do_not_fit(spark, new_table, columns, message):
    table = new_table(T.StructType([T.StructField("id", T.LongType(), False), T.StructField("x", T.IntegerType())]))
    with pytest.raises(SchemaMismatchError, match=message):
        icefloe.spark.write(spark.createDataFrame([], columns), table)


def test_write_of_a_null_in_a_required_column_makes_no_snapshot(spark, new_table):
    table = new_table(T.StructType([T.StructField("id", T.LongType(), False)]))
    with pytest.raises(SchemaMismatchError, match="id"):
        icefloe.spark.write(spark.createDataFrame([(1,), (None,)], "id long"), table)
    with pytest.raises(SchemaMismatchError, match="may be null"):
        icefloe.spark.write(spark.createDataFrame([(1,)], "id long"), table, options={"check-nullability": "true"})
    assert table.refresh().current_snapshot() is None


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_columns_with_dots_in_their_names_are_written_merged_and_updated(spark, new_table, mode):
    schema = T.StructType([T.StructField("a.b", T.LongType()), T.StructField("x`y", T.StringType())])
    spec = PartitionSpec(PartitionField(1, 1000, BucketTransform(2), "shard"))
    table = new_table(schema, spec, write__merge__mode=mode, write__update__mode=mode)
    frame = spark.createDataFrame([(1, "p"), (2, "q"), (3, None)], schema)
    icefloe.spark.write(frame, table)
    changes = spark.createDataFrame([(3, "r"), (4, "s")], schema)
    merge = icefloe.spark.merge_into(table, changes, on=["a.b"])
    merge.when_matched_update().when_not_matched_insert().execute()
    icefloe.spark.update(table, {"x`y": F.lit("z")}, '"a.b" = 1', spark=spark)
    rows = table.refresh().scan().to_arrow().to_pylist()
    assert sorted(tuple(row.values()) for row in rows) == [(1, "z"), (2, "q"), (3, "r"), (4, "s")]


def test_write_of_no_rows_makes_no_snapshot(spark, new_table):
    table = new_table(T.StructType([T.StructField("id", T.LongType())]))
    icefloe.spark.write(spark.createDataFrame([], "id long"), table)
    assert table.refresh().current_snapshot() is None


def test_overwrite_replaces_all_rows_a_filter_or_partitions(spark, new_table):
    schema = T.StructType([T.StructField("id", T.LongType()), T.StructField("part", T.IntegerType())])
    table = new_table(schema, PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "part")))
    icefloe.spark.write(spark.range(10).select("id", (F.col("id") % 2).cast("int").alias("part")), table)
    new = spark.createDataFrame([(100, 1)], "id long, part int")
    icefloe.spark.write(new, table, "overwrite-partitions")
    assert [row[0] for row in rows_of(icefloe.spark.read(table, spark=spark))] == [0, 2, 4, 6, 8, 100]
    icefloe.spark.write(
        spark.createDataFrame([(200, 0)], "id long, part int"), table, "overwrite", {"overwrite-filter": "part = 0"}
    )
    assert [row[0] for row in rows_of(icefloe.spark.read(table, spark=spark))] == [100, 200]
    icefloe.spark.write(spark.createDataFrame([(1, 0), (2, 0)], "id long, part int").coalesce(1), table)
    with pytest.raises(ValidationError, match="matches some rows of a file"):
        icefloe.spark.write(new, table, "overwrite", {"overwrite-filter": "id = 1"})
    icefloe.spark.write(new, table, "overwrite")
    assert [row[0] for row in rows_of(icefloe.spark.read(table, spark=spark))] == [100]


def test_write_refuses_unknown_modes_and_options(spark, new_table):
    table = new_table(T.StructType([T.StructField("id", T.LongType())]))
    with pytest.raises(ValidationError, match="unknown mode; expected append"):
        icefloe.spark.write(spark.range(1), table, "replace")
    with pytest.raises(ValidationError, match="write: unknown option; expected"):
        icefloe.spark.write(spark.range(1), table, options={"overwrite-filtre": "true"})


def test_settings_are_restored(spark, new_table):
    key = "spark.sql.execution.arrow.maxBytesPerBatch"
    before = spark.conf.get(key)
    table = new_table(T.StructType([T.StructField("id", T.StringType(), False)]))
    icefloe.spark.write(spark.range(1).select(F.lit("x").alias("id")), table)
    assert spark.conf.get(key) == before
    with pytest.raises(SchemaMismatchError):
        icefloe.spark.write(spark.createDataFrame([(None,)], "id string"), table)
    assert spark.conf.get(key) == before


def test_schema_from_spark_keeps_comments(spark):
    schema = icefloe.spark.schema_from_spark(
        T.StructType([T.StructField("id", T.StringType(), True, {"comment": "who"})])
    )
    assert schema.find_field("id").doc == "who"
    assert isinstance(schema.find_field("id").field_type, StringType)
