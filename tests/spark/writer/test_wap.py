"""Snapshots that a session stages for an audit before they are published."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.exceptions import ValidationError
from icefloe.spark.session import settings
from pyspark.sql import types as T  # noqa: N812  the name everyone uses

SCHEMA = T.StructType([T.StructField("id", T.LongType()), T.StructField("kind", T.IntegerType())])


@pytest.fixture
def table(spark, new_table):
    made = new_table(SCHEMA, write__wap__enabled="true")
    icefloe.spark.write(spark.range(10).selectExpr("id", "1 AS kind"), made)
    return made


def staged(table):
    [found] = [one for one in table.refresh().snapshots() if one.summary.get("wap.id") == "audit"]
    return found


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_write_is_staged_with_the_sessions_id(spark, table, mode):
    before = table.current_snapshot()
    with settings(spark, {"spark.wap.id": "audit"}):
        icefloe.spark.write(spark.range(5).selectExpr("id", "2 AS kind"), table, mode)
    assert table.refresh().current_snapshot() == before
    assert table.scan(snapshot_id=staged(table).snapshot_id).count() == (15 if mode == "append" else 5)
    with table.manage_snapshots() as manage:
        manage.set_current_snapshot(staged(table).snapshot_id)
    assert icefloe.spark.read(table, spark=spark).where("kind = 2").count() == 5


@pytest.mark.parametrize("delete_mode", ["copy-on-write", "merge-on-read"])
def test_delete_is_staged_with_the_sessions_id(spark, table, delete_mode):
    with table.transaction() as transaction:
        transaction.set_properties({"write.delete.mode": delete_mode, "write.merge.mode": delete_mode})
    before = table.current_snapshot()
    with settings(spark, {"spark.wap.id": "audit"}):
        icefloe.spark.delete_from(table, "id < 4", spark=spark)
    assert table.refresh().current_snapshot() == before
    assert table.scan(snapshot_id=staged(table).snapshot_id).count() == 6
    assert table.scan().count() == 10


def test_write_to_a_table_without_wap_is_not_staged(spark, new_table):
    table = new_table(SCHEMA)
    with settings(spark, {"spark.wap.id": "audit"}):
        icefloe.spark.write(spark.range(3).selectExpr("id", "1 AS kind"), table)
    assert table.scan().count() == 3
    assert "wap.id" not in table.current_snapshot().summary


@pytest.mark.parametrize(
    ("session", "branch", "error", "words"),
    [
        ({"spark.wap.id": "a", "spark.wap.branch": "b"}, {}, ValidationError, "unset one of them"),
        ({"spark.wap.branch": "b"}, {"branch": "c"}, ValidationError, "expected spark.wap.branch or a branch"),
        ({"spark.wap.id": "a"}, {"branch": "b"}, ValidationError, "belongs to no branch; expected .* branch='b'"),
    ],
)
def test_contradicting_wap_settings_are_refused_before_files_are_written(spark, table, session, branch, error, words):
    files = sorted(table.inspect.files()["file_path"].to_pylist())
    with settings(spark, session), pytest.raises(error, match=words):
        icefloe.spark.write(spark.range(3).selectExpr("id", "1 AS kind"), table, "append", branch)
    with settings(spark, session), pytest.raises(error, match=words):
        icefloe.spark.delete_from(table, "id = 1", spark=spark, **branch)
    assert len(table.refresh().snapshots()) == 1
    assert sorted(table.inspect.files()["file_path"].to_pylist()) == files


def test_session_branch_receives_writes_and_serves_reads(spark, table):
    with settings(spark, {"spark.wap.branch": "audit"}):
        icefloe.spark.write(spark.range(5).selectExpr("id + 100 AS id", "2 AS kind"), table)
        icefloe.spark.delete_from(table, "id < 4", spark=spark)
        assert icefloe.spark.read(table, spark=spark).count() == 11
        of_audit, of_main = (icefloe.spark.explain_read(table, branch=one, spark=spark) for one in (None, "main"))
        assert of_audit.files > of_main.files
    assert icefloe.spark.read(table, spark=spark).count() == 10
    assert icefloe.spark.read(table, branch="audit", spark=spark).where("kind = 2").count() == 5


@pytest.mark.parametrize(
    ("session", "branch"), [({"spark.wap.branch": "audit"}, "audit"), ({"spark.wap.id": "audit"}, None), ({}, "main")]
)
def test_data_source_commits_where_the_session_says(spark, catalog, table, session, branch):
    icefloe.spark.register(spark)
    options = {f"catalog.{key}": value for key, value in catalog.properties.items()}
    rows = spark.range(5).selectExpr("id", "2 AS kind")
    with settings(spark, session):
        rows.write.format("icefloe").options(catalog="lake", **options).mode("append").save(".".join(table.name()))
    snapshot = staged(table) if branch is None else table.refresh().snapshot_by_name(branch)
    assert table.scan(snapshot_id=snapshot.snapshot_id).count() == 15
    assert table.scan().count() == (15 if branch == "main" else 10)
