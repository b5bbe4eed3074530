"""Properties and descriptions of namespaces, and the refresh of tables."""

from __future__ import annotations

import pytest
from icefloe.exceptions import NoSuchTableError, ValidationError


def test_alter_namespace_sets_and_unsets_properties(sql, lake):
    sql("CREATE NAMESPACE lake.owned WITH PROPERTIES ('team' = 'a', 'cost' = '1')")
    sql("ALTER NAMESPACE lake.owned SET PROPERTIES ('team' = 'b', 'owner' = 'ann')")
    sql("ALTER DATABASE lake.owned SET LOCATION '/tmp/owned'")
    sql("ALTER SCHEMA lake.owned UNSET PROPERTIES ('cost')")
    found = lake.catalog.load_namespace_properties("owned")
    assert {key: found[key] for key in ("team", "owner", "location")} == {
        "team": "b",
        "owner": "ann",
        "location": "/tmp/owned",
    }
    assert "cost" not in found
    with pytest.raises(ValidationError, match="expected the end of the statement"):
        sql("ALTER NAMESPACE lake.owned SET PROPERTIES ('team' = 'c') x")
    assert lake.catalog.load_namespace_properties("owned")["team"] == "b"


def test_describe_namespace_returns_its_properties(sql):
    sql("CREATE NAMESPACE lake.shown COMMENT 'to show' WITH PROPERTIES ('team' = 'a')")
    rows = sql("DESCRIBE NAMESPACE lake.shown")
    assert rows[:3] == [("Catalog Name", "lake"), ("Namespace Name", "shown"), ("Comment", "to show")]
    assert sql("DESC DATABASE EXTENDED lake.shown")[-1] == ("Properties", "((team,a))")


def test_refresh_table_updates_the_entry_of_spark(spark, sql, lake, name):
    table = lake.catalog.load_table(name.removeprefix("lake."))
    table.update_schema().add_column("later", "int").commit()
    plain = lake.tables()[name.removeprefix("lake.")]
    assert sql(f"REFRESH TABLE {name}") == []
    assert spark.table(plain).columns == ["id", "name", "later"]
    with pytest.raises(NoSuchTableError):
        sql("REFRESH TABLE lake.db.nope")


def test_describe_of_a_column_and_of_a_query(sql, name):
    sql(f"ALTER TABLE {name} ALTER COLUMN name COMMENT 'label'")
    described = [("col_name", "name"), ("data_type", "string"), ("comment", "label")]
    for words in ("DESCRIBE", "DESC TABLE", "DESCRIBE TABLE EXTENDED", "DESC FORMATTED"):
        assert sql(f"{words} {name} NAME") == described
    assert sql(f"DESCRIBE {name} id") == [("col_name", "id"), ("data_type", "bigint"), ("comment", "NULL")]
    for words in ("DESCRIBE", "DESC QUERY"):
        assert sql(f"{words} SELECT id, upper(name) AS n FROM {name}") == [
            ("id", "bigint", None),
            ("n", "string", None),
        ]


def test_describe_of_a_metadata_table_shows_its_columns(sql, lake):
    sql("CREATE TABLE lake.db.described_files (id int) PARTITIONED BY (bucket(2, id))")
    found = sql("DESCRIBE lake.db.described_files.snapshots")
    assert [row[:2] for row in found[:3]] == [
        ("committed_at", "timestamp"),
        ("snapshot_id", "bigint"),
        ("parent_id", "bigint"),
    ]
    assert len(found) == 6
    assert sql("DESCRIBE lake.db.described_files.snapshots operation")[1] == ("data_type", "string")
