"""Write `../../golden/formats` with the Java reference: `avro_orc_tables.py <Spark runtime jar>`.

One table whose data and delete files are Avro, one whose are ORC, one of all three formats: nested columns, a rename, a promotion, a dropped
and added column, rows deleted by position. Beside them `rows.json`, what Spark reads of each, and `far.orc`, whose timestamp nanoseconds do not reach.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

GOLDEN = Path(__file__).parents[2] / "golden" / "formats"
# Tables are read where they were written, so metadata names a place that the tests make.
PLACE = Path("/tmp/icefloe-golden-formats")
COLUMNS = (
    "id INT, price FLOAT, amount DECIMAL(9, 2), day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, bytes BINARY, "
    "gone STRING, point STRUCT<x: INT, name: STRING>, list ARRAY<STRUCT<q: INT>>, map MAP<STRING, INT>, pairs MAP<INT, BIGINT>"
)
ROWS = (
    "INSERT INTO {t} SELECT CAST(id AS INT), CAST(id / 4 AS FLOAT), CAST(id AS DECIMAL(9, 2)), DATE_ADD(DATE '1969-12-30', CAST(id AS INT)), "
    "TIMESTAMP '2020-01-01 00:00:00.000001' + MAKE_DT_INTERVAL(0, 0, 0, id), TIMESTAMP_NTZ '1960-01-01 00:00:00.5' + MAKE_DT_INTERVAL(0, 0, 0, id), "
    "UNHEX(HEX(id)), CONCAT('gone ', id), IF(id % 3 = 0, NULL, NAMED_STRUCT('x', CAST(id AS INT), 'name', CONCAT('p', id))), "
    "IF(id % 4 = 0, NULL, ARRAY(NAMED_STRUCT('q', CAST(id AS INT)), NULL)), MAP('k', CAST(id AS INT), 'n', NULL), "
    "MAP(CAST(id AS INT), id * 2, -1, NULL) FROM RANGE({first}, {last}, 1, 1)"
)
CHANGES = (
    "ALTER TABLE {t} RENAME COLUMN price TO cost",
    "ALTER TABLE {t} RENAME COLUMN point.name TO label",
    "ALTER TABLE {t} ALTER COLUMN cost TYPE DOUBLE",
    "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
    "ALTER TABLE {t} ALTER COLUMN amount TYPE DECIMAL(20, 2)",
    "ALTER TABLE {t} DROP COLUMN gone",
    "ALTER TABLE {t} ADD COLUMN gone INT",
    "DELETE FROM {t} WHERE id IN (2, 7)",
    "UPDATE {t} SET gone = 1 WHERE id = 5",
)


def write(spark: SparkSession, name: str, formats: tuple[str, ...]) -> list[dict[str, Any]]:
    table = f"java.db.{name}"
    properties = "'format-version'='2', 'write.delete.mode'='merge-on-read', 'write.update.mode'='merge-on-read'"
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) USING iceberg TBLPROPERTIES ({properties})")
    for number, file_format in enumerate(formats):
        used = f"'write.format.default'='{file_format}', 'write.delete.format.default'='{file_format}'"
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({used})")
        spark.sql(ROWS.format(t=table, first=5 * number, last=5 * number + 5 * (3 // len(formats))))
    for statement in CHANGES:
        spark.sql(statement.format(t=table))
    rows = spark.sql(f"SELECT * FROM {table} ORDER BY id").toArrow().to_pylist()
    return json.loads(json.dumps(rows, default=str))


def run(jar: str) -> None:
    shutil.rmtree(PLACE, ignore_errors=True)
    builder = SparkSession.builder.master("local[1]").config("spark.jars", jar)
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
        "spark.ui.enabled": "false",
        "spark.local.dir": tempfile.mkdtemp(),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.java": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.java.type": "hadoop",
        "spark.sql.catalog.java.warehouse": str(PLACE),
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    tables = {"avro": ("avro",), "orc": ("orc",), "mixed": ("avro", "orc", "parquet")}
    rows = {name: write(spark, name, formats) for name, formats in tables.items()}
    spark.sql(
        "CREATE TABLE java.db.far (id INT, at TIMESTAMP) USING iceberg TBLPROPERTIES ('write.format.default'='orc')"
    )
    spark.sql("INSERT INTO java.db.far VALUES (1, TIMESTAMP '9999-12-31 23:59:59.999999')")
    spark.stop()
    for name in tables:
        shutil.rmtree(GOLDEN / name, ignore_errors=True)
        source = PLACE / "db" / name
        newest = (source / "metadata" / "version-hint.text").read_text(encoding="utf-8").strip()
        older = [path.name for path in source.glob("metadata/v*.json") if path.name != f"v{newest}.metadata.json"]
        shutil.copytree(source, GOLDEN / name, ignore=shutil.ignore_patterns("*.crc", *older))
    (far,) = (PLACE / "db" / "far" / "data").glob("*.orc")
    shutil.copy(far, GOLDEN / "far.orc")
    text = json.dumps(rows, indent=1, ensure_ascii=False, sort_keys=True)
    (GOLDEN / "rows.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    run(sys.argv[1])
