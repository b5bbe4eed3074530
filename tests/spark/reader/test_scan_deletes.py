"""Scans by Spark's own reader with position deletes return the rows of the Rust reader."""

from __future__ import annotations

import itertools
import pathlib
import uuid

import icefloe.spark
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.exceptions import CorruptFileError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.spark.reader import live_rows, native, scan_choice
from icefloe.spark.session import settings
from icefloe.transforms import IdentityTransform
from icefloe.types import IntegerType, LongType
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

MERGE_ON_READ = {"write.delete.mode": "merge-on-read"}
SMALL_GROUPS = {"write.parquet.row-group-size-bytes": "20000"}
FILES, ROWS = 4, 10_000
# First and last rows of words, of blocks and of files; no row of the third file.
SCATTERED = [0, 1, 63, 64, 127, 4095, 4096, 8191, 8192, 9999, 10_000, 10_063, 10_064, 14_095, 14_096, 39_999]


@pytest.fixture(autouse=True, params=["bits", "join"])
def _lookup(request, monkeypatch):
    """Look deleted rows up in bits, and by the join of tables whose deletes are in more files."""
    if request.param == "join":
        monkeypatch.setattr(live_rows, "_MOST_FILES", 0)


@pytest.fixture(scope="module")
def make(catalog):
    """Return a function that creates a table with files of 10,000 rows and deletes some rows."""

    numbers = itertools.count()

    def create(name, deleted, *, files=FILES, rows=ROWS, properties=None):
        schema = pa.schema([("id", pa.int64()), ("x", pa.float64()), ("s", pa.string())])
        table = catalog.create_table(
            f"db.{name}_{next(numbers)}", schema, properties={**MERGE_ON_READ, **(properties or {})}
        )
        for start in range(0, files * rows, rows):
            ids = pa.array(range(start, start + rows), pa.int64())
            texts = [f"text {number % 7919}" for number in ids.to_pylist()]
            table.append(pa.table({"id": ids, "x": ids.cast(pa.float64()), "s": texts}, schema=schema))
        for row_filter in deleted:
            table.delete(row_filter)
        return table

    return create


@pytest.fixture(scope="module")
def scattered(make):
    return make("scattered", [f"id in ({', '.join(map(str, SCATTERED))})"], properties=SMALL_GROUPS)


def native_frame(spark, table, **arguments):
    choice = icefloe.spark.explain_read(table, spark=spark, **arguments)
    assert choice.native, choice
    assert choice.delete_files > 0
    return icefloe.spark.read(table, spark=spark, **arguments)


def ids(frame):
    return sorted(row["id"] for row in frame.select("id").collect())


def plan(frame):
    return frame._jdf.queryExecution().executedPlan().toString()


def test_native_scan_removes_exactly_the_deleted_rows(spark, scattered):
    assert ids(native_frame(spark, scattered)) == sorted(set(range(FILES * ROWS)) - set(SCATTERED))


def test_native_scan_of_a_split_file_keeps_positions(spark, scattered):
    with settings(spark, {"spark.sql.files.maxPartitionBytes": "16384", "spark.sql.files.openCostInBytes": "1"}):
        frame = native_frame(spark, scattered)
        assert frame.rdd.getNumPartitions() > 2 * FILES
        assert ids(frame) == sorted(set(range(FILES * ROWS)) - set(SCATTERED))


def test_native_scan_aggregates_live_rows(spark, scattered):
    frame = native_frame(spark, scattered)
    assert frame.count() == FILES * ROWS - len(SCATTERED)
    assert frame.agg(F.sum("id")).first()[0] == sum(range(FILES * ROWS)) - sum(SCATTERED)


def test_native_scan_pushes_filters_and_selections_down(spark, scattered):
    frame = native_frame(spark, scattered).where("id >= 9990 and id < 10010").select("id")
    read_schema = plan(frame).split("ReadSchema: struct<")[1].split(">")[0]
    assert "GreaterThanOrEqual(id,9990)" in plan(frame)
    assert "s:string" not in read_schema
    assert ids(frame) == [number for number in range(9990, 10010) if number not in SCATTERED]


