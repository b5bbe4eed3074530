"""MERGE, UPDATE and DELETE have the results of a loop over rows, in every mode."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.exceptions import SchemaMismatchError, ValidationError, ValidationException
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.spark import MergeResult
from icefloe.spark.dml import merge as dml_merge
from icefloe.transforms import BucketTransform
from py4j.protocol import Py4JJavaError
from pyspark.errors import ArithmeticException
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql import types as T  # noqa: N812

SCHEMA = T.StructType(
    [T.StructField("id", T.LongType()), T.StructField("n", T.IntegerType()), T.StructField("s", T.StringType())]
)
SPEC = PartitionSpec(PartitionField(1, 1000, BucketTransform(3), "id_bucket"))
DIVISION = (ArithmeticException, Py4JJavaError)
"""Spark's Python has no exception for an error in rows that are cached."""
MODES = ["merge-on-read", "copy-on-write"]


def rows(table, spark):
    found = [tuple(row) for row in icefloe.spark.read(table, spark=spark).collect()]
    return sorted(found, key=lambda row: (row[0] is None, row[0] or 0, row[1] or 0))


def frame_of(spark, data, columns="id long, n int, s string"):
    return spark.createDataFrame(data, columns)


@pytest.fixture(params=MODES)
def table(request, spark, new_table):
    properties = {f"write__{one}__mode": request.param for one in ("merge", "update", "delete")}
    made = new_table(SCHEMA, SPEC, **properties)
    icefloe.spark.write(spark.range(20).select("id", F.col("id").cast("int").alias("n"), F.lit("old").alias("s")), made)
    return made


def test_merge_updates_and_inserts_in_one_snapshot(spark, table):
    before = table.current_snapshot().snapshot_id
    source = frame_of(spark, [(3, 300, "new"), (19, 1900, "new"), (50, 5000, "new"), (None, 1, "null key")])
    result = (
        icefloe.spark.merge_into(table, source, on=["id"])
        .when_matched_update_all()
        .when_not_matched_insert_all()
        .execute()
    )
    assert result == MergeResult(rows_updated=2, rows_deleted=0, rows_inserted=2)
    expected = [(key, key * 100 if key in (3, 19) else key, "new" if key in (3, 19) else "old") for key in range(20)]
    assert rows(table, spark) == [*expected, (50, 5000, "new"), (None, 1, "null key")]
    assert table.current_snapshot().parent_snapshot_id == before
    again = [tuple(row) for row in icefloe.spark.read(table, spark=spark, snapshot_id=before).orderBy("id").collect()]
    assert again == [(key, key, "old") for key in range(20)]


def test_merge_applies_the_first_clause_whose_condition_is_true(spark, table):
    source = frame_of(spark, [(key, key + 1000, "D" if key % 3 == 0 else "U") for key in range(10, 30)])
    merge = icefloe.spark.merge_into(table, source, on=["id"]).when_matched_delete("source.s = 'D'")
    merge = merge.when_matched_update({"n": "target.n + source.n", "s": F.lit("sum")}, "target.n < 15")
    merge = merge.when_matched_update({"s": "'late'"}).when_not_matched_insert(
        {"id": "source.id", "n": F.lit(-1)}, "source.id < 25"
    )
    result = merge.execute()
    merged = {
        key: (key, 2 * key + 1000, "sum") if key < 15 else (key, key, "late") for key in range(10, 20) if key % 3 != 0
    }
    expected = [*((key, key, "old") for key in range(10)), *merged.values()]
    expected += [(key, -1, None) for key in range(20, 25)]
    assert rows(table, spark) == expected
    assert result == MergeResult(rows_updated=7, rows_deleted=3, rows_inserted=5)


def test_merge_changes_rows_not_matched_by_source(spark, table):
    source = frame_of(spark, [(key, 0, "matched") for key in range(5)])
    merge = icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update({"s": "source.s"})
    merge = merge.when_not_matched_by_source_delete("target.id >= 10").when_not_matched_by_source_update(
        {"n": "-target.n"}
    )
    assert merge.execute() == MergeResult(rows_updated=10, rows_deleted=10, rows_inserted=0)
    assert rows(table, spark) == [(key, key, "matched") for key in range(5)] + [
        (key, -key, "old") for key in range(5, 10)
    ]


def test_merge_of_rows_that_the_source_misses_keeps_a_row_that_two_source_rows_match(spark, table):
    source = frame_of(spark, [(1, 0, "a"), (1, 0, "b"), (70, 70, "new")])
    merge = icefloe.spark.merge_into(table, source, on=["id"]).when_not_matched_insert_all()
    merge.when_not_matched_by_source_update({"n": "-target.n"}, "target.id < 3").execute()
    assert [row[:2] for row in rows(table, spark)] == [
        (0, 0),
        (1, 1),
        (2, -2),
        *((key, key) for key in range(3, 20)),
        (70, 70),
    ]


