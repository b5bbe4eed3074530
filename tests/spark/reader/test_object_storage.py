"""A table on S3 in a Spark session whose JVM has no file system for S3."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.catalog import load_catalog
from icefloe.spark import schema_from_spark

from tests.storage.servers import s3_server


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    directory = tmp_path_factory.mktemp("s3")
    with s3_server(directory) as server:
        (server.root / "lake").mkdir()
        made = load_catalog(
            "far",
            type="sql",
            uri=f"sqlite:///{directory}/c.db",
            warehouse="s3a://lake/warehouse",
            **server.properties(),
        )
        made.create_namespace("db")
        yield made


def test_executors_write_and_read_with_catalog_properties(spark, lake):
    frame = spark.range(1_000).selectExpr("id", "cast(id % 3 as string) as kind")
    table = lake.create_table("db.t", schema_from_spark(frame.schema))
    icefloe.spark.write(frame, table)
    assert all(file["file_path"].startswith("s3a://lake/") for file in table.inspect.files().to_pylist())
    choice = icefloe.spark.explain_read(table, spark=spark)
    assert not choice.native
    assert "s3a://" in choice.reason
    assert icefloe.spark.read(table, spark=spark).count() == 1_000
    found = icefloe.spark.read(table, spark=spark, filter="kind = '1' and id < 100").collect()
    assert sorted(row.id for row in found) == [i for i in range(100) if i % 3 == 1]


def test_merge_changes_a_table_on_s3(spark, lake):
    frame = spark.range(100).selectExpr("id", "'old' as kind")
    table = lake.create_table("db.m", schema_from_spark(frame.schema), properties={"write.merge.mode": "merge-on-read"})
    icefloe.spark.write(frame, table)
    changed = spark.range(90, 110).selectExpr("id", "'new' as kind")
    merge = icefloe.spark.merge_into(table, changed, on=["id"])
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    rows = {row.id: row.kind for row in icefloe.spark.read(table, spark=spark).collect()}
    assert rows == {i: "old" if i < 90 else "new" for i in range(110)}