def test_native_scan_applies_filter_and_deletes(spark, scattered):
    frame = native_frame(spark, scattered, filter="id < 200 and s != 'text 5'", columns=["s", "id"])
    assert ids(frame) == [number for number in range(200) if number not in SCATTERED and number != 5]


def test_filter_is_evaluated_before_deletes(spark, scattered):
    text = plan(native_frame(spark, scattered, filter="s = 'text 5'"))
    condition = next(line for line in text.splitlines() if "Filter (" in line)
    assert condition.index("text 5") < (condition.index("bit_get") if "bit_get" in condition else len(condition))
    assert text.count("text 5)") >= 1


def test_few_rows_of_files_with_deletes_are_read_by_the_rust_reader(spark, scattered, monkeypatch):
    monkeypatch.setattr(scan_choice, "_LEAST_DELETED_ROWS", ROWS)
    few = {"filter": "s in ('text 7', 'text 63', 'text 200') and x > 20.0", "columns": ["s", "id"]}
    choice = icefloe.spark.explain_read(scattered, spark=spark, **few)
    assert (choice.native, choice.reason) == (False, "few rows of files with deletes pass the filter")
    expected = [
        number for number in range(21, FILES * ROWS) if number % 7919 in (7, 63, 200) and number not in SCATTERED
    ]
    assert ids(icefloe.spark.read(scattered, spark=spark, **few)) == expected
    assert icefloe.spark.explain_read(scattered, spark=spark, filter=few["filter"]).native
    assert icefloe.spark.explain_read(scattered, spark=spark, filter="s >= 'text 3'", columns=["id"]).native


def test_few_rows_are_sought_in_no_file_and_in_files_without_deletes(spark, make, monkeypatch):
    monkeypatch.setattr(scan_choice, "_LEAST_DELETED_ROWS", 0)
    few = {"filter": "s = 'text 7'", "columns": ["id"]}
    table = make("none", [], files=0)
    assert icefloe.spark.explain_read(table, spark=spark, **few).native
    assert ids(icefloe.spark.read(table, spark=spark, **few)) == []
    for file in range(3):
        table.append(pa.table({"id": range(100 * file, 100 * file + 100), "s": ["text 7"] + ["x"] * 99}))
    table.delete("id = 5")
    assert icefloe.spark.explain_read(table, spark=spark, **few).native, "most rows are in files without deletes"
    table.delete("id = 205")
    assert not icefloe.spark.explain_read(table, spark=spark, **few).native
    assert ids(icefloe.spark.read(table, spark=spark, **few)) == [0, 100, 200]


@pytest.mark.parametrize("position", [-1, ROWS, 2**62])
def test_positions_that_are_no_rows_are_an_error(spark, make, position):
    table = make("corrupt", ["id in (1, 2)"], files=1)
    [deletes] = pathlib.Path(table.location(), "data").glob("*deletes*")
    rows = pq.read_table(deletes)
    pq.write_table(rows.set_column(1, rows.schema.field("pos"), pa.array(sorted([1, position]), pa.int64())), deletes)
    with pytest.raises(CorruptFileError, match=f"expected one of the {ROWS} rows of .*, got position {position}$"):
        icefloe.spark.read(table, spark=spark)


def test_deletes_of_seventeen_files_are_joined(spark, make):
    table = make("seventeen", [], files=0)
    for file in range(17):
        table.append(pa.table({"id": range(1000 * file, 1000 * file + 100 + file)}))
    deleted = [1000 * file + 5 * file for file in range(17)]
    expected = set(table.scan().to_arrow()["id"].to_pylist()) - set(deleted)
    table.delete(f"id in ({', '.join(map(str, deleted))})")
    frame = native_frame(spark, table)
    assert "BroadcastHashJoin" in plan(frame)
    assert ids(frame) == sorted(expected)


