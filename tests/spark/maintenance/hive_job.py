"""Adds tables of Hive to tables of icefloe in a session with Hive support, and prints what it added as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from icefloe.catalog import load_catalog
from icefloe.exceptions import ValidationError
from icefloe.spark import call
from pyspark.sql import SparkSession

FORMATS = ("PARQUET", "ORC", "AVRO")


def session(folder: Path) -> SparkSession:
    builder = SparkSession.builder.master("local[1]").enableHiveSupport()
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.sql.warehouse.dir": str(folder / "hive"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:memory:hive;create=true",
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
        "spark.driver.extraJavaOptions": f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dderby.stream.error.file={folder}/derby.log",
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def main(folder: Path) -> None:
    spark = session(folder)
    lake = load_catalog("lake", type="sql", uri=f"sqlite:///{folder / 'lake.db'}", warehouse=str(folder / "lake"))
    lake.create_namespace("db")
    lake.create_namespace("default")
    found = {}
    for file_format in (*FORMATS, "TEXTFILE"):
        name = f"of_{file_format.lower()}"
        spark.sql(
            f"CREATE EXTERNAL TABLE {name} (id BIGINT, s STRING) PARTITIONED BY (day DATE, k INT) STORED AS {file_format} "
            f"LOCATION '{folder / name}'"
        )
        spark.sql(
            f"INSERT INTO {name} VALUES (1, 'a', DATE '2026-01-01', 1), (2, NULL, NULL, 2), (3, 'c', DATE '2026-01-03', NULL)"
        )
        spark.sql(f"ALTER TABLE {name} DROP PARTITION (day = '2026-01-01', k = 1)")
        spark.sql(f"ALTER TABLE {name} ADD PARTITION (day = '2026-02-02', k = 5) LOCATION '{folder / name}_5'")
        spark.sql(f"INSERT INTO {name} VALUES (4, 'd', DATE '2026-02-02', 5)")
        try:
            call("system.snapshot", name, f"db.{name}", catalog=lake, spark=spark)
            call("system.migrate", name, catalog=lake, spark=spark)
        except ValidationError as error:
            found[file_format] = str(error)
            continue
        rows = [lake.load_table(f"{namespace}.{name}").scan().to_arrow().to_pylist() for namespace in ("db", "default")]
        found[file_format] = [sorted([*map(str, row.values())] for row in one) for one in rows]
    print(json.dumps(found), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
