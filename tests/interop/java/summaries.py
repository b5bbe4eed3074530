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

ONE_ROW = "SELECT /*+ COALESCE(1) */ * FROM VALUES (9L, 'a') AS v(id, part)"
OVERWRITES = (
    "CREATE TABLE {t} (id BIGINT, part STRING) USING iceberg PARTITIONED BY (part)",
    f"INSERT OVERWRITE {{t}} {ONE_ROW} WHERE id < 0",
    f"INSERT OVERWRITE {{t}} {ONE_ROW}",
    "INSERT OVERWRITE {t} PARTITION (part = 'b') SELECT 9L",
    "INSERT OVERWRITE {t} PARTITION (part = 'z') SELECT 9L WHERE 1 = 0",
    "INSERT OVERWRITE {t} PARTITION (part = 'b') SELECT 9L WHERE 1 = 0",
    f"INSERT OVERWRITE {{t}} {ONE_ROW}",
    f"CREATE OR REPLACE TABLE {{t}} USING iceberg PARTITIONED BY (part) AS {ONE_ROW}",
    f"CREATE OR REPLACE TABLE {{t}} USING iceberg PARTITIONED BY (part) AS {ONE_ROW} WHERE id < 0",
)


def summaries(spark: Any) -> list[list[Any]]:
    """Run the statements in a session of their own; return the operation and the summary of each snapshot."""
    own = spark.newSession()
    own.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    return _after(own, STATEMENTS, "java.summaries.t")


def overwrites(spark: Any) -> list[list[Any]]:
    """Run statements that overwrite rows, some of them none, under Spark's default of static overwrites."""
    return _after(spark.newSession(), OVERWRITES, "java.summaries.o")


def _after(session: Any, statements: tuple[str, ...], table: str) -> list[list[Any]]:
    for statement in statements:
        session.sql(statement.format(t=table))
    snapshots = session.sql(f"SELECT operation, summary FROM {table}.snapshots ORDER BY committed_at").collect()
    return [[row.operation, dict(row.summary)] for row in snapshots]
