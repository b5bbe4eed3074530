"""The procedures of the Java reference: their parameters and columns, and what one call of each returns."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tests.interop.java.procedure_cases import Call, as_sql, comparable, filled

OLD = 1_600_000_000
"""A time in seconds, long before the age at which orphan files go."""


def signatures(spark: SparkSession, catalog: str) -> dict[str, Any]:
    """Return parameters (type and whether it is required) and columns (type and whether it may be null) by procedure."""
    java: Any = spark._jvm
    known = java.org.apache.iceberg.spark.procedures.SparkProcedures
    place = spark._jsparkSession.sessionState().catalogManager().catalog(catalog)
    found = {}
    for name in known.names():
        builder = known.newBuilder(name).withTableCatalog(place)
        procedure = builder.build()
        bound = procedure.bind(java.org.apache.spark.sql.types.StructType())
        output = procedure.getClass().getDeclaredField("OUTPUT_TYPE")
        output.setAccessible(True)
        found[name] = {
            "parameters": [
                [one.name(), one.dataType().simpleString(), one.defaultValue() is None] for one in bound.parameters()
            ],
            "columns": [
                [one.name(), one.dataType().simpleString(), one.nullable()] for one in output.get(None).fields()
            ],
        }
    return found


def run_call(shared: SparkSession, catalog: str, folder: Path, call: Call) -> list[dict[str, Any]]:
    """Make a table and another one for icefloe, call the procedure on the former, and return its rows."""
    spark = shared.newSession()
    ours, theirs = (f"{catalog}.procedures.{call.name}{suffix}" for suffix in ("_ours", ""))
    for table in (theirs, ours):
        prepare(spark, table, folder, call)
    snapshots = [
        row[0] for row in spark.sql(f"SELECT snapshot_id FROM {theirs}.snapshots ORDER BY committed_at").collect()
    ]
    arguments = filled(call.arguments, snapshots, places(folder, theirs))
    named = "".join(f", {key} => {as_sql(value)}" for key, value in arguments.items())
    rows = spark.sql(f"CALL {catalog}.system.{call.procedure}(table => '{theirs.partition('.')[2]}'{named})").collect()
    made = [row[0] for row in spark.sql(f"SELECT snapshot_id FROM {theirs}.snapshots ORDER BY committed_at").collect()]
    return comparable([row.asDict() for row in rows], call, snapshots + [one for one in made if one not in snapshots])


def prepare(spark: SparkSession, table: str, folder: Path, call: Call) -> None:
    spark.sql(f"CREATE TABLE {table} (id BIGINT, part STRING) PARTITIONED BY (part) TBLPROPERTIES ({call.properties})")
    for number in range(4):
        values = ", ".join(f"({number * 4 + place}, '{'ab'[place % 2]}')" for place in range(4))
        spark.sql(f"INSERT INTO {table} VALUES {values}")
    if call.procedure == "add_files":
        frame = spark.sql("SELECT id, 'c' AS part FROM range(4)").repartition(2, "id")
        frame.write.partitionBy("part").parquet(places(folder, table)["folder"])
    for step in call.steps:
        if step == "STAGE":
            spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('write.wap.enabled' = 'true')")
            spark.conf.set("spark.wap.id", "w")
            spark.sql(f"INSERT INTO {table} VALUES (8, 'a')")
            spark.conf.unset("spark.wap.id")
        elif step == "ORPHAN":
            path = Path(places(folder, table)["location"]) / "data" / "orphan.parquet"
            path.write_bytes(b"orphan")
            os.utime(path, (OLD, OLD))
        else:
            spark.sql(step.replace("{t}", table))


def places(folder: Path, table: str) -> dict[str, str]:
    """Return the location of a table, and the directory of Parquet files for its call."""
    name = table.rsplit(".", 1)[-1]
    return {"location": str(folder / "warehouse" / "procedures" / name), "folder": str(folder / "parquet" / name)}
