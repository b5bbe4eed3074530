"""SHOW and DESCRIBE report what Spark reports of a table of the Java runtime."""

from __future__ import annotations

import pytest
from icefloe.exceptions import FeatureUnsupportedError


@pytest.fixture
def shown(sql, lake):
    """A table with a sort order, identifier fields, a comment and secrets."""
    made = "lake.db.shown"
    sql(f"DROP TABLE IF EXISTS {made}")
    sql(
        f"CREATE TABLE {made} (id bigint NOT NULL, p string, ts timestamp) USING icefloe PARTITIONED BY (p) COMMENT 'hey' "
        "TBLPROPERTIES ('k' = 'v', 'my.secret' = 'pw', 'x' = 'a token', 'write.format.default' = 'avro')"
    )
    sql(f"ALTER TABLE {made} WRITE LOCALLY ORDERED BY p DESC, bucket(4, id), truncate(2, p) NULLS LAST, days(ts)")
    sql(f"ALTER TABLE {made} SET IDENTIFIER FIELDS id")
    with lake.catalog.load_table("db.shown").transaction() as transaction:
        transaction.set_properties({"owner": "ann"})
    sql(f"INSERT INTO {made} VALUES (1, 'a', NULL)")
    return made


def properties(lake):
    snapshot = lake.catalog.load_table("db.shown").current_snapshot().snapshot_id
    return [
        ("current-snapshot-id", str(snapshot)),
        ("format", "iceberg/avro"),
        ("format-version", "2"),
        ("identifier-fields", "[id]"),
        ("k", "v"),
        ("my.secret", "*********(redacted)"),
        (
            "sort-order",
            "p DESC NULLS LAST, bucket(4, id) ASC NULLS FIRST, truncate(p, 2) ASC NULLS LAST, days(ts) ASC NULLS FIRST",
        ),
        ("write.format.default", "avro"),
        ("write.parquet.compression-codec", "zstd"),
        ("x", "*********(redacted)"),
    ]


def test_show_tblproperties_has_the_facts_of_the_table_and_no_secrets(sql, lake, shown):
    assert sql(f"SHOW TBLPROPERTIES {shown}") == properties(lake)
    assert sql(f"SHOW TBLPROPERTIES {shown} ('format')") == [("format", "iceberg/avro")]
    assert sql(f"SHOW TBLPROPERTIES {shown} (my.secret)") == [("my.secret", "*********(redacted)")]
    assert sql(f"SHOW TBLPROPERTIES {shown} ('owner')") == [("owner", f"Table {shown} does not have property: owner")]
    assert [row[0] for row in sql(f"SHOW TBLPROPERTIES {shown}.snapshots")] == ["current-snapshot-id", "format"]


def test_show_tblproperties_of_a_new_table_has_no_snapshot(sql):
    sql("CREATE OR REPLACE TABLE lake.db.shown_new (id int) USING icefloe")
    assert sql("SHOW TBLPROPERTIES lake.db.shown_new ('current-snapshot-id')") == [("current-snapshot-id", "none")]


def test_secrets_are_those_of_the_settings_of_the_session(sql, spark, shown):
    spark.conf.set("spark.sql.redaction.options.regex", "(?i)^k$")
    try:
        assert sql(f"SHOW TBLPROPERTIES {shown} ('k')") == [("k", "*********(redacted)")]
    finally:
        spark.conf.unset("spark.sql.redaction.options.regex")


def test_show_table_extended_describes_each_table_of_a_pattern(sql, lake, shown):
    ((namespace, table, temporary, information),) = sql("SHOW TABLE EXTENDED IN lake.db LIKE 'show?|shown'")
    assert (namespace, table, temporary) == ("db", "shown", False)
    listed = ",".join(f"{key}={value}" for key, value in properties(lake))
    assert information.splitlines() == [
        "Catalog: lake",
        "Namespace: db",
        "Table: shown",
        "Type: MANAGED",
        "Comment: hey",
        f"Location: {lake.catalog.load_table('db.shown').location()}",
        "Provider: iceberg",
        "Owner: ann",
        "Table_type: EXTERNAL",
        f"Table Properties: [{listed}]",
        "Schema: root",
        " |-- id: long (nullable = false)",
        " |-- p: string (nullable = true)",
        " |-- ts: timestamp (nullable = true)",
        "",
    ]
    assert sql("SHOW TABLE EXTENDED FROM lake.db LIKE 'zz*'") == []


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("SHOWN", True),
        ("sh*", True),
        ("zz|shown", True),
        ("sh.wn", True),
        ("sho[uvw]n", True),
        ("shown+", True),
        (" shown ", True),
        ("sh%", False),
        ("s%n", False),
        ("sho_n", False),
        ("show", False),
        ("zz | shown", False),
        ("sh(", False),
        ("sh(|shown", True),
        ("", False),
    ],
)
def test_a_pattern_has_regular_expressions_with_stars_between_bars(sql, shown, pattern, matches):
    tables = [row[1] for row in sql(f"SHOW TABLES IN lake.db LIKE '{pattern}'")]
    assert ("shown" in tables) == matches


