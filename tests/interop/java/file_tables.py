"""Files as Java and Spark lay them out: row groups, pages, bloom filters; and Spark's own Parquet files, added without ids."""

from __future__ import annotations

from typing import Any

from tests.interop.java.case import MERGE_ON_READ, Case, create

BIG = "id BIGINT, back INT, text STRING, few STRING, maybe DOUBLE, at TIMESTAMP, list ARRAY<INT>"
BIG_ROWS = (
    "INSERT INTO {t} SELECT id, CAST(20000 - id AS INT), CONCAT('a longer text of row ', LPAD(CAST(id AS STRING), 6, '0')), CONCAT('few ', id DIV 4000), "
    "IF(id % 3 = 0, NULL, id / 7), TIMESTAMP '2020-01-01 00:00:00' + MAKE_DT_INTERVAL(0, id), SEQUENCE(0, CAST(id % 4 AS INT)) FROM RANGE(0, 20000, 1, 1)"
)
BIG_FILTERS = (
    "id = 12345",
    "id >= 19990 or id < 3",
    "back between 500 and 510",
    "text = 'a longer text of row 004711'",
    "text like 'a longer text of row 0099%'",
    "few = 'few 3' and id < 12005",
    "few = 'few 9'",
    "maybe is null and id > 19900",
    "at < '2020-01-01T05:00:00+00:00' -- at < TIMESTAMP '2020-01-01 05:00:00'",
    "id in (1, 5000, 9999, 10000, 30000)",
)
SMALL_GROUPS = {
    "write.parquet.row-group-size-bytes": "40000",
    "write.parquet.row-group-check-min-record-count": "500",
    "write.parquet.row-group-check-max-record-count": "1000",
    "write.parquet.page-size-bytes": "4096",
    "write.parquet.page-row-limit": "200",
}
BLOOM = {f"write.parquet.bloom-filter-enabled.column.{name}": "true" for name in ("id", "text", "few")}
PLAIN = {
    "id": "id",
    "i": "CAST(id AS INT)",
    "byte": "CAST(id AS TINYINT)",
    "short": "CAST(id AS SMALLINT)",
    "f": "CAST(id / 3 AS FLOAT)",
    "small": "CAST(id / 10 AS DECIMAL(9, 2))",
    "middle": "CAST(id / 10 AS DECIMAL(15, 2))",
    "large": "CAST(id / 10 AS DECIMAL(30, 2))",
    "day": "DATE_ADD(DATE '1969-12-28', CAST(id AS INT))",
    "at": "TIMESTAMP '1969-12-31 23:59:50.123456' + MAKE_DT_INTERVAL(0, 0, 0, id)",
    "s": "IF(id = 3, NULL, CONCAT('s', id))",
    "b": "UNHEX(HEX(id))",
    "st": "IF(id = 4, NULL, NAMED_STRUCT('x', CAST(id AS INT), 'y', IF(id = 5, NULL, 'y')))",
    "list": "IF(id = 4, NULL, IF(id = 5, ARRAY(), ARRAY(CAST(id AS INT), NULL)))",
    "structs": "IF(id = 6, NULL, ARRAY(NAMED_STRUCT('x', CAST(id AS INT)), NULL))",
    "single": "ARRAY(NAMED_STRUCT('only', ARRAY(CAST(id AS INT))))",
    "map": "IF(id = 4, NULL, MAP('k', CAST(id AS INT), 'n', NULL))",
    "part": "CAST(id % 2 AS INT)",
}
PLAIN_COLUMNS = (
    "id BIGINT, i INT, byte INT, short INT, f FLOAT, small DECIMAL(9, 2), middle DECIMAL(15, 2), large DECIMAL(30, 2), day DATE, at TIMESTAMP, "
    "s STRING, b BINARY, st STRUCT<x: INT, y: STRING>, list ARRAY<INT>, structs ARRAY<STRUCT<x: INT>>, "
    "single ARRAY<STRUCT<only: ARRAY<INT>>>, map MAP<STRING, INT>, part INT"
)
PLAIN_FILTERS = (
    "id >= 5",
    "i = 3 or byte = 4",
    "short < 2",
    "small = 0.3",
    "middle > 0.5",
    "large <= 0.1",
    "day = '1970-01-01'",
    "at >= '1970-01-01T00:00:00+00:00' -- at >= TIMESTAMP '1970-01-01 00:00:00'",
    "s is null",
    "st.x = 2",
    "st.y is null",
    "part = 1",
    "b = X'02'",
)
LAYOUTS = {
    "plain": {},
    "legacy": {"spark.sql.parquet.writeLegacyFormat": "true", "spark.sql.parquet.outputTimestampType": "INT96"},
    "millis": {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"},
    "pages_v2": {"parquet.writer.version": "PARQUET_2_0", "parquet.enable.dictionary": "false"},
}


def added(layout: str, *, partitioned: bool) -> Any:
    """A step that has Spark write plain files, without ids, and Java add them to the table."""

    def step(writer: Any, table: str) -> None:
        spark = writer.spark.newSession()
        hadoop = {}
        for key, value in LAYOUTS[layout].items():
            if key.startswith("spark."):
                spark.conf.set(key, value)
            else:
                hadoop[key] = value
        path = str(writer.folder / "plain" / table)
        columns = ", ".join(f"{text} AS {name}" for name, text in PLAIN.items())
        out = spark.sql(f"SELECT {columns} FROM RANGE(0, 8, 1, 2)").write.options(**hadoop)
        (out.partitionBy("part") if partitioned else out).parquet(path)
        writer.spark.sql(f"CALL java.system.add_files(table => '{table}', source_table => '`parquet`.`{path}`')")

    return step


def cases() -> list[Case]:
    found = [
        Case("row_groups", (create(BIG, properties=SMALL_GROUPS), BIG_ROWS), BIG_FILTERS),
        Case("bloom_filters", (create(BIG, properties=SMALL_GROUPS | BLOOM), BIG_ROWS), BIG_FILTERS),
        Case(
            "pages_v2",
            (create(BIG, properties=SMALL_GROUPS | {"write.parquet.page-version": "v2"}), BIG_ROWS),
            BIG_FILTERS,
        ),
        Case(
            "row_groups_and_deletes",
            (
                create(BIG, properties=SMALL_GROUPS | MERGE_ON_READ),
                BIG_ROWS,
                "DELETE FROM {t} WHERE id % 1000 = 7 OR id BETWEEN 4500 AND 9500",
                "UPDATE {t} SET few = 'updated' WHERE id % 500 = 0",
            ),
            (*BIG_FILTERS, "few = 'updated'"),
        ),
    ]
    for layout in LAYOUTS:
        for partitioned in (False, True):
            made = create(PLAIN_COLUMNS, "part" if partitioned else "", properties=MERGE_ON_READ)
            name = f"added_{layout}" + ("_in_partitions" if partitioned else "")
            # Java does not read lists of two levels as Spark once wrote them.
            source = f"parquet.`{{folder}}/plain/java.db.{name}`" if layout == "legacy" else "{t}"
            steps = (made, added(layout, partitioned=partitioned))
            found.append(Case(name, steps, PLAIN_FILTERS, answered_by=source))
    evolved = (
        create(PLAIN_COLUMNS, properties=MERGE_ON_READ),
        added("plain", partitioned=False),
        "ALTER TABLE {t} RENAME COLUMN s TO text",
        "ALTER TABLE {t} RENAME COLUMN st.x TO z",
        "ALTER TABLE {t} ALTER COLUMN i TYPE BIGINT",
        "ALTER TABLE {t} DROP COLUMN b",
        "ALTER TABLE {t} ADD COLUMN extra INT",
        "DELETE FROM {t} WHERE id IN (2, 6)",
        "UPDATE {t} SET extra = 1 WHERE id = 1",
    )
    filters = ("text is null", "st.z = 3", "i > 4", "extra = 1", "extra is null and id < 3")
    found.append(Case("added_and_evolved", evolved, filters, history=True))
    return found
