"""Settings of the session that change what Spark's Parquet reader returns have no effect on the rows of a table."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import icefloe.spark
import pyarrow.parquet as pq
import pytest
from icefloe.spark.session import settings

OLD = date(1500, 3, 1)


@pytest.mark.parametrize("mode", ["LEGACY", "EXCEPTION"])
def test_dates_before_1582_are_read_as_they_were_written(spark, new_table, mode):
    rows = spark.createDataFrame([(1, OLD)], "id int, born date")
    table = new_table(rows.schema)
    icefloe.spark.write(rows, table)
    with settings(spark, {"spark.sql.parquet.datetimeRebaseModeInRead": mode}):
        assert icefloe.spark.read(table, spark=spark).where("born = DATE'1500-03-01'").first()["born"] == OLD


def test_corrupt_files_are_reported_where_the_session_ignores_them(spark, new_table):
    rows = spark.range(100).selectExpr("id", "sha2(string(id), 256) AS text").coalesce(1)
    table = new_table(rows.schema)
    icefloe.spark.write(rows, table)
    (path,) = (Path(file.file.file_path) for file in table.scan().plan_files())
    column = pq.ParquetFile(path).metadata.row_group(0).column(1)
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + 60] = b"\xff" * 60
    path.write_bytes(content)
    with settings(spark, {"spark.sql.files.ignoreCorruptFiles": "true"}), pytest.raises(Exception, match=path.name):
        icefloe.spark.read(table, spark=spark).collect()