def test_a_percent_sign_in_a_pattern_is_a_character(sql):
    sql("CREATE OR REPLACE TABLE lake.db.`per%cent` (id int)")
    assert sql("SHOW TABLES IN lake.db LIKE 'per%c*'") == [("db", "per%cent", False)]
    assert sql("SHOW NAMESPACES IN lake LIKE 'd%'") == []
    assert sql("SHOW CATALOGS LIKE 'lak%'") == []
    assert sql("SHOW USER FUNCTIONS IN lake.system LIKE 'buck%'") == []


def test_describe_extended_has_metadata_columns_facts_and_the_estimated_size(sql, lake, shown):
    rows = sql(f"DESCRIBE TABLE EXTENDED {shown}")
    assert rows[:15] == [
        ("id", "bigint", None),
        ("p", "string", None),
        ("ts", "timestamp", None),
        ("# Partition Information", "", ""),
        ("# col_name", "data_type", "comment"),
        ("p", "string", None),
        ("", "", ""),
        ("# Metadata Columns", "", ""),
        ("_spec_id", "int", ""),
        ("_partition", "struct<p:string>", ""),
        ("_file", "string", ""),
        ("_pos", "bigint", ""),
        ("_deleted", "boolean", ""),
        ("", "", ""),
        ("# Detailed Table Information", "", ""),
    ]
    assert [row[0] for row in rows[15:]] == [
        *("Name", "Type", "Comment", "Location", "Provider", "Owner", "Table_type", "Table Properties", "Statistics")
    ]
    assert rows[15] == ("Name", shown, "")
    assert rows[-1] == ("Statistics", "36 bytes, 1 rows", None)


def test_the_estimated_size_counts_each_type(sql):
    sql(
        "CREATE OR REPLACE TABLE lake.db.sized (id bigint, n int, b boolean, f float, d double, s string, x binary, dt date, ts timestamp, "
        "tn timestamp_ntz, dc decimal(9,2), dd decimal(30,2), st struct<a:int,b:string>, ar array<int>, mp map<string,int>, z int)"
    )
    sql("INSERT INTO lake.db.sized (id) VALUES (1), (2), (3)")
    assert sql("DESCRIBE EXTENDED lake.db.sized")[-1] == ("Statistics", "735 bytes, 3 rows", None)


def test_describe_shows_partition_columns_with_their_types_and_comments(sql):
    sql("CREATE OR REPLACE TABLE lake.db.parted (id bigint COMMENT 'i', st struct<a: int>) PARTITIONED BY (id, st.a)")
    assert sql("DESCRIBE lake.db.parted")[2:] == [
        ("# Partition Information", "", ""),
        ("# col_name", "data_type", "comment"),
        ("id", "bigint", "i"),
        ("st.a", "int", None),
    ]


def test_show_views_lists_the_temporary_views_of_the_session(sql, spark):
    spark.range(1).createOrReplaceTempView("shown_view")
    assert ("", "shown_view", True) in sql("SHOW VIEWS IN lake.db")
    assert sql("SHOW VIEWS FROM lake LIKE 'shown_v*'") == [("", "shown_view", True)]
    assert sql("SHOW VIEWS IN lake.db LIKE 'zz'") == []


def test_show_columns_takes_the_namespace_after_the_table(sql, shown):
    assert sql("SHOW COLUMNS IN shown FROM lake.db") == [("id",), ("p",), ("ts",)]


def test_other_lists_are_refused(sql):
    with pytest.raises(FeatureUnsupportedError, match="SHOW: expected TABLES, TABLE EXTENDED, VIEWS"):
        sql("SHOW INDEXES IN lake.db")


def test_refresh_takes_a_table_without_the_word(sql, name):
    assert sql(f"REFRESH {name}") == []
