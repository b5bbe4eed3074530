"""Directories of ORC and Avro files that the Java reference and icefloe both add to tables of one schema."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.orc
from icefloe.catalog import load_catalog
from icefloe.spark import call
from pyspark.sql import SparkSession

NAMESPACE = "added"
_START = dt.datetime(2020, 1, 1, 0, 0, 0, 123456, tzinfo=dt.timezone.utc)
_SPARK = """SELECT CAST(id AS INT) i, id l, CAST(id / 2 AS FLOAT) f, CAST(id / 4 AS DOUBLE) d, CAST(id * 1.25 AS DECIMAL(9, 2)) small,
    CAST(id * -1.25 AS DECIMAL(30, 2)) large, IF(id = 3, NULL, CONCAT('text of more than sixteen characters ', id)) s,
    CAST(CONCAT('b', id) AS BINARY) b, id % 2 = 0 mixed, true yes, DATE '1970-01-03' - CAST(id AS INT) day,
    named_struct('x', id, 'y', IF(id = 2, NULL, CONCAT('y', id))) st, array(id, id + 1) li, map(CONCAT('k', id), id) ma,
    CAST(NULL AS INT) nothing FROM RANGE(1, 9, 1, 1)"""
_SPARK_COLUMNS = """i INT, l BIGINT, f FLOAT, d DOUBLE, small DECIMAL(9, 2), large DECIMAL(30, 2), s STRING, b BINARY, mixed BOOLEAN, yes BOOLEAN,
    day DATE, st STRUCT<x: BIGINT, y: STRING>, li ARRAY<BIGINT>, ma MAP<STRING, BIGINT>, nothing INT"""
_AVRO = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "i", "type": "int"},
        {"name": "l", "type": ["null", "long"]},
        {"name": "d", "type": "double"},
        {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "s", "type": ["null", "string"]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {
            "name": "st",
            "type": ["null", {"type": "record", "name": "st", "fields": [{"name": "x", "type": "long"}]}],
        },
        {"name": "li", "type": {"type": "array", "items": "long"}},
        {"name": "ma", "type": {"type": "map", "values": ["null", "long"]}},
    ],
}
_AVRO_COLUMNS = """i INT, l BIGINT, d DOUBLE, amount DECIMAL(9, 2), s STRING, day DATE, at TIMESTAMP, st STRUCT<x: BIGINT>, li ARRAY<BIGINT>,
    ma MAP<STRING, BIGINT>"""


@dataclass(frozen=True)
class Source:
    """A directory of files.

    Attributes:
        name: The name of the table that Java adds the files to; icefloe's has `_ours` after it.
        file_format: The format of the files.
        columns: The columns of the table.
        write: Writes the files of the numbers into a directory.
        filters: Filters for both.
    """

    name: str
    file_format: str
    columns: str
    write: Callable[[SparkSession, Path, range], None]
    filters: tuple[str, ...]


def _by_spark(spark: SparkSession, folder: Path, ids: range) -> None:
    frame = spark.sql(f"SELECT * FROM ({_SPARK}) WHERE i >= {ids.start} AND i < {ids.stop}")
    frame.coalesce(1).write.orc(str(folder), mode="overwrite")


def _by_pyarrow(_: SparkSession, folder: Path, ids: range) -> None:
    instants = [_START + dt.timedelta(seconds=one) for one in ids]
    columns = {
        "i": pa.array(ids, pa.int32()),
        "at": pa.array(instants, pa.timestamp("us", "UTC")),
        "s": pa.array([f"s{one}" for one in ids]),
    }
    folder.mkdir(parents=True)
    pa.orc.write_table(pa.table(columns), folder / "part-0.orc")


def _by_fastavro(_: SparkSession, folder: Path, ids: range) -> None:
    folder.mkdir(parents=True)
    with (folder / "part-0.avro").open("wb") as out:
        fastavro.writer(out, _AVRO, _avro_rows(ids), codec="deflate")


def _avro_rows(ids: range) -> Iterator[dict[str, Any]]:
    for one in ids:
        yield {
            "i": one,
            "l": None if one == 3 else one,
            "d": one / 4,
            "amount": Decimal(one) / 4,
            "s": None if one == 5 else f"text {one}",
            "day": dt.date(2020, 1, one),
            "at": _START + dt.timedelta(seconds=one),
            "st": None if one == 2 else {"x": one},
            "li": [one, one + 1],
            "ma": {f"k{one}": None if one == 4 else one},
        }


SOURCES = (
    Source(
        "spark_orc",
        "orc",
        _SPARK_COLUMNS,
        _by_spark,
        ("i > 5", "small = 2.50", "s is null", "mixed = true", "day < '1970-01-01'", "st.y is null", "nothing is null"),
    ),
    Source("pyarrow_orc", "orc", "i INT, at TIMESTAMP, s STRING", _by_pyarrow, ("i > 5", "s = 's2'")),
    Source("fastavro_avro", "avro", _AVRO_COLUMNS, _by_fastavro, ("l is null", "amount >= 1.5", "st is null")),
)
LAYOUTS = ("plain", "in_partitions")


def add_files(spark: SparkSession, catalog: str, folder: Path, source: Source, layout: str) -> dict[str, pa.Table]:
    """Add files to two tables, by Java and by icefloe, and return the rows that Java reads from either."""
    name = f"{source.name}_{layout}"
    files = folder / "existing" / name
    if layout == "plain":
        source.write(spark, files, range(1, 9))
    else:
        source.write(spark, files / "p=a%2Fb", range(1, 4))
        source.write(spark, files / "p=b", range(4, 9))
    columns = source.columns if layout == "plain" else f"{source.columns}, p STRING"
    partitioned = "" if layout == "plain" else "PARTITIONED BY (p)"
    for table in (name, f"{name}_ours"):
        spark.sql(f"CREATE TABLE {catalog}.{NAMESPACE}.{table} ({columns}) USING iceberg {partitioned}")
    place = f"`{source.file_format}`.`{files}`"
    spark.sql(f"CALL {catalog}.system.add_files(table => '{NAMESPACE}.{name}', source_table => '{place}')")
    ours = load_catalog("ours", type="hadoop", warehouse=str(folder / "warehouse"))
    call("system.add_files", ours.load_table(f"{NAMESPACE}.{name}_ours"), place)
    tables = {"theirs": name, "ours": f"{name}_ours"}
    return {
        key: spark.sql(f"SELECT * FROM {catalog}.{NAMESPACE}.{one} ORDER BY i").toArrow() for key, one in tables.items()
    }
