"""Runs operations by the Java reference in a process of its own; prints their summaries and the rows of a table of icefloe as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.interop.java.writer import session

STATEMENTS = (
    "CREATE TABLE {t} (id BIGINT, part STRING) USING iceberg PARTITIONED BY (part)",
    "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1L, 'a'), (2L, 'b') AS v(id, part) ORDER BY part",
    "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (3L, 'a') AS v(id, part)",
    "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (4L, 'b') AS v(id, part)",
    "DELETE FROM {t} WHERE part = 'b'",
    "INSERT OVERWRITE {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (9L, 'a') AS v(id, part)",
    "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (5L, 'c') AS v(id, part)",
    "CALL java.system.rewrite_manifests('db.t')",
    "CALL java.system.rewrite_data_files(table => 'db.t', options => map('rewrite-all', 'true'))",
)


def main(jar: str, folder: Path, ours: str) -> None:
    spark = session(jar, folder / "warehouse")
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    catalog = "spark.sql.catalog.ours"
    spark.conf.set(catalog, "org.apache.iceberg.spark.SparkCatalog")
    spark.conf.set(f"{catalog}.type", "hadoop")
    spark.conf.set(f"{catalog}.warehouse", ours)
    for statement in STATEMENTS:
        spark.sql(statement.format(t="java.db.t"))
    snapshots = spark.sql("SELECT operation, summary FROM java.db.t.snapshots ORDER BY committed_at").collect()
    rows = spark.sql("SELECT id, part FROM ours.db.t ORDER BY id").collect()
    found = {
        "summaries": [[row.operation, dict(row.summary)] for row in snapshots],
        "rows": [list(row) for row in rows],
    }
    (folder / "summaries.json").write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
