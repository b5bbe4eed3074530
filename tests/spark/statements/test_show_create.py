"""SHOW CREATE TABLE."""

from __future__ import annotations

COLUMNS = (
    "id bigint NOT NULL COMMENT 'it''s a key', name string, at timestamp, day timestamp_ntz, `odd name` decimal(9,2), "
    "place struct<city: string COMMENT 'where', `zip code`: int NOT NULL>, tags array<string>, counts map<string, bigint>"
)


def test_show_create_table_returns_a_statement_that_makes_the_same_table(sql, lake):
    sql(
        f"CREATE TABLE lake.db.original ({COLUMNS}) USING icefloe PARTITIONED BY (bucket(4, id), truncate(3, name), days(at), `odd name`) "
        r"COMMENT 'a \\ b' TBLPROPERTIES ('format-version' = '1', 'note' = 'it''s me')"
    )
    original = lake.catalog.load_table("db.original")
    ((text,),) = sql("SHOW CREATE TABLE lake.db.original")
    assert text.startswith("CREATE TABLE lake.db.original (\n  id BIGINT NOT NULL COMMENT 'it\\'s a key',\n")
    copy = text.replace("lake.db.original", "lake.db.made_from_text").replace(
        original.location(), original.location() + "_copy"
    )
    sql(copy)
    copied = lake.catalog.load_table("db.made_from_text")
    assert copied.schema().as_struct() == original.schema().as_struct()
    assert copied.spec() == original.spec()
    assert copied.properties == original.properties
    assert copied.metadata.format_version == original.metadata.format_version == 1


def test_show_create_table_leaves_out_dropped_partition_fields(sql):
    sql(
        "CREATE TABLE lake.db.parts (id bigint, name string) USING icefloe PARTITIONED BY (id, name) "
        "TBLPROPERTIES ('format-version' = '1')"
    )
    sql("ALTER TABLE lake.db.parts DROP PARTITION FIELD id")
    assert "PARTITIONED BY (name)\n" in sql("SHOW CREATE TABLE lake.db.parts")[0][0]


def test_describe_shows_partition_fields_as_create_table_takes_them(sql, lake):
    fields = ["s", "bucket(4, id)", "truncate(2, s)", "hours(ts)"]
    sql(f"CREATE TABLE lake.db.described (id bigint, s string, ts timestamp) PARTITIONED BY ({', '.join(fields)})")
    assert [row[1] for row in sql("DESCRIBE lake.db.described") if row[0].startswith("Part ")] == fields


def test_show_create_table_shows_no_secrets(sql):
    sql("CREATE TABLE lake.db.with_secret (id bigint) TBLPROPERTIES ('my.secret' = 'pw', 'k' = 'v')")
    ((text,),) = sql("SHOW CREATE TABLE lake.db.with_secret")
    assert "'my.secret' = '*********(redacted)'" in text
    assert "'k' = 'v'" in text
    assert "pw" not in text