def test_merge_joins_keys_of_different_names(spark, table):
    source = frame_of(spark, [(4, "x")], "key int, value string")
    merge = icefloe.spark.merge_into(table, source, on={"id": "key"}).when_matched_update({"s": "source.value"})
    assert merge.execute().rows_updated == 1
    assert rows(table, spark)[4] == (4, 4, "x")


def test_merge_refuses_two_source_rows_for_one_target_row(spark, table):
    before = table.current_snapshot().snapshot_id
    source = frame_of(spark, [(1, 1, "a"), (1, 2, "b")])
    with pytest.raises(ValidationError, match="several source rows"):
        icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all().execute()
    assert table.refresh().current_snapshot().snapshot_id == before


def test_merge_that_deletes_all_matches_accepts_two_source_rows_for_one_target_row(spark, table):
    source = frame_of(spark, [(1, 1, "a"), (1, 2, "b"), (70, 70, "new")])
    merge = icefloe.spark.merge_into(table, source, on=["id"]).when_matched_delete().when_not_matched_insert_all()
    result = merge.execute()
    assert (result.rows_deleted, result.rows_inserted) == (1, 1)
    assert [row[0] for row in rows(table, spark)][:2] == [0, 2]
    twice = frame_of(spark, [(2, 1, "a"), (2, 2, "b")])
    conditional = icefloe.spark.merge_into(table, twice, on=["id"]).when_matched_delete("source.n > 0")
    with pytest.raises(ValidationError, match="several source rows"):
        conditional.execute()


def test_merge_reads_deletes_of_earlier_merges(spark, table):
    for turn in range(3):
        source = frame_of(spark, [(key, turn * 100 + key, f"turn {turn}") for key in range(turn, 20, 2)])
        icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all().execute()
    expected = {key: (key, key, "old") for key in range(20)}
    for turn in range(3):
        expected.update({key: (key, turn * 100 + key, f"turn {turn}") for key in range(turn, 20, 2)})
    assert rows(table, spark) == [expected[key] for key in range(20)]


@pytest.mark.parametrize("table", ["merge-on-read"], indirect=True)
def test_merge_on_read_keeps_one_delete_file_for_a_data_file(spark, table):
    data_files = table.scan().plan_whole_files().files.num_rows
    for key in range(12):
        assert icefloe.spark.delete_from(table, f"id = {key}", spark=spark) == MergeResult(0, 1, 0)
    found = table.inspect.delete_files()
    assert found.num_rows <= data_files
    assert sum(found.column("record_count").to_pylist()) == 12
    assert [key for key, _, _ in rows(table, spark)] == list(range(12, 20))


def test_merge_matches_fields_of_the_source_by_name(spark, new_table):
    table = new_table(T.StructType.fromDDL("id bigint, s struct<a: bigint, b: array<struct<c: int, d: string>>>"))
    made = "named_struct('b', array(named_struct('d', 'x', 'c', int(id))), 'A', int(id * 10)) AS s"
    icefloe.spark.write(spark.range(2).selectExpr("id", made), table)
    source = spark.range(1, 3).selectExpr("id", made.replace("id * 10", "id * 100"))
    merge = icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all("source.id < 2")
    merge.when_matched_delete().when_not_matched_insert_all().execute()
    assert rows(table, spark) == [(0, (0, [(0, "x")])), (1, (100, [(1, "x")])), (2, (200, [(2, "x")]))]


def test_merge_without_changes_makes_no_snapshot(spark, table):
    before = table.current_snapshot().snapshot_id
    source = frame_of(spark, [(100, 1, "x")])
    assert icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all().execute() == MergeResult(
        0, 0, 0
    )
    assert table.refresh().current_snapshot().snapshot_id == before


def test_merge_refuses_a_source_without_all_columns(spark, table):
    with pytest.raises(SchemaMismatchError, match="'s'"):
        icefloe.spark.merge_into(
            table, frame_of(spark, [(1, 1)], "id long, n int"), on=["id"]
        ).when_matched_update_all().execute()
    source = frame_of(spark, [(1, "x", "y")], "id long, n string, s string")
    with pytest.raises(SchemaMismatchError, match="'n' does not fit; expected int, got string"):
        icefloe.spark.merge_into(table, source, on=["id"]).when_not_matched_insert_all().execute()


def test_merge_refuses_missing_clauses_and_keys(spark, table):
    with pytest.raises(ValidationError, match="no clause"):
        icefloe.spark.merge_into(table, spark.range(1), on=["id"]).execute()
    with pytest.raises(ValidationError, match="key columns"):
        icefloe.spark.merge_into(table, spark.range(1), on=[])
    with pytest.raises(ValidationError, match="no key column 'id'"):
        icefloe.spark.merge_into(table, frame_of(spark, [(1,)], "x int"), on=["id"]).when_matched_delete().execute()


