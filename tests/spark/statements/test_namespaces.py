"""Properties and descriptions of namespaces, and the refresh of tables."""

from __future__ import annotations

import icefloe.spark
import pytest
from icefloe.catalog import load_catalog
from icefloe.exceptions import (
    FeatureUnsupportedError,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    ValidationError,
)


def test_alter_namespace_sets_and_unsets_properties(sql, lake):
    sql("CREATE NAMESPACE lake.owned WITH PROPERTIES ('team' = 'a', 'cost' = '1')")
    sql("ALTER NAMESPACE lake.owned SET PROPERTIES ('team' = 'b')")
    sql("ALTER DATABASE lake.owned SET LOCATION '/tmp/owned'")
    sql("ALTER SCHEMA lake.owned UNSET PROPERTIES ('cost')")
    found = lake.catalog.load_namespace_properties("owned")
    assert {key: found[key] for key in ("team", "location")} == {"team": "b", "location": "/tmp/owned"}
    assert "cost" not in found
    with pytest.raises(ValidationError, match="expected the end of the statement"):
        sql("ALTER NAMESPACE lake.owned SET PROPERTIES ('team' = 'c') x")
    assert lake.catalog.load_namespace_properties("owned")["team"] == "b"


def test_describe_namespace_returns_its_properties(sql):
    sql("CREATE NAMESPACE lake.shown COMMENT 'to show' WITH PROPERTIES ('team' = 'a')")
    rows = sql("DESCRIBE NAMESPACE lake.shown")
    assert rows[:3] == [("Catalog Name", "lake"), ("Namespace Name", "shown"), ("Comment", "to show")]
    assert sql("DESC DATABASE EXTENDED lake.shown")[-1] == ("Properties", "((team,a))")


def test_a_new_namespace_belongs_to_the_user(sql):
    (user,) = sql("SELECT current_user()")[0]
    sql("CREATE NAMESPACE lake.of_user")
    assert sql("DESCRIBE NAMESPACE lake.of_user")[-1] == ("Owner", user)
    sql("CREATE NAMESPACE IF NOT EXISTS lake.of_user COMMENT 'later'")
    assert len(sql("DESCRIBE NAMESPACE lake.of_user")) == 3
    with pytest.raises(NamespaceAlreadyExistsError):
        sql("CREATE NAMESPACE lake.of_user")


def test_a_namespace_of_a_catalog_without_properties_has_no_owner(spark, tmp_path):
    hadoop = load_catalog("plain", type="hadoop", warehouse=str(tmp_path))
    icefloe.spark.attach(spark, hadoop, "plain", views=False)
    try:
        icefloe.spark.sql(spark, "CREATE NAMESPACE plain.db")
        assert hadoop.list_namespaces() == [("db",)]
        with pytest.raises(FeatureUnsupportedError, match=r"with properties \['comment'\]"):
            icefloe.spark.sql(spark, "CREATE NAMESPACE plain.other COMMENT 'x'")
    finally:
        icefloe.spark.detach(spark, "plain")


def test_clauses_of_a_new_namespace_are_given_once(sql, lake):
    for clauses in ("COMMENT 'a' COMMENT 'b'", "WITH PROPERTIES ('a' = 'b') WITH DBPROPERTIES ('c' = 'd')"):
        with pytest.raises(ValidationError, match=r"CREATE NAMESPACE: \w+ is given twice; expected each clause once"):
            sql(f"CREATE NAMESPACE lake.twice {clauses}")
    assert not lake.catalog.namespace_exists("twice")
    sql("CREATE NAMESPACE lake.twice COMMENT 'clause' WITH PROPERTIES ('comment' = 'property')")
    assert lake.catalog.load_namespace_properties("twice")["comment"] == "clause"


@pytest.mark.parametrize("key", ["owner", "location"])
def test_properties_of_spark_are_not_set_by_their_keys(sql, lake, key):
    statements = (
        f"CREATE NAMESPACE lake.reserved WITH PROPERTIES ('{key}' = 'x')",
        f"ALTER NAMESPACE lake.db SET PROPERTIES ('{key}' = 'x')",
        f"ALTER NAMESPACE lake.db UNSET PROPERTIES ('{key}')",
    )
    for text in statements:
        with pytest.raises(
            ValidationError, match=f"NAMESPACE: '{key}' is reserved; expected .*got a namespace property"
        ):
            sql(text)
    assert not lake.catalog.namespace_exists("reserved")


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
    assert {row[2] for row in found} == {None}


def test_describe_of_a_metadata_table_shows_the_comments_of_its_columns(sql, lake):
    sql("CREATE TABLE lake.db.commented_files (id int) PARTITIONED BY (id)")
    for name, comment in (
        ("files", "Partition data tuple, schema based on the partition spec"),
        ("position_deletes", "Partition that position delete row belongs to"),
        ("partitions", None),
    ):
        assert ("partition", "struct<id:int>", comment) in sql(f"DESCRIBE lake.db.commented_files.{name}")
    assert sql("DESCRIBE lake.db.commented_files.partitions file_count")[2] == ("comment", "Count of data files")
    assert sql("DESCRIBE lake.db.commented_files.entries readable_metrics")[2] == (
        "comment",
        "Column metrics in readable form",
    )
