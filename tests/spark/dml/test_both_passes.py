"""A change fails, and the table stays as it is, if Spark computes other rows when it writes them than it counted before."""

from __future__ import annotations

from pathlib import Path

import icefloe.spark
import pyarrow as pa
import pytest
from icefloe.exceptions import ValidationException
from icefloe.spark.dml import copy_on_write, merge_on_read
from icefloe.table.row_level.merge import MergeResult
from pyspark.sql import functions as F  # noqa: N812  the name everyone uses

from tests.spark.dml.four_files import ROWS, four_files, rows_of

CHANGED = "the rows changed while Spark read them; expected .*: nothing was committed"


def made_table(spark, new_table, mode, *, partitioned):
    frame = spark.range(ROWS).selectExpr("id", f"id div {ROWS // 2} AS half", "concat('n', id) AS name")
    return four_files(frame, new_table, mode=mode, partitioned=partitioned)


@pytest.fixture(params=["unpartitioned", "partitioned"])
def table(request, spark, new_table):
    """A copy-on-write table, whose files tasks rewrite, or whose rows Spark distributes where they have new versions."""
    return made_table(spark, new_table, "copy-on-write", partitioned=request.param == "partitioned")


def state_of(table):
    files = {path.name for path in Path(table.location().removeprefix("file://")).rglob("*.parquet")}
    return table.refresh().current_snapshot().snapshot_id, files, rows_of(table)


def frame_of_file(spark, path):
    """Return rows of the ids that a file has whenever Spark computes them."""
    where = str(path)

    def read(batches):
        for batch in batches:
            if batch.num_rows > 0:
                ids = [int(one) for one in Path(where).read_text().split()]
                yield pa.record_batch(
                    {"id": pa.array(ids, pa.int64()), "half": [0] * len(ids), "name": ["x"] * len(ids)}
                )

    return spark.range(1).coalesce(1).mapInArrow(read, "id long, half long, name string")


def change_before_run(monkeypatch, module, change):
    run = module.run

    def change_and_run(*arguments):
        change()
        return run(*arguments)

    monkeypatch.setattr(module, "run", change_and_run)


@pytest.mark.parametrize(
    ("first", "second"),
    [("5 1005", "5"), ("5", "5 1005"), ("5 6", "1005 1006"), ("5 9000", "5"), ("9000", "9000 9001")],
    ids=["fewer files", "more files", "other files", "fewer inserts", "more inserts"],
)
def test_merge_fails_if_its_source_changes_after_the_first_pass(spark, table, tmp_path, monkeypatch, first, second):
    path = tmp_path / "ids"
    path.write_text(first)

    def change():
        path.write_text(second)
        spark.catalog.clearCache()

    before = state_of(table)
    merge = icefloe.spark.merge_into(table, frame_of_file(spark, path), ["id"]).when_matched_update_all()
    merge.when_not_matched_insert_all()
    with monkeypatch.context() as patch:
        change_before_run(patch, copy_on_write, change)
        with pytest.raises(ValidationException, match="merge: " + CHANGED):
            merge.execute()
    assert state_of(table) == before
    is_new = [int(one) >= ROWS for one in second.split()]
    assert merge.execute() == MergeResult(is_new.count(False), 0, is_new.count(True))


def test_merge_of_a_source_that_repeats_its_rows_needs_no_cache(spark, table, tmp_path, monkeypatch):
    path = tmp_path / "ids"
    path.write_text("5 1005 9000")
    merge = icefloe.spark.merge_into(table, frame_of_file(spark, path), ["id"]).when_matched_update_all()
    change_before_run(monkeypatch, copy_on_write, spark.catalog.clearCache)
    assert merge.when_not_matched_insert_all().execute() == MergeResult(2, 0, 1)
    rows = rows_of(table)
    assert (len(rows), sorted(one for one, row in rows.items() if row["name"] == "x")) == (ROWS + 1, [5, 1005, 9000])


def test_delete_fails_if_its_condition_changes_after_the_first_pass(spark, table, tmp_path, monkeypatch):
    path = tmp_path / "ids"
    path.write_text("5 1005")
    where = str(path)
    is_listed = F.udf(lambda one: str(one) in Path(where).read_text().split(), "boolean")

    def change():
        path.write_text("5")
        spark.catalog.clearCache()

    before = state_of(table)
    change_before_run(monkeypatch, copy_on_write, change)
    with pytest.raises(ValidationException, match="delete: " + CHANGED):
        icefloe.spark.delete_from(table, is_listed("id"), spark=spark)
    assert state_of(table) == before


VERBS = {
    "update": lambda table, spark: icefloe.spark.update(table, {"name": "'x'"}, "id % 1000 = 1", spark=spark),
    "delete": lambda table, spark: icefloe.spark.delete_from(table, "id % 1000 = 1", spark=spark),
}


@pytest.mark.parametrize("verb", VERBS)
def test_change_fails_without_the_result_of_a_task(spark, table, monkeypatch, verb):
    run = copy_on_write.run
    monkeypatch.setattr(copy_on_write, "run", lambda *arguments: run(*arguments)[1:])
    before = table.current_snapshot().snapshot_id
    with pytest.raises(ValidationException, match=f"{verb}: {CHANGED}"):
        VERBS[verb](table, spark)
    assert table.refresh().current_snapshot().snapshot_id == before
    assert len(rows_of(table)) == ROWS


def test_merge_on_read_fails_if_a_position_delete_has_no_new_version(spark, new_table, tmp_path, monkeypatch):
    """Tasks compute positions and new versions apart where an update moves rows to another partition."""
    table = made_table(spark, new_table, "merge-on-read", partitioned=True)
    path = tmp_path / "calls"
    path.touch()
    where = str(path)

    def is_first_of_two(one):
        if one != 7:
            return False
        with Path(where).open("ab", buffering=0) as calls:
            calls.write(b".")
            return calls.tell() == 1

    before = state_of(table)
    change_before_run(monkeypatch, merge_on_read, spark.catalog.clearCache)
    with pytest.raises(ValidationException, match="update: " + CHANGED):
        icefloe.spark.update(table, {"half": "1 - half"}, F.udf(is_first_of_two, "boolean")("id"), spark=spark)
    assert path.read_text() == ".."
    assert state_of(table) == before


def test_merge_on_read_fails_without_the_result_of_a_task(spark, new_table, monkeypatch):
    table = made_table(spark, new_table, "merge-on-read", partitioned=False)
    run = merge_on_read.run
    monkeypatch.setattr(merge_on_read, "run", lambda *arguments: run(*arguments)[1:])
    before = table.current_snapshot().snapshot_id
    source = spark.range(1, ROWS + 1000, 1000).selectExpr("id", "0L AS half", "'x' AS name")
    merge = icefloe.spark.merge_into(table, source, ["id"]).when_matched_update_all("source.id > 1000")
    with pytest.raises(ValidationException, match="merge: " + CHANGED):
        merge.when_matched_delete().when_not_matched_insert_all().execute()
    assert table.refresh().current_snapshot().snapshot_id == before