def test_merge_conflicts_with_a_concurrent_change_of_the_same_rows(spark, table, catalog, monkeypatch):
    other = catalog.load_table(table.name())
    source = frame_of(spark, [(3, 0, "mine")])
    merge = icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all()
    plan_target = dml_merge.plan_target

    def plan_then_change(*args, **kwargs):
        planned = plan_target(*args, **kwargs)
        icefloe.spark.delete_from(other, "id = 3", spark=spark)
        return planned

    monkeypatch.setattr(dml_merge, "plan_target", plan_then_change)
    with pytest.raises(ValidationException):
        merge.execute()
    assert [row[0] for row in rows(table.refresh(), spark)] == [key for key in range(20) if key != 3]


def test_update_changes_only_rows_of_the_filter(spark, table):
    result = icefloe.spark.update(table, {"n": "n * 2", "s": F.lit("doubled")}, "id >= 18", spark=spark)
    assert result == MergeResult(rows_updated=2, rows_deleted=0, rows_inserted=0)
    assert rows(table, spark)[17:] == [(17, 17, "old"), (18, 36, "doubled"), (19, 38, "doubled")]


def test_delete_removes_rows_and_whole_files(spark, table):
    assert icefloe.spark.delete_from(table, "id in (1, 2, 3)", spark=spark).rows_deleted == 3
    assert [row[0] for row in rows(table, spark)] == [0, *range(4, 20)]
    assert icefloe.spark.delete_from(table, "id >= 0", spark=spark).rows_deleted == 17
    assert rows(table, spark) == []
    assert icefloe.spark.delete_from(table, "id >= 0", spark=spark) == MergeResult(0, 0, 0)


def test_merge_in_spark_is_read_alike_in_python(spark, table):
    source = frame_of(spark, [(key, -key, "new") for key in range(15, 25)])
    icefloe.spark.merge_into(table, source, on=["id"]).when_matched_update_all().when_not_matched_insert_all().execute()
    found = sorted(zip(*table.scan().to_arrow().to_pydict().values(), strict=True))
    assert found == rows(table, spark)


AGGREGATES = {
    "when_matched_update": lambda merge: merge.when_matched_update({"s": "max(source.s)"}),
    "when_matched_delete": lambda merge: merge.when_matched_delete("max(source.id) > 1"),
    "when_not_matched_insert": lambda merge: merge.when_not_matched_insert({"id": "max(source.id)"}),
}


@pytest.mark.parametrize("clause", AGGREGATES)
def test_merge_refuses_aggregates_in_clauses(spark, table, clause):
    before = table.refresh().metadata
    source = spark.createDataFrame([(1, "x"), (100, "y"), (101, "z")], "id long, s string")
    with pytest.raises(
        ValidationError, match=rf"\({clause}\), .*: expected an expression over one row, got an aggregate"
    ):
        AGGREGATES[clause](icefloe.spark.merge_into(table, source, on=["id"])).execute()
    assert table.refresh().metadata == before


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("id", r"merge, on 'id': .*ambiguous.*; expected target or source .*, or on=\['id'\] for equal columns"),
        ("target.id = source.id AND s = 'a'", "expected target or source before the column, as in target.id"),
        ("target.id = source.id AND max(source.id) = 1", "expected an expression over one row, got an aggregate"),
    ],
)
def test_merge_refuses_conditions_that_spark_refuses(spark, table, on, message):
    source = spark.createDataFrame([(1, "x")], "id long, s string")
    with pytest.raises(ValidationError, match=message):
        icefloe.spark.merge_into(table, source, on=on).when_matched_delete().execute()


def test_merge_evaluates_conditions_on_the_source_for_the_rows_of_java(spark, table):
    on = "target.id = source.id and 1 / source.n > 0"
    without_partner = frame_of(spark, [(3, 1, "new"), (50, 0, "new")])
    merge = icefloe.spark.merge_into(table, without_partner, on=on).when_matched_update_all()
    if table.properties["write.merge.mode"] == "copy-on-write":
        with pytest.raises(DIVISION, match="DIVIDE_BY_ZERO"):
            merge.when_not_matched_insert_all().execute()
    else:
        assert merge.when_not_matched_insert_all().execute() == MergeResult(1, 0, 1)
    with_partner = frame_of(spark, [(4, 0, "new"), (51, 1, "new")])
    for source, fails in ((with_partner, True), (frame_of(spark, [(4, 1, "new"), (51, 0, "new")]), False)):
        inserts = icefloe.spark.merge_into(table, source, on=on).when_not_matched_insert_all()
        if fails:
            with pytest.raises(DIVISION, match="DIVIDE_BY_ZERO"):
                inserts.execute()
        else:
            assert inserts.execute() == MergeResult(0, 0, 1)