def test_filter_of_a_widened_column_prunes_no_rows(spark, make):
    table = make("widened", ["id = 5"], files=1, rows=10)
    with table.update_schema() as change:
        change.add_column("i", IntegerType())
    table.append(pa.table({"id": [2**31 - 1], "i": pa.array([2**31 - 1], pa.int32())}))
    table.append(pa.table({"id": [100, 101], "i": pa.array([2**31 - 1, 5], pa.int32())}))
    table.delete("id = 101")
    with table.update_schema() as change:
        change.update_column("i", LongType())
    assert ids(native_frame(spark, table, filter="i not in (100, -2147483649)")) == [100, 2**31 - 1]


def test_native_scan_joins_itself(spark, scattered):
    left = native_frame(spark, scattered)
    right = left.where("id < 100")
    assert left.alias("l").join(right.alias("r"), F.col("l.id") == F.col("r.id")).count() == 100 - 4
    assert left.join(left.select("id"), "id").count() == FILES * ROWS - len(SCATTERED)


def test_native_scan_applies_many_deletes(spark, make):
    table = make("many", ["x < 35000.0 and s not like 'text 7%'"])
    expected = table.scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()
    assert 0 < len(expected) < FILES * ROWS // 2
    assert ids(native_frame(spark, table)) == sorted(expected)


def test_native_scan_applies_deletes_of_several_commits(spark, make):
    table = make("commits", ["id in (3, 4, 20000)", "id in (4, 5, 29999)", "id = 6"])
    assert ids(native_frame(spark, table)) == sorted(set(range(FILES * ROWS)) - {3, 4, 5, 6, 20_000, 29_999})


def test_native_scan_of_deleted_rows_is_empty(spark, make):
    table = make("nothing", [], files=1)
    icefloe.spark.delete_from(table, "x >= 0.0 and s like 'text%'", spark=spark)
    frame = icefloe.spark.read(table, spark=spark)
    assert frame.columns == ["id", "x", "s"]
    assert frame.count() == 0


def test_scan_with_too_many_deletes_uses_the_rust_reader(spark, scattered, monkeypatch):
    monkeypatch.setattr(native, "_MAX_DELETES", len(SCATTERED) - 1)
    choice = icefloe.spark.explain_read(scattered, spark=spark)
    assert "too many" in choice.reason
    assert ids(icefloe.spark.read(scattered, spark=spark)) == sorted(set(range(FILES * ROWS)) - set(SCATTERED))


def test_native_scan_has_a_short_plan(spark, make):
    table = make("readable", ["s like 'text 1%'"], files=2)
    assert len(plan(native_frame(spark, table))) < 5_000


def test_native_scan_applies_deletes_to_paths_with_special_characters(spark, new_table):
    schema = T.StructType([T.StructField("id", T.LongType()), T.StructField("p", T.StringType())])
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "p"))
    table = new_table(schema, spec, write__delete__mode="merge-on-read")
    values = ["a b", "[x]", "{1,2}", "*", "?", "100%", "a=b", "é/ü"]
    rows = [(10 * number + place, value) for number, value in enumerate(values) for place in range(10)]
    table.append(pa.table({"id": [row[0] for row in rows], "p": [row[1] for row in rows]}))
    deleted = [10 * number + number for number in range(len(values))]
    table.delete(f"id in ({', '.join(map(str, deleted))})")
    assert ids(native_frame(spark, table)) == sorted({row[0] for row in rows} - set(deleted))


def test_native_scan_reads_columns_with_names_of_the_join(spark, catalog):
    table = catalog.create_table(
        f"db.words_{uuid.uuid4().hex}",
        pa.schema([("id", pa.int64()), ("words", pa.int64()), ("block", pa.int64())]),
        properties=MERGE_ON_READ,
    )
    table.append(pa.table({"id": [1, 2, 3], "words": [0, 0, 0], "block": [0, 0, 0]}))
    table.delete("id = 2")
    assert ids(native_frame(spark, table)) == [1, 3]
