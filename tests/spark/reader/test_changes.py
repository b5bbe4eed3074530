"""Appended rows, changed rows and metadata columns through Spark."""

from __future__ import annotations

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationError
from icefloe.partitioning import PartitionField, PartitionSpec
from icefloe.spark.types.nullability import nullable
from icefloe.transforms import IdentityTransform
from pyspark.errors import PySparkException
from pyspark.sql import types as T  # noqa: N812

SCHEMA = T.StructType([T.StructField("id", T.LongType()), T.StructField("s", T.StringType())])
BY_S = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "s"))


def rows(*pairs):
    ids, texts = zip(*pairs, strict=True)
    return pa.table({"id": pa.array(ids, pa.int64()), "s": list(texts)})


@pytest.fixture(scope="module")
def options(spark, catalog):
    icefloe.spark.register(spark)
    given = {key: catalog.properties[key] for key in ("uri", "warehouse")}
    return {"catalog": "lake", "catalog.type": "sql", **{f"catalog.{key}": value for key, value in given.items()}}


@pytest.fixture(params=["copy-on-write", "merge-on-read"])
def table(new_table, request):
    made = new_table(SCHEMA, BY_S, write__delete__mode=request.param, write__merge__mode=request.param)
    made.append(rows((1, "a"), (2, "a"), (3, "b")))
    made.append(rows((4, "a"), (5, "b")))
    made.delete("id = 1")
    made.upsert(rows((3, "a"), (6, "c")), join_cols=["id"])
    return made


def load(spark, options, table, **more):
    reader = spark.read.format("icefloe").options(**options)
    for key, value in more.items():
        reader = reader.option(key.replace("_", "-"), value)
    return reader.load(".".join(table.name()))


def found(frame):
    return sorted(tuple(row) for row in frame.select("_change_ordinal", "_change_type", "id", "s").collect())


def test_read_returns_appended_rows_of_a_range(spark, table, options):
    first, second, *_ = (one.snapshot_id for one in table.snapshots())
    frame = icefloe.spark.read(table, spark=spark, start_snapshot_id=first)
    assert sorted(row.id for row in frame.collect()) == [4, 5]
    choice = icefloe.spark.explain_read(table, spark=spark, start_snapshot_id=first, end_snapshot_id=second)
    assert (choice.files, choice.delete_files, choice.native) == (2, 0, True)
    loaded = load(
        spark, options, table, start_snapshot_id=first, end_snapshot_id=second, columns="id", filter="s = 'b'"
    )
    assert [tuple(row) for row in loaded.collect()] == [(5,)]
    with pytest.raises(ValidationError, match="end_snapshot_id"):
        icefloe.spark.read(table, spark=spark, end_snapshot_id=second)
    with pytest.raises(ValidationError, match="got snapshot_id and start_snapshot_id"):
        icefloe.spark.read(table, spark=spark, snapshot_id=first, start_snapshot_id=first)
    with pytest.raises(PySparkException, match="start-timestamp: expected changes=true"):
        load(spark, options, table, start_timestamp="5")


def test_changes_returns_inserted_and_deleted_rows(spark, table, options):
    _, second, _, last = (one.snapshot_id for one in table.snapshots())
    expected = [
        (0, "DELETE", 1, "a"),
        (1, "DELETE", 3, "b"),
        (1, "INSERT", 3, "a"),
        (1, "INSERT", 6, "c"),
    ]
    frame = icefloe.spark.changes(table, spark=spark, start_snapshot_id=second)
    assert found(frame) == expected
    assert frame.columns == ["id", "s", "_change_type", "_change_ordinal", "_commit_snapshot_id"]
    assert {row[0] for row in frame.where("_change_ordinal = 1").select("_commit_snapshot_id").collect()} == {last}
    updates = icefloe.spark.changes(table, spark=spark, start_snapshot_id=second, identifier_columns=["id"])
    assert found(updates)[1:] == [(1, "INSERT", 6, "c"), (1, "UPDATE_AFTER", 3, "a"), (1, "UPDATE_BEFORE", 3, "b")]
    net = icefloe.spark.changes(table, spark=spark, net_changes=True, columns=["id"])
    assert sorted(row.id for row in net.collect()) == [2, 3, 4, 5, 6]
    moment = table.snapshot_by_id(last).timestamp_ms
    assert icefloe.spark.changes(table, spark=spark, start_timestamp=moment).count() == 0
    loaded = load(spark, options, table, changes="true", start_snapshot_id=second)
    assert loaded.schema == frame.schema == nullable(frame.schema)
    assert found(loaded) == expected
    changed = load(spark, options, table, changes="true", identifier_columns="id", columns="id", filter="id = 3")
    kinds = sorted(row["_change_type"] for row in changed.collect())
    assert kinds == ["INSERT", "UPDATE_AFTER", "UPDATE_BEFORE"]


def test_read_returns_metadata_columns(spark, table, options):
    wanted = ["id", "_file", "_pos", "_spec_id", "_partition"]
    frame = icefloe.spark.read(table, spark=spark, columns=wanted)
    assert frame.columns == wanted
    here = {row["id"]: row for row in table.scan(selected_fields=tuple(wanted)).to_arrow().to_pylist()}
    assert {row.id: row.asDict(recursive=True) for row in frame.collect()} == here
    assert "_file is a metadata column" in icefloe.spark.explain_read(table, spark=spark, columns=wanted).reason
    loaded = load(spark, options, table, columns="id,_partition,_deleted")
    live = {row.id: row._partition.s for row in loaded.collect() if not row._deleted}
    assert live == {2: "a", 3: "a", 4: "a", 5: "b", 6: "c"}
    deleted = {row.id for row in loaded.collect() if row._deleted}
    assert deleted <= {1, 3}
