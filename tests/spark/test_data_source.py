"""``format("icefloe")``: tables read and written through options alone, in other processes."""

from __future__ import annotations

import datetime as dt

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.spark import functions as ice
from icefloe.spark.data_source import IcefloeDataSource, IcefloeReader
from icefloe.spark.table_options import TableOptions
from icefloe.spark.types.nullability import nullable
from icefloe.transforms import BucketTransform
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.datasource import InputPartition

SCHEMA = T.StructType([T.StructField("id", T.LongType()), T.StructField("s", T.StringType())])


@pytest.fixture(scope="module")
def options(spark, catalog):
    icefloe.spark.register(spark)
    given = {key: catalog.properties[key] for key in ("uri", "warehouse")}
    return {"catalog": "lake", "catalog.type": "sql", **{f"catalog.{key}": value for key, value in given.items()}}


def frame_of(spark, start, end):
    return spark.range(start, end).select("id", F.concat(F.lit("s"), F.col("id").cast("string")).alias("s"))


def test_data_source_appends_overwrites_and_reads(spark, new_table, options):
    table = new_table(SCHEMA, PartitionSpec(PartitionField(1, 1000, BucketTransform(2), "b")))
    name = ".".join(table.name())
    frame_of(spark, 0, 50).write.format("icefloe").options(**options).mode("append").save(name)
    frame_of(spark, 50, 60).write.format("icefloe").options(**options).mode("append").save(name)
    read = spark.read.format("icefloe").options(**options)
    assert sorted(row["id"] for row in read.load(name).collect()) == list(range(60))
    first = table.refresh().history()[0].snapshot_id
    assert spark.read.format("icefloe").options(**options).option("snapshot-id", first).load(name).count() == 50
    assert spark.read.format("icefloe").options(**options).option("versionAsOf", first).load(name).count() == 50
    chosen = (
        spark.read.format("icefloe").options(**options).option("columns", "s").option("filter", "id >= 55").load(name)
    )
    assert sorted(tuple(row) for row in chosen.collect()) == [(f"s{key}",) for key in range(55, 60)]
    rows = spark.range(1000).select("id", F.lit("new").alias("s")).where(ice.bucket(2, "id", source_type="long") == 0)
    rows.write.format("icefloe").options(**options).option("overwrite-mode", "dynamic").mode("overwrite").save(name)
    remaining = frame_of(spark, 0, 60).where(ice.bucket(2, "id", source_type="long") == 1).count()
    assert icefloe.spark.read(table.refresh(), spark=spark).count() == remaining + rows.count()
    frame_of(spark, 0, 3).write.format("icefloe").options(**options).mode("overwrite").save(name)
    assert icefloe.spark.read(table.refresh(), spark=spark).count() == 3


@pytest.mark.parametrize("partition", [None, InputPartition(None)], ids=["before 4.2", "since 4.2"])
def test_reader_reads_no_rows_of_what_spark_makes_of_no_tasks(partition):
    assert list(IcefloeReader(None, T.StructType()).read(partition)) == []


def test_data_source_returns_columns_in_the_order_of_a_given_schema(spark, new_table, options):
    table = new_table(T.StructType([T.StructField("a", T.LongType()), T.StructField("b", T.LongType())]))
    table.append(pa.table({"a": [1], "b": [2]}))
    name = ".".join(table.name())
    read = spark.read.format("icefloe").options(**options)
    assert [row.asDict() for row in read.schema("b long, a long").load(name).collect()] == [{"b": 2, "a": 1}]
    with pytest.raises(PySparkException, match="column 'a' has type bigint"):
        read.schema("a string").load(name).collect()


def test_data_source_writes_columns_whose_names_differ_in_case(spark, new_table, options):
    table = new_table(SCHEMA, PartitionSpec(PartitionField(2, 1000, BucketTransform(2), "b")))
    rows = frame_of(spark, 0, 3).select(F.col("s").alias("S"), F.col("id").cast("int").alias("ID"))
    rows.write.format("icefloe").options(**options).mode("append").save(".".join(table.name()))
    assert sorted(tuple(row) for row in icefloe.spark.read(table.refresh(), spark=spark).collect()) == [
        (0, "s0"),
        (1, "s1"),
        (2, "s2"),
    ]


