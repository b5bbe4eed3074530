"""ALTER TABLE reads its clauses to their end and ignores the case of names."""

from __future__ import annotations

import pytest
from icefloe.exceptions import ValidationError


def test_write_order_is_read_to_its_end(sql, lake, name):
    identifier = name.removeprefix("lake.")
    sql(f"ALTER TABLE {name} WRITE ORDERED BY (bucket(4, id), name DESC)")
    order = lake.catalog.load_table(identifier).sort_order()
    assert [str(field.transform) for field in order.fields] == ["bucket[4]", "identity"]
    for wrong in ("", "()", "(id), (name)", "id DISTRIBUTED BY PARTITION", "id UPWARDS"):
        with pytest.raises(ValidationError, match="SQL, at character"):
            sql(f"ALTER TABLE {name} WRITE ORDERED BY {wrong}")
    assert lake.catalog.load_table(identifier).sort_order() == order


def test_drop_identifier_fields_ignores_case(sql, lake):
    sql("CREATE TABLE lake.db.identified (Id int NOT NULL, k string NOT NULL)")
    sql("ALTER TABLE lake.db.identified SET IDENTIFIER FIELDS Id, k")
    sql("ALTER TABLE lake.db.identified DROP IDENTIFIER FIELDS ID")
    assert lake.catalog.load_table("db.identified").schema().identifier_field_names() == {"k"}
    with pytest.raises(ValidationError, match="'nope' is no identifier field; expected one of k"):
        sql("ALTER TABLE lake.db.identified DROP IDENTIFIER FIELDS nope")


def test_new_columns_differ_from_others_by_more_than_case(sql, name):
    for change in ("ADD COLUMN NAME int", "ADD COLUMNS (x int, ID int)", "RENAME COLUMN id TO NAME"):
        with pytest.raises(ValidationError, match="ALTER TABLE: expected the name of a new column"):
            sql(f"ALTER TABLE {name} {change}")
    sql(f"ALTER TABLE {name} RENAME COLUMN name TO NAME")
    assert sql(f"SELECT name FROM {name} WHERE id = 1") == [("a",)]


def test_format_version_among_the_properties_upgrades_the_table(sql, lake):
    sql("CREATE TABLE lake.db.of_version_one (id int) TBLPROPERTIES ('format-version' = '1')")
    sql("ALTER TABLE lake.db.of_version_one SET TBLPROPERTIES ('format-version' = '2', 'owner' = 'me')")
    table = lake.catalog.load_table("db.of_version_one")
    assert (table.metadata.format_version, table.properties["owner"]) == (2, "me")
    sql("ALTER TABLE lake.db.of_version_one SET TBLPROPERTIES ('format-version' = '2')")
    for wrong in ("1", "two"):
        with pytest.raises(ValidationError, match=r"format.version"):
            sql(f"ALTER TABLE lake.db.of_version_one SET TBLPROPERTIES ('format-version' = '{wrong}', 'owner' = 'x')")
    assert lake.catalog.load_table("db.of_version_one").properties["owner"] == "me"


def test_create_branch_of_a_table_without_snapshots_makes_an_empty_one(sql, lake):
    sql("CREATE TABLE lake.db.branched_first (id int)")
    sql("ALTER TABLE lake.db.branched_first CREATE BRANCH IF NOT EXISTS audit RETAIN 7 DAYS")
    sql("ALTER TABLE lake.db.branched_first CREATE BRANCH IF NOT EXISTS audit")
    sql("ALTER TABLE lake.db.branched_first CREATE OR REPLACE BRANCH other")
    table = lake.catalog.load_table("db.branched_first")
    assert table.current_snapshot() is None
    assert set(table.refs()) == {"audit", "other"}
    assert table.refs()["audit"].max_ref_age_ms == 7 * 86_400_000
    sql("INSERT INTO lake.db.branched_first.branch_audit VALUES (1)")
    assert sql("SELECT id FROM lake.db.branched_first.branch_audit") == [(1,)]
    assert sql("SELECT id FROM lake.db.branched_first") == []
    for wrong in ("CREATE TAG t", "REPLACE BRANCH audit", "CREATE BRANCH audit"):
        with pytest.raises(ValidationError):
            sql(f"ALTER TABLE lake.db.branched_first {wrong}")


CHANGES = [
    "SET TBLPROPERTIES ('a' = 'b')",
    "UNSET TBLPROPERTIES ('a')",
    "SET LOCATION '/elsewhere'",
    "ADD COLUMNS (x int)",
    "DROP COLUMNS (name)",
    "RENAME COLUMN name TO label",
    "ADD PARTITION FIELD bucket(4, id)",
    "CREATE BRANCH b",
    "CREATE TAG t RETAIN 5 DAYS",
    "WRITE UNORDERED",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_end_of_a_statement_changes_nothing(sql, lake, name, change):
    before = lake.catalog.load_table(name.removeprefix("lake.")).metadata
    with pytest.raises(ValidationError, match="expected the end of the statement, got 'and'"):
        sql(f"ALTER TABLE {name} {change} and more")
    assert lake.catalog.load_table(name.removeprefix("lake.")).metadata == before
