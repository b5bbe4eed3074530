"""Has the Java reference write a table through Spark and read its metadata tables: schemas and rows, statistics and sketches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tests.interop.java.case import create
from tests.interop.java.delete_tables import equality

if TYPE_CHECKING:
    from tests.interop.java.writer import Writer

CATALOG = "java"
TABLE = f"{CATALOG}.db.described"
COLUMNS = "id BIGINT, kind STRING, p STRUCT<x: DOUBLE, l: ARRAY<INT>>, day TIMESTAMP_NTZ, price DECIMAL(9, 2)"
ROWS = (
    "INSERT INTO {t} SELECT id, IF(id % 4 = 3, NULL, CONCAT('k', id % 3)), NAMED_STRUCT('x', id / 2D, 'l', ARRAY(CAST(id AS INT))), "
    "TIMESTAMP_NTZ '2024-01-01 00:00:00' + MAKE_INTERVAL(0, 0, 0, CAST(id % 3 AS INT)), CAST(id % 7 AS DECIMAL(9, 2)) FROM RANGE({range})"
)
MERGE_ON_READ = {
    "write.delete.mode": "merge-on-read",
    "write.update.mode": "merge-on-read",
    "commit.manifest.min-count-to-merge": "3",
}
STEPS: tuple[Any, ...] = (
    create(COLUMNS, "kind", properties=MERGE_ON_READ),
    ROWS.replace("{range}", "0, 12, 1, 1"),
    "DELETE FROM {t} WHERE id = 4",
    "ALTER TABLE {t} ADD PARTITION FIELD bucket(4, id) AS spread",
    ROWS.replace("{range}", "12, 24, 1, 1"),
    "ALTER TABLE {t} CREATE BRANCH side",
    "ALTER TABLE {t} CREATE TAG fixed RETAIN 30 DAYS",
    "ALTER TABLE {t} REPLACE PARTITION FIELD kind WITH days(day)",
    "ALTER TABLE {t} RENAME COLUMN price TO cost",
    ROWS.replace("{range}", "24, 30, 1, 1").replace("INTO {t}", "INTO {t}.branch_side"),
    ROWS.replace("{range}", "30, 42, 1, 1"),
    "DELETE FROM {t} WHERE id IN (13, 31)",
    equality("kind", rows=(("k0",),), spec=0, partition=("k0",)),
    "DELETE FROM {t} WHERE kind = 'k1' AND id < 12",
)
LOST = f"{CATALOG}.db.lost"
LOST_STEPS = (
    create(COLUMNS, "kind, bucket(4, id)", properties={"commit.manifest-merge.enabled": "false"}),
    ROWS.replace("{range}", "0, 12, 1, 1"),
    "ALTER TABLE {t} DROP PARTITION FIELD kind",
    "ALTER TABLE {t} DROP COLUMN kind",
    "INSERT INTO {t} SELECT id, p, day, price FROM {t} WHERE id < 3",
)
NAMES = [
    "snapshots",
    "history",
    "refs",
    "metadata_log_entries",
    "manifests",
    "all_manifests",
    "entries",
    "all_entries",
    "files",
    "data_files",
    "delete_files",
    "all_files",
    "all_data_files",
    "all_delete_files",
    "partitions",
    "position_deletes",
]


def write(rows: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)


def write_metadata_tables(writer: Writer) -> None:
    """Write the tables `described` and `counted`, and the rows and schemas of the metadata tables of `described`."""
    spark, folder = writer.spark, writer.folder / "metadata-tables"
    folder.mkdir()
    for step in STEPS:
        if callable(step):
            step(writer, TABLE)
        else:
            spark.sql(step.replace("{t}", TABLE))
    # The files of the tables are compared after their last commit.
    spark.sql(f"CALL {CATALOG}.system.compute_partition_stats('db.described')")
    schemas = {}
    for name in NAMES:
        frame = spark.table(f"{TABLE}.{name}")
        schemas[name] = json.loads(frame.schema.json())
        write(frame.toArrow(), folder / f"{name}.arrow")
    for step in LOST_STEPS:
        spark.sql(step.replace("{t}", LOST))
    write(spark.table(f"{LOST}.manifests").toArrow(), folder / "lost-manifests.arrow")
    (folder / "schemas.json").write_text(json.dumps(schemas))
    spark.sql(f"CREATE TABLE {CATALOG}.db.counted (id BIGINT, few INT, text STRING, price DECIMAL(9, 2)) USING iceberg")
    spark.sql(
        f"INSERT INTO {CATALOG}.db.counted SELECT id, CAST(id % 700 AS INT), IF(id % 5 = 0, NULL, CONCAT('t', id % 3000)), "
        "CAST(id % 901 - 400 AS DECIMAL(9, 2)) FROM RANGE(0, 50000, 1, 1)"
    )
    spark.sql(f"CALL {CATALOG}.system.compute_table_stats('db.counted')")