def test_data_source_matches_fields_of_structs_by_name(spark, new_table, options):
    """The Java runtime does so at every depth, ignoring case, and refuses missing fields: measured with Java 1.12."""
    place = T.StructType([T.StructField("a", T.LongType()), T.StructField("b", T.StringType())])
    columns = {"s": place, "l": T.ArrayType(place), "m": T.MapType(T.StringType(), place)}
    table = new_table(T.StructType([T.StructField(name, kind) for name, kind in columns.items()]))
    name = ".".join(table.name())
    value = "named_struct('B', 'x', 'a', 7)"
    rows = spark.sql(f"SELECT map('k', {value}) m, array({value}, NULL) l, {value} s UNION ALL SELECT NULL, NULL, NULL")
    rows.write.format("icefloe").options(**options).mode("append").save(name)
    expected = {"a": 7, "b": "x"}
    assert sorted(table.refresh().scan().to_arrow().to_pylist(), key=str) == [
        {"s": None, "l": None, "m": None},
        {"s": expected, "l": [expected, None], "m": [("k", expected)]},
    ]
    for wrong in ("named_struct('a', 7)", "named_struct('b', 'x', 'a', 7, 'c', 1)", "named_struct('b', 1, 'a', 'x')"):
        with pytest.raises(PySparkException, match="column 's' does not fit"):
            spark.sql(f"SELECT {wrong} s").write.format("icefloe").options(**options).mode("append").save(name)


def test_data_source_refuses_unknown_columns_and_options(spark, new_table, options):
    name = ".".join(new_table(SCHEMA).name())
    with pytest.raises(PySparkException, match="'more' is not in the table"):
        spark.range(1).select("id", F.lit(1).alias("more")).write.format("icefloe").options(**options).mode(
            "append"
        ).save(name)
    with pytest.raises(PySparkException, match=r"unknown option; expected .* got 'snapshotid'"):
        spark.read.format("icefloe").options(**options).option("snapshotid", "1").load(name)
    with pytest.raises(PySparkException, match="table: expected an identifier or location"):
        spark.read.format("icefloe").load()


@pytest.mark.parametrize(
    ("key", "value"),
    [("filter", "id = 1"), ("tag", "v1"), ("columns", "id"), ("start-snapshot-id", "1"), ("changes", "false")],
)
def test_write_refuses_options_of_reads(spark, new_table, options, key, value):
    table = new_table(SCHEMA)
    icefloe.spark.write(frame_of(spark, 0, 3), table)
    write = frame_of(spark, 1, 2).write.format("icefloe").options(**options).option(key, value)
    with pytest.raises(PySparkException, match=f"unknown option of a write; expected .* got '{key}'"):
        write.mode("overwrite").save(".".join(table.name()))
    assert table.refresh().scan().count() == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("overwrite-filter", "id = 1"),
        ("isolation-level", "snapshot"),
        ("overwrite-mode", "dynamic"),
        ("snapshot-property.job", "x"),
    ],
)
def test_read_refuses_options_of_writes(spark, new_table, options, key, value):
    name = ".".join(new_table(SCHEMA).name())
    with pytest.raises(PySparkException, match=rf"unknown option of a read; expected .* got '{key}'"):
        spark.read.format("icefloe").options(**options).option(key, value).load(name)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("changes", "true", "unknown option of a read of a metadata table; expected .* got 'changes'"),
        ("start-snapshot-id", "1", "unknown option of a read of a metadata table; expected .* got 'start-snapshot-id'"),
        ("overwrite-filter", "id = 1", "unknown option of a read of a metadata table; .* got 'overwrite-filter'"),
        ("case-sensitive", "maybe", "option case-sensitive: expected true or false, got 'maybe'"),
    ],
)
def test_read_of_a_metadata_table_refuses_options_without_effect(spark, new_table, options, key, value, message):
    name = ".".join(new_table(SCHEMA).name())
    with pytest.raises(PySparkException, match=message):
        spark.read.format("icefloe").options(**options).option(key, value).load(f"{name}.files")


def test_read_of_a_time_by_sparks_option(spark, new_table, options):
    table = new_table(SCHEMA)
    icefloe.spark.write(frame_of(spark, 0, 3), table)
    first = table.refresh().current_snapshot().timestamp_ms
    icefloe.spark.write(frame_of(spark, 3, 5), table)
    zone = dt.timezone(dt.timedelta(hours=2))
    time = dt.datetime.fromtimestamp(first / 1000, zone).isoformat(sep=" ", timespec="milliseconds")
    read = spark.read.format("icefloe").options(**options)
    assert read.option("timestampAsOf", time).load(".".join(table.name())).count() == 3
    for text in ("2026-01-31 12:00:00", "1769860800000", "yesterday"):
        parsed = TableOptions.parse({"path": table.metadata_location, "timestampAsOf": text})
        with pytest.raises(ValidationError, match=f"timestampAsOf: expected a time with its offset .* got '{text}'"):
            parsed.scan()


