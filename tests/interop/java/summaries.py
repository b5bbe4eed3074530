"""Operations of Spark's SQL whose snapshot summaries are compared."""

from __future__ import annotations

from typing import Any

STATEMENTS = (
    "CREATE TABLE {t} (id BIGINT, part STRING) USING iceberg PARTITIONED BY (part)",
    "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1L, 'a'), (2L, 'b') AS v(id, part) ORDER BY part",
    "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (3L, 'a') AS v(id, part)",
    "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (4L, 'b') AS v(id, part)",
    "DELETE FROM {t} WHERE part = 'b'",
    "INSERT OVERWRITE {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (9L, 'a') AS v(id, part)",
    "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (5L, 'c') AS v(id, part)",
    "CALL java.system.rewrite_manifests('summaries.t')",
    "CALL java.system.rewrite_data_files(table => 'summaries.t', options => map('rewrite-all', 'true'))",
)


def summaries(spark: Any) -> list[list[Any]]:
    """Run the statements in a session of their own; return the operation and the summary of each snapshot."""
    own = spark.newSession()
    own.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    for statement in STATEMENTS:
        own.sql(statement.format(t="java.summaries.t"))
    snapshots = own.sql("SELECT operation, summary FROM java.summaries.t.snapshots ORDER BY committed_at").collect()
    return [[row.operation, dict(row.summary)] for row in snapshots]
