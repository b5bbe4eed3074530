"""Tables with a past: branches, tags, rollbacks, expiry, upgrades; and metadata in every form."""

from __future__ import annotations

from tests.interop.java.case import MERGE_ON_READ, Case, create, insert

COLUMNS = "id BIGINT, kind STRING"
FILTERS = ("id > 2", "kind = 'b' or kind is null")


def cases() -> list[Case]:
    simple = (insert("(1, 'a')", "(2, 'b')"), insert("(3, NULL)"), "DELETE FROM {t} WHERE id = 1")
    refs = (
        create(COLUMNS, properties=MERGE_ON_READ),
        insert("(1, 'a')", "(2, 'b')"),
        "ALTER TABLE {t} CREATE TAG first",
        "ALTER TABLE {t} CREATE BRANCH side",
        insert("(3, 'c')"),
        "INSERT INTO {t}.branch_side VALUES (4, 'on the side')",
        "ALTER TABLE {t} RENAME COLUMN kind TO type",
        "ALTER TABLE {t} ADD COLUMN kind INT",
        "INSERT INTO {t} VALUES (5, 'e', 5)",
        "DELETE FROM {t} WHERE id = 2",
        "ALTER TABLE {t} CREATE TAG second RETAIN 30 DAYS",
        "DELETE FROM {t}.branch_side WHERE id = 1",
        "ALTER TABLE {t} CREATE BRANCH late",
    )
    overwritten = (
        create(COLUMNS, "kind"),
        insert("(1, 'a')", "(2, 'b')", "(3, NULL)"),
        "INSERT OVERWRITE {t} PARTITION (kind = 'b') SELECT id FROM RANGE(20, 23)",
        "DELETE FROM {t} WHERE kind IS NULL",
        "TRUNCATE TABLE {t}",
        insert("(9, 'b')"),
    )
    rolled_back = (
        create(COLUMNS),
        insert("(1, 'a')"),
        "ALTER TABLE {t} CREATE TAG good",
        insert("(2, 'b')"),
        "ALTER TABLE {t} ADD COLUMN extra INT",
        insert("(3, 'c', 3)"),
        lambda writer, table: writer.spark.sql(
            f"CALL java.system.set_current_snapshot(table => '{table}', ref => 'good')"
        ),
        insert("(4, 'd', 4)"),
    )
    upgraded = (
        create(COLUMNS, "kind", version=1),
        insert("(1, 'a')", "(2, 'b')"),
        "ALTER TABLE {t} SET TBLPROPERTIES ('format-version'='2', 'write.delete.mode'='merge-on-read')",
        insert("(3, 'a')", "(4, 'b')"),
        "DELETE FROM {t} WHERE id IN (1, 4)",
    )
    expired = (
        create(COLUMNS),
        *(insert(f"({n}, 'k{n}')") for n in range(4)),
        "CALL java.system.expire_snapshots(table => '{t}', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 2)",
    )
    replaced = (
        create(COLUMNS, "kind"),
        insert("(1, 'a')"),
        "CREATE OR REPLACE TABLE {t} (kind INT, id BIGINT) USING iceberg PARTITIONED BY (bucket(2, id))",
        insert("(2, 2)", "(3, NULL)"),
    )
    branch = Case("refs", refs, ("id > 2", "kind = 5"), reads=("first", "side", "second", "late", "main"), history=True)
    return [
        branch,
        Case("overwritten", overwritten, FILTERS, history=True),
        Case("rolled_back", rolled_back, FILTERS, reads=("good",), history=True),
        Case("upgraded", upgraded, FILTERS, history=True),
        Case("expired", expired, FILTERS, history=True),
        Case("replaced", replaced, ("id > 2", "kind is null"), history=True),
        Case("empty", (create(COLUMNS),), FILTERS),
        Case("emptied", (create(COLUMNS), *simple, "DELETE FROM {t}"), FILTERS, history=True),
        *(
            Case(name, (create(COLUMNS, spec, properties=properties), *simple), FILTERS)
            for name, (spec, properties) in FORMS.items()
        ),
    ]


FORMS: dict[str, tuple[str, dict[str, str]]] = {
    "metadata_gzip": ("", {"write.metadata.compression-codec": "gzip"}),
    "manifests_snappy": ("kind", {"write.manifest.compression-codec": "snappy"}),
    "manifests_zstd": ("kind", {"write.manifest.compression-codec": "zstd"}),
    "manifests_uncompressed": ("kind", {"write.manifest.compression-codec": "uncompressed"}),
    "manifests_unmerged": ("kind", {"commit.manifest-merge.enabled": "false"}),
    "manifests_merged": ("kind", {"commit.manifest.min-count-to-merge": "2"}),
    "object_storage_layout": ("kind", {"write.object-storage.enabled": "true"}),
    "object_storage_flat": (
        "kind",
        {"write.object-storage.enabled": "true", "write.object-storage.partitioned-paths": "false"},
    ),
    "metrics_none": ("kind", {"write.metadata.metrics.default": "none"}),
    "metrics_counts": ("kind", {"write.metadata.metrics.default": "counts"}),
    "metrics_full": ("kind", {"write.metadata.metrics.default": "full"}),
    "positions_of_many_files": ("", {**MERGE_ON_READ, "write.delete.granularity": "partition"}),
}