def test_times_with_an_offset_that_do_not_exist_are_refused_by_cause(new_table):
    location = new_table(SCHEMA).metadata_location
    for text in ("2030-13-31 12:00:00+01:00", "9999-12-31 23:59:59.999999-18:00", "0001-01-01 00:00:00+18:00"):
        parsed = TableOptions.parse({"path": location, "timestampAsOf": text})
        with pytest.raises(ValidationError, match=r"got '.*': write a date and time of the years 1 to 9999 of UTC"):
            parsed.scan()


def test_errors_of_versions_show_the_names_as_users_write_them(new_table):
    location = new_table(SCHEMA).metadata_location
    both = TableOptions.parse({"path": location, "timestampAsOf": "2026-01-31 12:00:00Z", "versionAsOf": "1"})
    with pytest.raises(
        ValidationError, match=r"tag, versionAsOf, timestampAsOf, or .* got versionAsOf and timestampAsOf"
    ):
        both.scan()
    with pytest.raises(ValidationError, match="option versionAsOf: expected a whole number, got '--5'"):
        TableOptions.parse({"path": location, "versionAsOf": "--5"}).scan()
    with pytest.raises(ValidationError, match=r"expected .*timestampAsOf, .*versionAsOf.*got 'nope'"):
        TableOptions.parse({"path": location, "nope": "1"})
    with pytest.raises(ValidationError, match=r"unknown option of a write; .* got 'versionAsOf'"):
        TableOptions.parse({"path": location, "versionAsOf": "1"}).check_write()


def test_options_of_speed_change_tasks_and_no_row(spark, new_table, options):
    table = new_table(SCHEMA)
    for start in range(3):
        icefloe.spark.write(frame_of(spark, start, start + 1), table)
    location = table.refresh().metadata_location

    def tasks(**given):
        source = IcefloeDataSource({"path": location, **{key.replace("_", "-"): value for key, value in given.items()}})
        return len(source.reader(SCHEMA).partitions())

    assert tasks() == 1
    assert tasks(split_size="1") == tasks(file_open_cost=str(1 << 30)) == 3
    with pytest.raises(ValidationError, match="scan option lookback: expected a whole number above zero, got 'all'"):
        tasks(lookback="all")
    hints = {"vectorization-enabled": "false", "batch-size": "1", "locality": "true", "split-size": "1"}
    read = spark.read.format("icefloe").options(**options).options(**hints)
    assert sorted(row["id"] for row in read.load(".".join(table.name())).collect()) == [0, 1, 2]
    assert read.load(".".join(table.name()) + ".files").count() == 3


def test_data_source_reads_a_table_by_its_location(spark, new_table):
    table = new_table(SCHEMA)
    icefloe.spark.write(frame_of(spark, 0, 5), table)
    assert spark.read.format("icefloe").load(table.metadata_location).count() == 5


def test_data_source_reads_metadata_tables(spark, new_table, options):
    table = new_table(SCHEMA, PartitionSpec(PartitionField(1, 1000, BucketTransform(2), "b")))
    name = ".".join(table.name())
    frame_of(spark, 0, 50).write.format("icefloe").options(**options).mode("append").save(name)
    frame_of(spark, 50, 60).write.format("icefloe").options(**options).mode("append").save(name)
    read = spark.read.format("icefloe").options(**options)
    assert read.load(f"{name}.files").groupBy().sum("record_count").collect() == [(60,)]
    rows = read.load(f"{name}.partitions").select("partition.b", "record_count").collect()
    assert sorted(row["b"] for row in rows) == [0, 1]
    chosen = spark.read.format("icefloe").options(**options, filter="partition.b = 0", columns="partition,file_path")
    assert chosen.load(f"{name}.files").columns == ["file_path", "partition"]
    assert {row["partition"]["b"] for row in chosen.load(f"{name}.files").collect()} == {0}
    deletes = read.load(f"{name}.position_deletes")  # whose rows have the table's columns
    assert deletes.schema == nullable(deletes.schema)
    assert deletes.count() == 0
    first = table.refresh().history()[0].snapshot_id
    earlier = spark.read.format("icefloe").options(**options).option("snapshot-id", first).load(f"{name}.data_files")
    assert sum(row["record_count"] for row in earlier.collect()) == 50
    located = spark.read.format("icefloe").load(f"{table.metadata_location}#snapshots")
    assert [row["operation"] for row in located.orderBy("committed_at").collect()] == ["append", "append"]
