"""Relations of given files in Spark's own Parquet reader."""

from __future__ import annotations

from contextlib import ExitStack

import icefloe.spark
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from icefloe.spark.reader.parquet_relation import parquet_relation
from icefloe.spark.session import settings
from pyspark.sql.types import LongType, StructType

from tests.spark.gateway_calls import recorded_calls

FILES = 40


@pytest.fixture(scope="module")
def files(catalog):
    table = catalog.create_table("db.forty_files", pa.schema([("id", pa.int64())]))
    for number in range(FILES):
        table.append(pa.table({"id": [number]}))
    return table


def test_relation_of_many_files_takes_no_call_for_each(spark, files):
    icefloe.spark.read(files, spark=spark)
    with recorded_calls() as calls:
        frame = icefloe.spark.read(files, spark=spark)
    assert len(calls) <= 35, calls
    assert sorted(row.id for row in frame.collect()) == list(range(FILES))


def test_relation_reads_paths_with_pattern_characters_and_line_breaks(spark, tmp_path):
    struct = StructType().add("id", LongType())
    paths = []
    for number, name in enumerate(("a*", "a b", "a[0-9]", "a{1,2}", "a\nb", "a?", "a%20b", "ä")):
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({"id": [number]}), path)
        paths.append(str(path))
    without_break = [path for path in paths if "\n" not in path]
    for chosen, expected in ((paths, 8), (without_break, 7), (paths[:2], 2)):
        assert parquet_relation(spark, struct, chosen).count() == expected


def test_relation_without_files_is_empty(spark):
    assert parquet_relation(spark, StructType().add("id", LongType()), []).collect() == []


@pytest.mark.parametrize("sources", ["", "csv, Parquet", "csv,orc"])
def test_relation_has_positions_whatever_sources_the_session_lists(spark, files, sources):
    path = next(files.scan().plan_files()).file.file_path
    key = "spark.sql.sources.useV1SourceList"
    with settings(spark, {key: sources}):
        relation = parquet_relation(spark, StructType().add("id", LongType()), [path])
        assert relation.selectExpr("_metadata.row_index").collect() == [(0,)]
        assert spark.conf.get(key) == sources


class PathsThatEndABlock(list):
    """Paths whose iteration ends the blocks of a stack, as the relation of another thread does while the paths are listed."""

    def __init__(self, paths, stack):
        super().__init__(paths)
        self.stack = stack

    def __iter__(self):
        self.stack.close()
        return super().__iter__()


def test_relation_has_positions_if_the_relation_of_another_thread_ends_before_it(spark, files):
    path = next(files.scan().plan_files()).file.file_path
    key = "spark.sql.sources.useV1SourceList"
    session = spark.newSession()
    session.conf.set(key, "csv")
    with ExitStack() as stack:
        stack.enter_context(settings(session, {key: "parquet"}))
        relation = parquet_relation(session, StructType().add("id", LongType()), PathsThatEndABlock([path], stack))
    assert session.conf.get(key) == "csv"
    assert relation.selectExpr("_metadata.row_index").collect() == [(0,)]
