"""Tables of files in Spark's own catalog whose registered partitions are not their directories, added by the Java reference and by icefloe."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from icefloe.catalog import load_catalog
from icefloe.spark import call
from pyspark.sql import SparkSession

NAMESPACE = "registered"
FORMATS = ("parquet", "orc")
COLUMNS = "id BIGINT, label STRING, day DATE, kind STRING"
ROWS = """(1, 'a', DATE '2026-11-01', 'x'), (2, 'b', DATE '2026-11-02', 'a=/b'), (3, 'c', NULL, 'x'), (4, 'd', DATE '2026-11-03', NULL),
    (5, 'e', DATE '2026-11-04', 'gone')"""
FILTERS = {"all": {}, "one": {"kind": "x"}}


def make(spark: SparkSession, name: str, file_format: str, folder: Path) -> None:
    """Make a table with a directory that is not registered, and a partition in a directory elsewhere."""
    root, other = folder / "sources" / name, folder / "sources" / f"{name}_other place"
    spark.sql(
        f"CREATE TABLE spark_catalog.default.{name} ({COLUMNS}) USING {file_format} PARTITIONED BY (day, kind) LOCATION '{root}'"
    )
    spark.sql(f"INSERT INTO spark_catalog.default.{name} VALUES {ROWS}")
    # The files of an external table stay.
    spark.sql(f"ALTER TABLE spark_catalog.default.{name} DROP PARTITION (day = '2026-11-04', kind = 'gone')")
    spark.sql(
        f"ALTER TABLE spark_catalog.default.{name} ADD PARTITION (day = '2026-12-31', kind = 'x') LOCATION '{other}'"
    )
    spark.sql(f"INSERT INTO spark_catalog.default.{name} VALUES (6, 'f', DATE '2026-12-31', 'x')")


def add_registered(spark: SparkSession, catalog: str, folder: Path, file_format: str) -> dict[str, pa.Table]:
    """Add the table to two tables for each filter, by Java and by icefloe, and return the rows that Java reads from each."""
    source = f"registered_{file_format}"
    make(spark, source, file_format, folder)
    ours = load_catalog("ours", type="hadoop", warehouse=str(folder / "warehouse"))
    found = {}
    for key, values in FILTERS.items():
        names = {f"{key}-{side}": f"{source}_{key}_{side}" for side in ("theirs", "ours")}
        for one in names.values():
            spark.sql(f"CREATE TABLE {catalog}.{NAMESPACE}.{one} ({COLUMNS}) USING iceberg PARTITIONED BY (day, kind)")
        listed = ", ".join(f"'{name}', '{value}'" for name, value in values.items())
        spark.sql(
            f"CALL {catalog}.system.add_files(table => '{NAMESPACE}.{names[f'{key}-theirs']}', source_table => 'default.{source}', "
            f"partition_filter => map({listed}))"
            if listed
            else f"CALL {catalog}.system.add_files('{NAMESPACE}.{names[f'{key}-theirs']}', 'default.{source}')"
        )
        table = ours.load_table(f"{NAMESPACE}.{names[f'{key}-ours']}")
        call("system.add_files", table, f"default.{source}", values, spark=spark)
        for side, name in names.items():
            found[side] = spark.sql(f"SELECT * FROM {catalog}.{NAMESPACE}.{name} ORDER BY id").toArrow()
    return found
